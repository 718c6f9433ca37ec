// SPDX-License-Identifier: Apache-2.0
// Integer products on AMX tiles, TDPBSUD: 16 rows by the 16 outputs of a panel. A block's sums go through memory, tile
// registers having no other arithmetic, and become floats two blocks later: weights are unpacked for one block while
// the tiles multiply the one before, and vectors add up the one before that.
//
//   A (tmm1): q, 16 rows of `step` bytes      B (tmm2): codes, step / 4 lines of 16 outputs x 4 k
//
// Rows that fill no tile are left to VPDPBUSD.
#include "kernels/nbits/policy512.h"

namespace qrt {
namespace {

constexpr size_t kTileRows = 16;
// Below, a block is over before the tiles have begun: VPDPBUSD is as fast.
constexpr size_t kLeastBlock = 32;

// The assembly touches memory that the compiler does not see.
#define QRT_TILE_LOAD(tile, p, stride) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(p), "r"(stride) : "memory")

// Returns how many k of a block a product of tiles takes: at most 64, a divisor of the block.
inline size_t step_of(size_t block) {
  return block % 64 == 0 ? 64 : block % 48 == 0 ? 48 : block % 32 == 0 ? 32 : 16;
}

inline void configure(size_t step) {
  alignas(64) uint8_t config[64] = {};
  config[0] = 1;  // palette
  const size_t bytes[] = {64, step, 64}, rows[] = {kTileRows, kTileRows, step / 4};
  for (size_t tile = 0; tile < 3; ++tile) {
    config[16 + 2 * tile] = static_cast<uint8_t>(bytes[tile]);
    config[48 + tile] = static_cast<uint8_t>(rows[tile]);
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(config) : "memory");
}

// The blocks on their way through the stages, two of each.
struct Stages {
  alignas(64) uint8_t codes[2][kNBitsMostBlock / 4][kNBitsLine];
  alignas(64) int32_t dots[2][kTileRows][kNBitsPanel];
};

template <int kBits>
QRT_INLINE void unpack(const uint8_t* line, size_t lines, uint8_t (*to)[kNBitsLine]) {
  constexpr auto kMask = static_cast<int32_t>(((1u << kBits) - 1) * 0x01010101u);
  for (size_t i = 0; i < lines; ++i, line += kNBitsLine) {
    const Ints packed = load_as<Ints>(line);
    QRT_UNROLL
    for (int g = 0; g < 8 / kBits; ++g, ++to) {
      const Ints u = kBits == 8 ? packed : (packed >> (kBits * g)) & kMask;
      __builtin_memcpy(*to, &u, sizeof u);
    }
  }
}

QRT_INLINE void multiply(const int8_t* q, size_t stride, size_t block, size_t step,
                         const uint8_t (*codes)[kNBitsLine], int32_t (*dots)[kNBitsPanel]) {
  __asm__ volatile("tilezero %%tmm0" ::);
  for (size_t k = 0; k < block; k += step) {
    QRT_TILE_LOAD(1, q + k, stride);
    QRT_TILE_LOAD(2, codes + k / 4, kNBitsLine);
    __asm__ volatile("tdpbsud %%tmm2, %%tmm1, %%tmm0" ::);
  }
  __asm__ volatile("tilestored %%tmm0, (%0,%1,1)" ::"r"(dots), "r"(kNBitsLine) : "memory");
}

// Multiplies 16 rows. REQUIRES: tiles are configured for step_of(w.block).
template <int kBits, bool kZeroPoints>
inline void tile_rows(const NBitsWeights& w, const NBitsRows& x, size_t panel, float* y) {
  const size_t lines = w.block * kBits / 32, step = step_of(w.block), stride = w.blocks * w.block;
  const uint8_t* line = w.w + panel * w.blocks * lines * kNBitsLine;
  const float* scale = w.scales + panel * w.blocks * kNBitsPanel;
  const uint8_t* zero_point =
      kZeroPoints ? w.zero_points + panel * w.blocks * kNBitsPanel : nullptr;
  Stages stages;
  Floats acc[kTileRows] = {};
  for (size_t i = 0; i < w.blocks + 2; ++i) {
    if (i < w.blocks) {
      unpack<kBits>(line, lines, stages.codes[i % 2]);
      line += lines * kNBitsLine;
    }
    if (i - 1 < w.blocks)
      multiply(x.q + (i - 1) * w.block, stride, w.block, step, stages.codes[(i - 1) % 2],
               stages.dots[(i - 1) % 2]);
    if (i < 2) continue;
    const size_t b = i - 2;
    const Floats w_scale = load(scale + b * kNBitsPanel);
    const Ints zero = kZeroPoints ? widened(zero_point + b * kNBitsPanel) : Ints{};
    QRT_UNROLL
    for (size_t r = 0; r < kTileRows; ++r) {
      const Ints less = all_ints(x.sums[r * w.blocks + b]);
      const Ints dot = load_as<Ints>(stages.dots[b % 2][r]) + (kZeroPoints ? zero * less : less);
      acc[r] = acc[r] + to_floats(dot) * (w_scale * x.scales[r * w.blocks + b]);
    }
  }
  Floats sums[kTileRows][1];  // a copy, so that acc stays in registers
  QRT_UNROLL
  for (size_t r = 0; r < kTileRows; ++r) sums[r][0] = acc[r];
  for (size_t r = 0; r < kTileRows; ++r) end_row(w, panel * kNBitsPanel, sums[r], y + r * w.n);
}

template <int kBits>
inline void tile_products(const NBitsWeights& w, NBitsRows x, size_t rows, size_t panel, float* y) {
  if (rows >= kTileRows && w.block >= kLeastBlock) {
    configure(step_of(w.block));
    for (; rows >= kTileRows; rows -= kTileRows) {
      if (w.zero_points != nullptr)
        tile_rows<kBits, true>(w, x, panel, y);
      else
        tile_rows<kBits, false>(w, x, panel, y);
      x.q += kTileRows * w.blocks * w.block;
      x.scales += kTileRows * w.blocks;
      x.sums += kTileRows * w.blocks;
      y += kTileRows * w.n;
    }
    __asm__ volatile("tilerelease" ::: "memory");
  }
  products<Avx512Vnni, kBits, 8, 1>(w, x, rows, panel, y);
}

}  // namespace

QRT_NBITS_OTHERS(amx, Avx512Vnni, 8, 1)

void nbits_product_amx(const NBitsWeights& w, const NBitsRows& x, size_t rows, size_t panel,
                       float* y) {
  if (w.bits == 4) return tile_products<4>(w, x, rows, panel, y);
  if (w.bits == 8) return tile_products<8>(w, x, rows, panel, y);
  tile_products<2>(w, x, rows, panel, y);
}

}  // namespace qrt
