// SPDX-License-Identifier: Apache-2.0
// Planes with 128-bit vectors of aarch64.
#include <arm_neon.h>

#include <cstdint>

#include "kernels/built.h"
#include "kernels/copy/plane_blocks.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

struct Zip8 {
  static uint8x16_t low(uint8x16_t a, uint8x16_t b) { return vzip1q_u8(a, b); }
  static uint8x16_t high(uint8x16_t a, uint8x16_t b) { return vzip2q_u8(a, b); }
  static uint8x8_t low(uint8x8_t a, uint8x8_t b) { return vzip1_u8(a, b); }
  static uint8x8_t high(uint8x8_t a, uint8x8_t b) { return vzip2_u8(a, b); }
};

struct Zip32 {
  static uint32x4_t low(uint32x4_t a, uint32x4_t b) { return vzip1q_u32(a, b); }
  static uint32x4_t high(uint32x4_t a, uint32x4_t b) { return vzip2q_u32(a, b); }
};

struct ByteTile16x16 {
  static constexpr size_t kRows = 16, kCols = 16;

  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride,
                        size_t) {
    uint8x16_t v[16], w[16];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) v[i] = vld1q_u8(in + i * input_stride);
    zip_round<Zip8>(v, w);
    zip_round<Zip8>(w, v);
    zip_round<Zip8>(v, w);
    zip_round<Zip8>(w, v);
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) vst1q_u8(out + i * output_stride, v[i]);
  }
};

struct ByteTile8x8 {
  static constexpr size_t kRows = 8, kCols = 8;

  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out, size_t output_stride,
                        size_t) {
    uint8x8_t v[8], w[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) v[i] = vld1_u8(in + i * input_stride);
    zip_round<Zip8>(v, w);
    zip_round<Zip8>(w, v);
    zip_round<Zip8>(v, w);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) vst1_u8(out + i * output_stride, w[i]);
  }
};

struct WordTile4x4 {
  static constexpr size_t kRows = 4, kCols = 4;

  static void transpose(const uint32_t* in, size_t input_stride, uint32_t* out,
                        size_t output_stride, size_t) {
    uint32x4_t v[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) v[i] = vld1q_u32(in + i * input_stride);
    zip_round<Zip32>(v, w);
    zip_round<Zip32>(w, v);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) vst1q_u32(out + i * output_stride, v[i]);
  }
};

struct Neon {
  using ByteTile = ByteTile16x16;
  using SmallByteTile = ByteTile8x8;
  using WordTile = WordTile4x4;
  using SmallWordTile = WordTile4x4;
  static constexpr size_t kPixels = 16;

  static void join_two(const uint8_t* in, size_t plane_stride, uint8_t* out) {
    vst2q_u8(out, {{vld1q_u8(in), vld1q_u8(in + plane_stride)}});
  }

  static void split_two(const uint8_t* in, uint8_t* out, size_t plane_stride) {
    const uint8x16x2_t v = vld2q_u8(in);
    vst1q_u8(out, v.val[0]);
    vst1q_u8(out + plane_stride, v.val[1]);
  }

  static void join_three(const uint8_t* in, size_t plane_stride, uint8_t* out) {
    vst3q_u8(out, {{vld1q_u8(in), vld1q_u8(in + plane_stride), vld1q_u8(in + 2 * plane_stride)}});
  }

  static void join_four(const uint8_t* in, size_t plane_stride, uint8_t* out) {
    vst4q_u8(out, {{vld1q_u8(in), vld1q_u8(in + plane_stride), vld1q_u8(in + 2 * plane_stride),
                    vld1q_u8(in + 3 * plane_stride)}});
  }

  static void split_three(const uint8_t* in, uint8_t* out, size_t plane_stride) {
    const uint8x16x3_t v = vld3q_u8(in);
    for (size_t i = 0; i < 3; ++i) vst1q_u8(out + i * plane_stride, v.val[i]);
  }

  static void split_four(const uint8_t* in, uint8_t* out, size_t plane_stride) {
    const uint8x16x4_t v = vld4q_u8(in);
    for (size_t i = 0; i < 4; ++i) vst1q_u8(out + i * plane_stride, v.val[i]);
  }
};

}  // namespace

void transpose_neon(const TransposePlan& plan, const void* input, void* output, size_t begin,
                    size_t end) {
  transpose_by_planes({plane_bytes1<Neon>, plane_bytes4<Neon>, copy_rows,
                       built::kPermutations ? &kListedPlanesNeon : nullptr},
                      plan, input, output, begin, end);
}

}  // namespace qrt
