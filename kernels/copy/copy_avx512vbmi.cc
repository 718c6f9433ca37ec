// SPDX-License-Identifier: Apache-2.0
// Planes with 512-bit vectors. Permutations of bytes from two registers interleave two to four planes
// and take them apart; planes large enough go in tiles whose output rows are whole cache lines, others
// as with narrower vectors.
#include <immintrin.h>

#include "kernels/built.h"
#include "kernels/copy/plane_blocks.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

// Byte permutations between kGroups registers of pixels, one for each plane, and as many of
// interleaved pixels: byte o of the interleaved is byte o / kGroups of plane o % kGroups. Output
// register j is permuted from registers 0 and 1 by index[j][0], and where bytes of the others are
// wanted, the bits of others[j], from registers 2 and 3 by index[j][1].
template <size_t kGroups>
struct Permutations {
  alignas(64) uint8_t index[kGroups][(kGroups + 1) / 2][64];
  uint64_t others[kGroups];

  constexpr void take(size_t to, size_t from) {
    index[to / 64][from / 128][to % 64] = static_cast<uint8_t>(from % 128);
    if (from >= 128) others[to / 64] |= uint64_t{1} << to % 64;
  }
};

template <size_t kGroups, bool kJoin>
constexpr Permutations<kGroups> permutations() {
  Permutations<kGroups> p{};
  for (size_t o = 0; o < 64 * kGroups; ++o) {
    const size_t in_plane = 64 * (o % kGroups) + o / kGroups;
    kJoin ? p.take(o, in_plane) : p.take(in_plane, o);
  }
  return p;
}

template <size_t kGroups, bool kJoin>
constexpr Permutations<kGroups> kPermutations = permutations<kGroups, kJoin>();

// Output register j.
template <size_t kGroups, class Table>
inline __m512i permute(const __m512i (&v)[kGroups], const Table& by, size_t j) {
  if constexpr (kGroups == 1)
    return _mm512_permutexvar_epi8(_mm512_load_si512(by.index[j][0]), v[0]);
  const __m512i first =
      _mm512_permutex2var_epi8(v[0], _mm512_load_si512(by.index[j][0]), v[1 % kGroups]);
  if constexpr (kGroups <= 2) {
    return first;
  } else {
    const __m512i index = _mm512_load_si512(by.index[j][1]);
    if constexpr (kGroups == 3)
      return _mm512_mask_permutexvar_epi8(first, by.others[j], index, v[2]);
    else
      return _mm512_mask_mov_epi8(first, by.others[j], _mm512_permutex2var_epi8(v[2], index, v[3]));
  }
}

inline uint64_t first_bytes(size_t n) { return n < 64 ? (uint64_t{1} << n) - 1 : ~uint64_t{0}; }

// Joins (kJoin) or splits `count` times kGroups planes of `pixels` bytes, each `step` bytes behind
// the previous one, to or from dense interleaved pixels.
template <size_t kGroups, bool kJoin, class Plane, class Joined>
void interleave(Plane* const* planes, const size_t* step, Joined* joined, size_t count,
                size_t pixels) {
  struct Masks {  // bytes of a register: of a plane, of interleaved pixels
    explicit Masks(size_t n) : plane(first_bytes(n)) {
      for (size_t k = 0; k < kGroups; ++k)
        joined[k] = first_bytes(n * kGroups > 64 * k ? n * kGroups - 64 * k : 0);
    }
    uint64_t plane, joined[kGroups];
  };
  const Masks whole(64), last(pixels % 64);
  Plane* from[kGroups];
  for (size_t k = 0; k < kGroups; ++k) from[k] = planes[k];
  for (; count > 0; --count, joined += kGroups * pixels) {
    for (size_t i = 0; i < pixels; i += 64) {
      const Masks& m = pixels - i < 64 ? last : whole;
      Joined* const to = joined + kGroups * i;
      __m512i v[kGroups];
#pragma GCC unroll 4
      for (size_t k = 0; k < kGroups; ++k)
        v[k] = kJoin ? _mm512_maskz_loadu_epi8(m.plane, from[k] + i)
                     : _mm512_maskz_loadu_epi8(m.joined[k], to + 64 * k);
#pragma GCC unroll 4
      for (size_t k = 0; k < kGroups; ++k) {
        const __m512i w = permute(v, kPermutations<kGroups, kJoin>, k);
        if constexpr (kJoin)
          _mm512_mask_storeu_epi8(to + 64 * k, m.joined[k], w);
        else
          _mm512_mask_storeu_epi8(from[k] + i, m.plane, w);
      }
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < kGroups; ++k) from[k] += step[k];
  }
}

inline __m128i load16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

struct Zip8 {
  static __m512i low(__m512i a, __m512i b) { return _mm512_unpacklo_epi8(a, b); }
  static __m512i high(__m512i a, __m512i b) { return _mm512_unpackhi_epi8(a, b); }
};

// 64 input rows of 16 bytes: row i + 16 k in lane k of register i.
struct ByteTile16x64 {
  static constexpr size_t kRows = 16, kCols = 64;

  template <size_t kFirst>
  static void rows_from(const uint8_t* in, size_t input_stride, uint8_t* out,
                        size_t output_stride) {
    __m512i v[16], w[16];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) {
      const uint8_t* row = in + i * input_stride;
      __m512i lanes = _mm512_castsi128_si512(load16(row));
      lanes = _mm512_mask_broadcast_i32x4(lanes, 0x00f0, load16(row + 16 * input_stride));
      lanes = _mm512_mask_broadcast_i32x4(lanes, 0x0f00, load16(row + 32 * input_stride));
      v[i] = _mm512_mask_broadcast_i32x4(lanes, 0xf000, load16(row + 48 * input_stride));
    }
    zip_round<Zip8>(v, w);
    zip_round<Zip8>(w, v);
    zip_round<Zip8>(v, w);
    zip_round<Zip8>(w, v);
#pragma GCC unroll 16
    for (size_t i = kFirst; i < 16; ++i) _mm512_storeu_si512(out + i * output_stride, v[i]);
  }
  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride,
                        size_t done) {
    if (done < 8)
      rows_from<0>(in, input_stride, out, output_stride);
    else
      rows_from<8>(in, input_stride, out, output_stride);
  }
};

template <bool kJoin, class Plane, class Joined>
void interleave_groups(size_t groups, Plane* const* planes, const size_t* step, Joined* joined,
                       size_t count, size_t pixels) {
  switch (groups) {
    case 2: return interleave<2, kJoin>(planes, step, joined, count, pixels);
    case 3: return interleave<3, kJoin>(planes, step, joined, count, pixels);
    default: return interleave<4, kJoin>(planes, step, joined, count, pixels);
  }
}

// Transposes a plane, or `count` planes in dense rows of pixels, that joins or splits few groups.
// Returns false where the planes are something else.
bool interleave_planes(const uint8_t* in, size_t input_stride, size_t in_step, uint8_t* out,
                       size_t output_stride, size_t out_step, size_t count, size_t rows,
                       size_t cols) {
  const size_t pixel = rows * cols;
  size_t steps[kMaxInterleaved];
  if (output_stride == cols && out_step == pixel && cols >= 2 && cols <= kMaxInterleaved) {
    const uint8_t* planes[kMaxInterleaved];
    for (size_t k = 0; k < cols; ++k) planes[k] = in + k * input_stride, steps[k] = in_step;
    interleave_groups<true>(cols, planes, steps, out, count, rows);
  } else if (input_stride == rows && in_step == pixel && rows >= 2 && rows <= kMaxInterleaved) {
    uint8_t* planes[kMaxInterleaved];
    for (size_t k = 0; k < rows; ++k) planes[k] = out + k * output_stride, steps[k] = out_step;
    interleave_groups<false>(rows, planes, steps, in, count, cols);
  } else {
    return false;
  }
  return true;
}

void plane_bytes1_512(const void* input, size_t input_stride, void* output, size_t output_stride,
                      size_t rows, size_t cols) {
  const uint8_t* in = static_cast<const uint8_t*>(input);
  uint8_t* out = static_cast<uint8_t*>(output);
  const size_t all = rows * cols;
  if (interleave_planes(in, input_stride, all, out, output_stride, all, 1, rows, cols)) return;
  if (rows >= ByteTile16x64::kRows && cols >= ByteTile16x64::kCols)
    transpose_in_tiles<ByteTile16x64>(in, input_stride, out, output_stride, rows, cols);
  else
    narrower_planes().bytes1(input, input_stride, output, output_stride, rows, cols);
}

// Rows of 2 to 8 bytes made dense (an image's rows from the pixels of a smaller one): as many at a
// time as fit into one register of the output and three of the input.
void pack_short_rows(const uint8_t* in, size_t stride, uint8_t* out, size_t rows, size_t bytes) {
  constexpr size_t kInput = 192;
  const size_t fit = (kInput - bytes) / stride + 1;
  const size_t at_once = fit < 64 / bytes ? fit : 64 / bytes;
  // Byte o is that of row o / bytes, whose product is exact for o < 64.
  uint8_t places[64];
  for (size_t o = 0; o < 64; ++o)
    places[o] = static_cast<uint8_t>(o + (o * (65536 / bytes + 1) >> 16) * (stride - bytes));
  const __m512i index = _mm512_loadu_si512(places);
  const __mmask64 others = _mm512_movepi8_mask(index);
  for (size_t row = 0; row < rows; row += at_once) {
    const size_t n = rows - row < at_once ? rows - row : at_once;
    const size_t span = (n - 1) * stride + bytes;
    __m512i v[3];
#pragma GCC unroll 3
    for (size_t k = 0; k < 3; ++k)
      v[k] = _mm512_maskz_loadu_epi8(first_bytes(span > 64 * k ? span - 64 * k : 0),
                                     in + row * stride + 64 * k);
    const __m512i first = _mm512_permutex2var_epi8(v[0], index, v[1]);
    _mm512_mask_storeu_epi8(out + row * bytes, first_bytes(n * bytes),
                            _mm512_mask_permutexvar_epi8(first, others, index, v[2]));
  }
}

void rows_512(const void* input, size_t input_stride, void* output, size_t output_stride,
              size_t rows, size_t bytes) {
  constexpr size_t kMostBytes = 8, kMostStride = 48;
  if (bytes >= 2 && bytes <= kMostBytes && output_stride == bytes && input_stride <= kMostStride) {
    pack_short_rows(static_cast<const uint8_t*>(input), input_stride, static_cast<uint8_t*>(output),
                    rows, bytes);
  } else {
    copy_rows(input, input_stride, output, output_stride, rows, bytes);
  }
}

// The innermost loops, of the output and of the input alike, of which few bytes change places among
// themselves: as many as count for 2 to kMostBlock bytes.
constexpr size_t kMostBlock = 256;

struct Block {
  size_t bytes, first;  // loops first .. rank - 1 of the plan
};

Block find_block(const TransposePlan& plan) {
  size_t bytes = plan.element_bytes;
  for (size_t i = plan.rank; i-- > 0;) {
    bytes *= plan.dims[i];
    if (bytes > kMostBlock) break;
    size_t span = plan.element_bytes;  // what the loops reach in the input
    for (size_t k = i; k < plan.rank; ++k)
      span += (plan.dims[k] - 1) * plan.stride[k] * plan.element_bytes;
    if (span == bytes && i + 1 < plan.rank) return {bytes, i};
  }
  return {0, 0};
}

using BlockTable = Permutations<kMostBlock / 64>;

// Permutes `count` blocks of `bytes` bytes, `stride` bytes apart in the input; each output register
// is permuted from kRegisters of the input.
template <size_t kRegisters>
void permute_each(const BlockTable& by, size_t bytes, const uint8_t* in, size_t stride,
                  uint8_t* out, size_t count) {
  uint64_t masks[kRegisters];
  for (size_t k = 0; k < kRegisters; ++k)
    masks[k] = first_bytes(bytes > 64 * k ? bytes - 64 * k : 0);
  for (; count > 0; --count, in += stride, out += bytes) {
    __m512i v[kRegisters];
#pragma GCC unroll 4
    for (size_t k = 0; k < kRegisters; ++k) v[k] = _mm512_maskz_loadu_epi8(masks[k], in + 64 * k);
#pragma GCC unroll 4
    for (size_t k = 0; k < kRegisters; ++k)
      _mm512_mask_storeu_epi8(out + 64 * k, masks[k], permute(v, by, k));
  }
}

// Blocks that are permuted within themselves; false where the plan has none.
bool permute_blocks(const TransposePlan& plan, const uint8_t* in, uint8_t* out, size_t begin,
                    size_t end) {
  const Block block = find_block(plan);
  if (block.bytes == 0 || block.first == 0) return false;
  const size_t element = plan.element_bytes;
  // Joins adjacent small blocks into one.
  const size_t last = block.first - 1, stride = plan.stride[last] * element;
  const size_t together = stride == block.bytes && block.bytes < 64 ? 64 / block.bytes : 1;
  const size_t bytes = together * block.bytes;
  BlockTable by{};
  size_t index[kMaxRank] = {}, at = 0;
  for (size_t o = 0; o < bytes; o += element) {
    for (size_t b = 0; b < element; ++b) by.take(o + b, at + b);
    size_t i = plan.rank - 1;
    for (; i >= block.first; --i) {
      at += plan.stride[i] * element;
      if (++index[i] < plan.dims[i]) break;
      at -= plan.dims[i] * plan.stride[i] * element;
      index[i] = 0;
    }
    if (i < block.first) at += block.bytes;
  }
  constexpr decltype(&permute_each<1>) kEach[] = {permute_each<1>, permute_each<2>, permute_each<3>,
                                                  permute_each<4>};
  const auto each = kEach[(bytes + 63) / 64 - 1];
  // The loop before the blocks within, those before that around it.
  size_t output_stride = plan.element_bytes;  // of the first loop
  for (size_t i = 1; i < plan.rank; ++i) output_stride *= plan.dims[i];
  out += begin * output_stride;
  const size_t count = last == 0 ? end - begin : plan.dims[last];
  size_t outer = last == 0 ? 1 : end - begin;
  for (size_t i = 1; i < last; ++i) outer *= plan.dims[i];
  for (size_t n = 0; n < outer; ++n, out += count * block.bytes) {
    const uint8_t* from = in;
    size_t rest = n;
    for (size_t i = last; i-- > 0; rest /= plan.dims[i])
      from += (i == 0 ? begin + rest : rest % plan.dims[i]) * plan.stride[i] * element;
    if (last == 0) from += begin * stride;
    const size_t whole = count / together, left = (count - whole * together) * block.bytes;
    each(by, bytes, from, together * stride, out, whole);
    if (left > 0) each(by, left, from + whole * bytes, 0, out + whole * bytes, 1);
  }
  return true;
}

}  // namespace

void transpose_avx512vbmi(const TransposePlan& plan, const void* input, void* output, size_t begin,
                          size_t end) {
  // Shuffles the channels of every pixel: planes are so small here that a call for each would take
  // longer than its work.
  const size_t pixel = plan.dims[1] * plan.dims[2];
  if (plan.rank == 3 && plan.element_bytes == 1 && plan.stride[1] == 1 &&
      interleave_planes(static_cast<const uint8_t*>(input) + begin * plan.stride[0], plan.stride[2],
                        plan.stride[0], static_cast<uint8_t*>(output) + begin * pixel, plan.dims[2],
                        pixel, end - begin, plan.dims[1], plan.dims[2])) {
    return;
  }
  if (built::kPermutations && permute_blocks(plan, static_cast<const uint8_t*>(input),
                                             static_cast<uint8_t*>(output), begin, end))
    return;
  transpose_by_planes(
      {plane_bytes1_512, narrower_planes().bytes4, rows_512, narrower_planes().listed}, plan, input,
      output, begin, end);
}

void interleave_avx512vbmi(const uint8_t* const* parts, const size_t* step, size_t groups,
                           size_t rows, size_t n, uint8_t* output) {
  interleave_groups<true>(groups, parts, step, output, rows, n);
}

}  // namespace qrt
