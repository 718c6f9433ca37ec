// SPDX-License-Identifier: Apache-2.0
// The left side of a product on AMX tiles: rows spread over tiles, and where each tile finds its rows.
#ifndef QRT_KERNELS_GEMM_AMX_LEFT_H_
#define QRT_KERNELS_GEMM_AMX_LEFT_H_

#include <immintrin.h>

#include "kernels/gemm/gemm.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr size_t kTileRows = 16, kTileChannels = 16, kTileK = 64, kTileBytes = 1024;
constexpr size_t kBlockChannels = 2 * kTileChannels;
// Steps of 64 k in a part. Longer products are computed in parts, between which accumulators wait
// in memory. 3 x 3 taps of 128 channels are one part, and the buffer of a part stays in the
// second-level cache beside its weights.
constexpr size_t kSteps = 18;
// A tile of the left side: its first row, and the bytes to the next.
struct Operand {
  const uint8_t* p;
  ptrdiff_t stride;
};

struct KBlock {
  size_t begin, steps;  // first k of all taps one after the other, and how many times 64
};

// Left and right side of a product, and what a call knows of them.
struct Product {
  explicit Product(const GemmArgs& args)
      : g(args),
        k(args.taps * args.kc),
        steps((k + kTileK - 1) / kTileK),
        k_blocks((steps + kSteps - 1) / kSteps),
        blocks((args.m + 2 * kTileRows - 1) / (2 * kTileRows)),
        rows((args.m + 2 * blocks - 1) / (2 * blocks)),
        in_place(args.taps == 1 || args.kc % kTileK == 0) {}

  KBlock k_block(size_t i) const {
    const size_t first = steps * i / k_blocks;
    return {first * kTileK, steps * (i + 1) / k_blocks - first};
  }
  // Tiles spread the rows evenly; the last ones repeat some rows of those before.
  size_t first_row(size_t tile) const {
    return tile * rows + rows <= g.m ? tile * rows : g.m - rows;
  }

  const GemmArgs& g;
  const size_t k, steps, k_blocks;
  const size_t blocks;  // number of blocks of two tiles of rows
  const size_t rows;    // rows of a tile
  const bool in_place;  // every step lies in one tap
};

QRT_INLINE const uint8_t* row_of_tap(const GemmArgs& g, size_t row, size_t tap) {
  if (g.indirection == nullptr) return g.a + row * g.a_stride + tap * g.a_tap_stride;
  const uint8_t* p = g.indirection[row * g.taps + tap];
  return p == g.zero ? p : p + g.a_offset;
}

QRT_INLINE void copy_bytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
}

// Finds the rows of a tile, from byte `at` of a tap on, where they are in memory. Returns false
// where these are not equally far apart.
QRT_INLINE bool find_in_place(const Product& p, size_t row, size_t tap, size_t at,
                              Operand* result) {
  const GemmArgs& g = p.g;
  if (g.indirection == nullptr) {
    *result = {row_of_tap(g, row, tap) + at, static_cast<ptrdiff_t>(g.a_stride)};
    return true;
  }
  // The pointers of up to 16 rows side by side, and their distances from one to the next.
  const uint8_t* const* const first = g.indirection + row * g.taps + tap;
  const __m512i taps = _mm512_set1_epi64(static_cast<int64_t>(g.taps));
  const __m512i index = _mm512_mullo_epi64(taps, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
  const uint32_t all = (uint32_t{1} << p.rows) - 1, pairs = all >> 1;
  const auto low = [](uint32_t mask) { return static_cast<__mmask8>(mask); };
  const auto high = [](uint32_t mask) { return static_cast<__mmask8>(mask >> 8); };
  const __m512i none = _mm512_setzero_si512();
  const __m512i v0 = _mm512_mask_i64gather_epi64(none, low(all), index, first, 8);
  const __m512i v1 = _mm512_mask_i64gather_epi64(none, high(all), index, first + 8 * g.taps, 8);
  const ptrdiff_t stride = p.rows > 1 ? first[g.taps] - first[0] : 0;
  const __m512i strides = _mm512_set1_epi64(stride);
  const __m512i d0 = _mm512_sub_epi64(_mm512_alignr_epi64(v1, v0, 1), v0);
  const __m512i d1 = _mm512_sub_epi64(_mm512_alignr_epi64(v1, v1, 1), v1);
  if ((_mm512_mask_cmpneq_epi64_mask(low(pairs), d0, strides) |
       _mm512_mask_cmpneq_epi64_mask(high(pairs), d1, strides)) != 0)
    return false;
  // The offset moves all of them or none.
  const __m512i zeros = _mm512_set1_epi64(reinterpret_cast<int64_t>(g.zero));
  const uint32_t zero_rows = uint32_t{_mm512_mask_cmpeq_epi64_mask(low(all), v0, zeros)} |
                             uint32_t{_mm512_mask_cmpeq_epi64_mask(high(all), v1, zeros)} << 8;
  if (g.a_offset != 0 && zero_rows != 0 && zero_rows != all) return false;
  *result = {row_of_tap(g, row, tap) + at, stride};
  return true;
}

// The operands of one tile of rows for every step of a part; `buffer` holds kTileRows rows of the part, kPitch apart.
// kPitch is no multiple of 4096, or all rows would share a few sets of the cache.
constexpr size_t kPitch = kSteps * kTileK + 64;

void find_lhs(const Product& p, size_t row, const KBlock& k_block, uint8_t* buffer,
              Operand* operands) {
  const GemmArgs& g = p.g;
  if (p.in_place) {
    size_t tap = k_block.begin / g.kc, at = k_block.begin - tap * g.kc;
    for (size_t step = 0; step < k_block.steps;) {
      const size_t left = k_block.steps - step, of_tap = (g.kc - at + kTileK - 1) / kTileK;
      const size_t n = of_tap < left ? of_tap : left;
      Operand operand;
      if (!find_in_place(p, row, tap, at, &operand)) {
        operand = {buffer + step * kTileK, static_cast<ptrdiff_t>(kPitch)};
        for (size_t i = 0; i < p.rows; ++i)
          copy_bytes(buffer + i * kPitch + step * kTileK, row_of_tap(g, row + i, tap) + at,
                     n * kTileK);
      }
      for (size_t i = 0; i < n; ++i, ++step, operand.p += kTileK) operands[step] = operand;
      ++tap, at = 0;
    }
    return;
  }
  // Copies taps one after the other. A copy may write up to 60 bytes too many, which the next one overwrites.
  const size_t bytes =
      p.k - k_block.begin < k_block.steps * kTileK ? p.k - k_block.begin : k_block.steps * kTileK;
  for (size_t i = 0; i < p.rows; ++i) {
    uint8_t* to = buffer + i * kPitch;
    size_t tap = k_block.begin / g.kc, at = k_block.begin - tap * g.kc;
    for (size_t done = 0; done < bytes; ++tap, at = 0) {
      const size_t left = bytes - done, n = g.kc - at < left ? g.kc - at : left;
      copy_bytes(to + done, row_of_tap(g, row + i, tap) + at, n);
      done += n;
    }
  }
  for (size_t step = 0; step < k_block.steps; ++step)
    operands[step] = {buffer + step * kTileK, static_cast<ptrdiff_t>(kPitch)};
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_AMX_LEFT_H_
