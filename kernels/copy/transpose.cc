// SPDX-License-Identifier: Apache-2.0
// Plans of transpositions, their loop over planes, and runs of rows. The planes themselves are in
// copy_<isa>.cc.
#include "kernels/copy/transpose.h"

#include <string.h>

#include "kernels/built.h"
#include "kernels/copy/plane_blocks.h"

namespace qrt {
namespace {

// `rows` runs of `bytes` bytes, n <= bytes <= 2 * n, n = kParts * sizeof(T): a head and a tail that
// overlap.
template <class T, size_t kParts = 1>
void copy_short_rows(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride,
                     size_t rows, size_t bytes) {
  const size_t tail = bytes - kParts * sizeof(T);
  for (size_t i = 0; i < rows; ++i) {
    T head_values[kParts], tail_values[kParts];
    for (size_t k = 0; k < kParts; ++k) {
      memcpy(&head_values[k], in + k * sizeof(T), sizeof(T));
      memcpy(&tail_values[k], in + tail + k * sizeof(T), sizeof(T));
    }
    for (size_t k = 0; k < kParts; ++k) {
      memcpy(out + k * sizeof(T), &head_values[k], sizeof(T));
      memcpy(out + tail + k * sizeof(T), &tail_values[k], sizeof(T));
    }
    in += input_stride;
    out += output_stride;
  }
}

// A register's bytes. As a member of a struct, g++ 12 would keep a copy on the stack, too.
typedef uint8_t Block16 __attribute__((vector_size(16)));

template <class T>
void plane(const void* input, size_t input_stride, void* output, size_t output_stride, size_t rows,
           size_t cols) {
  transpose_in_blocks(static_cast<const T*>(input), input_stride, static_cast<T*>(output),
                      output_stride, rows, cols);
}

TransposePlane plane_of(const TransposePlanes& planes, size_t element_bytes) {
  switch (element_bytes) {
    case 1: return planes.bytes1;
    case 2: return plane<uint16_t>;
    case 4: return planes.bytes4;
    default: return plane<uint64_t>;
  }
}

// Returns whether planes of the two loops fill tiles, or the functions that an instruction set has for
// pixels of few channels; where the innermost loop copies runs, whether these are long or many.
bool suits_planes(const TransposeLoop& inner, const TransposeLoop& cross, size_t bytes) {
  constexpr size_t kTile = 8, kPixels = 32, kMostChannels = 4, kLongRun = 64, kManyRuns = 16;
  const size_t rows = cross.size, cols = inner.size;
  if (inner.input_stride == bytes) return cols * bytes >= kLongRun || rows >= kManyRuns;
  const bool joins = cols <= kMostChannels && cross.output_stride == cols && rows >= kPixels;
  const bool splits = rows <= kMostChannels && inner.input_stride == rows && cols >= kPixels;
  if (bytes == 1) return (rows >= kTile && cols >= kTile) || joins || splits;
  return bytes == 4 && rows >= 4 && cols >= 4;
}

}  // namespace

TransposePlan plan_transpose(const int64_t* in_dims, size_t rank, const uint8_t* perm,
                             size_t element_bytes) {
  TransposePlan plan{};
  plan.element_bytes = element_bytes;
  size_t in_stride[kMaxRank];
  size_t elements = 1;
  for (size_t i = rank; i-- > 0;) {
    in_stride[i] = elements;
    elements *= static_cast<size_t>(in_dims[i]);
  }
  if (elements == 0) {
    plan.rank = 1;
    plan.stride[0] = 1;
    return plan;
  }
  for (size_t i = 0; i < rank; ++i) {
    const size_t dim = static_cast<size_t>(in_dims[perm[i]]), stride = in_stride[perm[i]];
    if (dim == 1) continue;
    const size_t last = plan.rank - 1;
    if (plan.rank > 0 && plan.stride[last] == dim * stride) {
      plan.dims[last] *= dim;
      plan.stride[last] = stride;
    } else {
      plan.dims[plan.rank] = dim;
      plan.stride[plan.rank] = stride;
      ++plan.rank;
    }
  }
  return plan;
}

void transpose_by_planes(const TransposePlanes& planes, const TransposePlan& plan,
                         const void* input, void* output, size_t begin, size_t end) {
  const size_t bytes = plan.element_bytes;
  const uint8_t* in = static_cast<const uint8_t*>(input);
  uint8_t* out = static_cast<uint8_t*>(output);
  if (plan.rank == 0) {
    memcpy(out, in, bytes);
    return;
  }
  TransposeLoop loops[kMaxRank];
  size_t run = bytes;
  for (size_t i = plan.rank; i-- > 0;) {
    loops[i] = {plan.dims[i], plan.stride[i] * bytes, run};
    run *= plan.dims[i];
  }
  in += begin * loops[0].input_stride;
  out += begin * loops[0].output_stride;
  loops[0].size = end - begin;
  for (size_t i = 0; i < plan.rank; ++i)
    if (loops[i].size == 0) return;

  // The two innermost loops become one call: `inner` is contiguous in the output, `cross` in the
  // input; where they are the same, whole runs are moved and the next loop outwards is the cross.
  const TransposeLoop inner = loops[plan.rank - 1];
  const bool runs = inner.input_stride == bytes;
  TransposeLoop cross{1, bytes, 0};
  size_t outer_count = 0;
  TransposeLoop outer[kMaxRank];
  for (size_t i = 0; i + 1 < plan.rank; ++i) {
    const bool is_cross = runs ? i + 2 == plan.rank : loops[i].input_stride == bytes;
    if (is_cross) {
      cross = loops[i];
    } else {
      outer[outer_count++] = loops[i];
    }
  }
  if (built::kPermutations && planes.listed != nullptr && plan.rank > 1 &&
      transpose_by_lists(*planes.listed, loops, plan.rank, bytes, suits_planes(inner, cross, bytes),
                         in, out))
    return;
  const TransposePlane transpose_plane = plane_of(planes, bytes);
  size_t index[kMaxRank] = {};
  for (;;) {
    if (runs) {
      planes.rows(in, cross.input_stride, out, cross.output_stride, cross.size, inner.size * bytes);
    } else {
      transpose_plane(in, inner.input_stride / bytes, out, cross.output_stride / bytes, cross.size,
                      inner.size);
    }
    size_t i = outer_count;
    for (;; --i) {
      if (i == 0) return;
      const TransposeLoop& loop = outer[i - 1];
      in += loop.input_stride;
      out += loop.output_stride;
      if (++index[i - 1] < loop.size) break;
      index[i - 1] = 0;
      in -= loop.size * loop.input_stride;
      out -= loop.size * loop.output_stride;
    }
  }
}

TransposePlanes narrower_planes() {
#ifdef QRT_HAVE_AVX2
  return planes_avx2();
#else
  return {plane<uint8_t>, plane<uint32_t>, copy_rows, nullptr};
#endif
}

void copy_rows(const void* input, size_t input_stride, void* output, size_t output_stride,
               size_t rows, size_t bytes) {
  const uint8_t* in = static_cast<const uint8_t*>(input);
  uint8_t* out = static_cast<uint8_t*>(output);
  if (rows == 0 || bytes == 0) return;
  if (input_stride == bytes && output_stride == bytes) {
    memcpy(out, in, rows * bytes);
  } else if (bytes > 64) {
    for (size_t i = 0; i < rows; ++i) memcpy(out + i * output_stride, in + i * input_stride, bytes);
  } else if (bytes > 32) {
    copy_short_rows<Block16, 2>(in, input_stride, out, output_stride, rows, bytes);
  } else if (bytes >= 16) {
    copy_short_rows<Block16>(in, input_stride, out, output_stride, rows, bytes);
  } else if (bytes >= 8) {
    copy_short_rows<uint64_t>(in, input_stride, out, output_stride, rows, bytes);
  } else if (bytes >= 4) {
    copy_short_rows<uint32_t>(in, input_stride, out, output_stride, rows, bytes);
  } else if (bytes >= 2) {
    copy_short_rows<uint16_t>(in, input_stride, out, output_stride, rows, bytes);
  } else {
    copy_short_rows<uint8_t>(in, input_stride, out, output_stride, rows, bytes);
  }
}

}  // namespace qrt
