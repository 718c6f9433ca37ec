// SPDX-License-Identifier: Apache-2.0
// Tiles of listed planes with 128-bit vectors.
#include <arm_neon.h>

#include "kernels/copy/listed_tiles.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

template <size_t kBytes>
struct ZipOf;
template <>
struct ZipOf<1> {
  static uint8x16_t low(uint8x16_t a, uint8x16_t b) { return vzip1q_u8(a, b); }
  static uint8x16_t high(uint8x16_t a, uint8x16_t b) { return vzip2q_u8(a, b); }
  static uint8x8_t low(uint8x8_t a, uint8x8_t b) { return vzip1_u8(a, b); }
  static uint8x8_t high(uint8x8_t a, uint8x8_t b) { return vzip2_u8(a, b); }
};
template <>
struct ZipOf<2> {
  static uint16x8_t of(uint8x16_t v) { return vreinterpretq_u16_u8(v); }
  static uint8x16_t low(uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_u8_u16(vzip1q_u16(of(a), of(b)));
  }
  static uint8x16_t high(uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_u8_u16(vzip2q_u16(of(a), of(b)));
  }
};
template <>
struct ZipOf<4> {
  static uint32x4_t of(uint8x16_t v) { return vreinterpretq_u32_u8(v); }
  static uint8x16_t low(uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_u8_u32(vzip1q_u32(of(a), of(b)));
  }
  static uint8x16_t high(uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_u8_u32(vzip2q_u32(of(a), of(b)));
  }
};
struct One {
  static constexpr size_t kLanes = 1;
  using Register = uint8x16_t;
  template <size_t kBytes>
  using Zip = ZipOf<kBytes>;
  static uint8x16_t load(const uint8_t* input, const size_t* at, size_t) {
    return vld1q_u8(input + at[0]);
  }
  static void store(uint8_t* p, uint8x16_t v) { vst1q_u8(p, v); }
};

struct ByteTile8x8 {
  static constexpr size_t kBytes = 1, kRows = 8, kCols = 8;

  static void transpose(const uint8_t* input, const size_t* input_at, uint8_t* output,
                        const size_t* output_at) {
    uint8x8_t v[8], w[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) v[i] = vld1_u8(input + input_at[i]);
    zip_round<ZipOf<1>>(v, w);
    zip_round<ZipOf<1>>(w, v);
    zip_round<ZipOf<1>>(v, w);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) vst1_u8(output + output_at[i], w[i]);
  }
};

}  // namespace

constexpr ListedPlanes kListedPlanesNeon = {
    {listed_plane<uint8_t, ListedTile<One, 1>, ByteTile8x8>,
     listed_plane<uint16_t, ListedTile<One, 2>, ListedTile<One, 2>>,
     listed_plane<uint32_t, ListedTile<One, 4>, ListedTile<One, 4>>, listed_elements<uint64_t>}};

}  // namespace qrt
