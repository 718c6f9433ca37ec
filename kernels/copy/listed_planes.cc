// SPDX-License-Identifier: Apache-2.0
// Lists of a transposition's planes; see listed_planes.h.
#include "kernels/copy/listed_planes.h"

#include <string.h>

#include "kernels/copy/copy.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

constexpr size_t kMostListed = 256;  // of a plane's rows and columns

// Loops that count together, the innermost first.
struct Side {
  void push_back(const TransposeLoop& loop) {
    loops[rank++] = loop;
    size *= loop.size;
  }
  TransposeLoop loops[kMaxRank];
  size_t rank = 0, size = 1;
};

// Lists in at[i] where element first + i stands, by the stride that `stride` names.
void list(const Side& side, size_t first, size_t count, size_t TransposeLoop::*stride, size_t* at) {
  size_t index[kMaxRank] = {}, offset = 0;
  for (size_t i = 0; i < side.rank; ++i) {
    index[i] = first % side.loops[i].size;
    offset += index[i] * (side.loops[i].*stride);
    first /= side.loops[i].size;
  }
  const size_t step = side.loops[0].*stride;
  for (size_t left = side.loops[0].size - index[0];; left = side.loops[0].size) {
    const size_t n = left < count ? left : count;
    for (size_t i = 0; i < n; ++i) at[i] = offset + i * step;
    count -= n;
    if (count == 0) return;
    at += n;
    offset -= index[0] * step;
    index[0] = 0;
    for (size_t i = 1; i < side.rank; ++i) {
      const TransposeLoop& loop = side.loops[i];
      offset += loop.*stride;
      if (++index[i] < loop.size) break;
      offset -= loop.size * (loop.*stride);
      index[i] = 0;
    }
  }
}

// Calls f(input, output) for every index of the loops.
template <class F>
void for_all(const Side& side, const uint8_t* input, uint8_t* output, const F& f) {
  size_t index[kMaxRank] = {};
  for (;;) {
    f(input, output);
    size_t i = 0;
    for (;; ++i) {
      if (i == side.rank) return;
      const TransposeLoop& loop = side.loops[i];
      input += loop.input_stride;
      output += loop.output_stride;
      if (++index[i] < loop.size) break;
      index[i] = 0;
      input -= loop.size * loop.input_stride;
      output -= loop.size * loop.output_stride;
    }
  }
}

// Takes the loop out whose `stride` is `dense`; false where there is none.
bool take(TransposeLoop* loops, size_t* rank, size_t TransposeLoop::*stride, size_t dense,
          Side* side) {
  for (size_t i = 0; i < *rank; ++i) {
    if (loops[i].*stride != dense) continue;
    side->push_back(loops[i]);
    --*rank;
    for (; i < *rank; ++i) loops[i] = loops[i + 1];
    return true;
  }
  return false;
}

// Returns the loops that are left, the innermost first.
Side rest_of(const TransposeLoop* loops, size_t rank) {
  Side side;
  for (size_t i = rank; i-- > 0;) side.push_back(loops[i]);
  return side;
}

// Copies `count` runs of `bytes` bytes, n <= bytes <= 2 * n, n = sizeof(T), to dense ones: a head
// and a tail that overlap.
template <class T>
void copy_short_spans(const uint8_t* input, const size_t* at, size_t count, size_t bytes,
                      uint8_t* output) {
  const size_t tail = bytes - sizeof(T);
  for (size_t i = 0; i < count; ++i, output += bytes) {
    T head, rest;
    memcpy(&head, input + at[i], sizeof head);
    memcpy(&rest, input + at[i] + tail, sizeof rest);
    memcpy(output, &head, sizeof head);
    memcpy(output + tail, &rest, sizeof rest);
  }
}

typedef uint8_t Block16 __attribute__((vector_size(16)));
struct Block32 {
  Block16 parts[2];
};

void copy_spans(const uint8_t* input, const size_t* at, size_t count, size_t bytes,
                uint8_t* output) {
  if (bytes > 64) {
    for (size_t i = 0; i < count; ++i) memcpy(output + i * bytes, input + at[i], bytes);
  } else if (bytes > 32) {
    copy_short_spans<Block32>(input, at, count, bytes, output);
  } else if (bytes > 16) {
    copy_short_spans<Block16>(input, at, count, bytes, output);
  } else if (bytes > 8) {
    copy_short_spans<uint64_t>(input, at, count, bytes, output);
  } else if (bytes > 4) {
    copy_short_spans<uint32_t>(input, at, count, bytes, output);
  } else {
    copy_short_spans<uint16_t>(input, at, count, bytes, output);
  }
}

// Returns whether planes of elements of 1 << type bytes are worth tiles; there are none of 8 bytes.
bool fills_tiles(size_t type, size_t rows, size_t cols) {
  constexpr size_t kFewElements = 32;
  const size_t least = type == 0 ? 8 : size_t{16} >> type;
  return type < 3 && rows >= least && cols >= least && rows * cols >= kFewElements;
}

}  // namespace

bool transpose_by_lists(const ListedPlanes& planes, const TransposeLoop* all_loops, size_t all_rank,
                        size_t bytes, bool suits_planes, const uint8_t* input, uint8_t* output) {
  // Joins elements that stay together into one.
  const bool are_runs = all_loops[all_rank - 1].input_stride == bytes;
  if (suits_planes && !are_runs) return false;
  if (are_runs) bytes *= all_loops[--all_rank].size;
  size_t type = 0;  // of elements
  while (type < 4 && bytes != size_t{1} << type) ++type;
  TransposeLoop loops[kMaxRank];
  size_t rank = 0;
  const auto start = [&] {
    rank = all_rank;
    for (size_t i = 0; i < rank; ++i) loops[i] = all_loops[i];
  };
  start();
  // The shorter side takes the next loop, while there is one that the other has not taken.
  Side rows, cols;
  for (bool more_rows = type < 4, more_cols = type < 4; more_rows || more_cols;) {
    const bool is_row = more_rows && (!more_cols || rows.size < cols.size);
    Side& side = is_row ? rows : cols;
    bool& more = is_row ? more_rows : more_cols;
    more = side.size < kMostListed &&
           take(loops, &rank, is_row ? &TransposeLoop::input_stride : &TransposeLoop::output_stride,
                bytes * side.size, &side);
  }
  if (type == 4 || !fills_tiles(type, rows.size, cols.size)) {
    // Moves the elements one by one, in the output's order; large planes are as fast with strides.
    constexpr size_t kFewElements = 64;
    const bool are_few =
        type == 4 || rows.rank == 0 || rows.loops[0].size * cols.loops[0].size < kFewElements;
    if (suits_planes || !(are_few || are_runs)) return false;
    start();
    rows = cols = Side();
    // A list that all of the other loops use is best, if it is not short.
    constexpr size_t kShortList = 8;
    while (rank > 0 && (cols.size * loops[rank - 1].size <= kMostListed || cols.size < kShortList))
      cols.push_back(loops[--rank]);
  }
  const Side outer = rest_of(loops, rank);
  size_t input_at[kMostListed], output_at[kMostListed];
  output_at[0] = 0;
  for (size_t k = 0; k < cols.size; k += kMostListed) {
    const size_t count = cols.size - k < kMostListed ? cols.size - k : kMostListed;
    list(cols, k, count, &TransposeLoop::input_stride, input_at);
    for (size_t r = 0; r < rows.size; r += kMostListed) {
      const size_t row_count = rows.size - r < kMostListed ? rows.size - r : kMostListed;
      if (rows.rank > 0) list(rows, r, row_count, &TransposeLoop::output_stride, output_at);
      for_all(outer, input + r * bytes, output + k * bytes, [&](const uint8_t* in, uint8_t* out) {
        if (type < 4)
          planes.of[type]({in, input_at, out, output_at, row_count, count});
        else
          copy_spans(in, input_at, count, bytes, out);
      });
    }
  }
  return true;
}

}  // namespace qrt
