// Planes with 128-bit vectors of aarch64. Tiles are transposed by rounds of zips: with register
// number and position in the register written as one binary number, zipping registers i and i + n /
// 2 into 2 i and 2 i + 1 rotates that number left by one bit; as many rounds as the position has
// bits exchange the two.
#include <arm_neon.h>

#include <cstdint>

#include "kernels/copy/plane_blocks.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

struct ByteTile16x16 {
  static constexpr size_t kRows = 16, kCols = 16;

  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out,
                        size_t output_stride) {
    uint8x16_t v[16], w[16];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) v[i] = vld1q_u8(in + i * input_stride);
    round(v, w);
    round(w, v);
    round(v, w);
    round(w, v);
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) vst1q_u8(out + i * output_stride, v[i]);
  }
  static void round(const uint8x16_t (&v)[16], uint8x16_t (&w)[16]) {
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      w[2 * i] = vzip1q_u8(v[i], v[i + 8]);
      w[2 * i + 1] = vzip2q_u8(v[i], v[i + 8]);
    }
  }
};

struct ByteTile8x8 {
  static constexpr size_t kRows = 8, kCols = 8;

  static void transpose(const uint8_t* in, size_t input_stride, uint8_t* out,
                        size_t output_stride) {
    uint8x8_t v[8], w[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) v[i] = vld1_u8(in + i * input_stride);
    round(v, w);
    round(w, v);
    round(v, w);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) vst1_u8(out + i * output_stride, w[i]);
  }
  static void round(const uint8x8_t (&v)[8], uint8x8_t (&w)[8]) {
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      w[2 * i] = vzip1_u8(v[i], v[i + 4]);
      w[2 * i + 1] = vzip2_u8(v[i], v[i + 4]);
    }
  }
};

struct WordTile4x4 {
  static constexpr size_t kRows = 4, kCols = 4;

  static void transpose(const uint32_t* in, size_t input_stride, uint32_t* out,
                        size_t output_stride) {
    uint32x4_t v[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) v[i] = vld1q_u32(in + i * input_stride);
    round(v, w);
    round(w, v);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) vst1q_u32(out + i * output_stride, v[i]);
  }
  static void round(const uint32x4_t (&v)[4], uint32x4_t (&w)[4]) {
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; ++i) {
      w[2 * i] = vzip1q_u32(v[i], v[i + 2]);
      w[2 * i + 1] = vzip2q_u32(v[i], v[i + 2]);
    }
  }
};

constexpr size_t kPixels = 16;  // of one step between planes and interleaved pixels

inline void join_three(const uint8_t* in, size_t plane_stride, uint8_t* out) {
  vst3q_u8(out, {{vld1q_u8(in), vld1q_u8(in + plane_stride), vld1q_u8(in + 2 * plane_stride)}});
}

inline void join_four(const uint8_t* in, size_t plane_stride, uint8_t* out) {
  vst4q_u8(out, {{vld1q_u8(in), vld1q_u8(in + plane_stride), vld1q_u8(in + 2 * plane_stride),
                  vld1q_u8(in + 3 * plane_stride)}});
}

inline void split_three(const uint8_t* in, uint8_t* out, size_t plane_stride) {
  const uint8x16x3_t v = vld3q_u8(in);
  for (size_t i = 0; i < 3; ++i) vst1q_u8(out + i * plane_stride, v.val[i]);
}

inline void split_four(const uint8_t* in, uint8_t* out, size_t plane_stride) {
  const uint8x16x4_t v = vld4q_u8(in);
  for (size_t i = 0; i < 4; ++i) vst1q_u8(out + i * plane_stride, v.val[i]);
}

// Steps of 16 pixels, the last moved back to the end. REQUIRES: pixels >= 16.
template <class Step>
inline void for_pixels(size_t pixels, Step step) {
  for (size_t i = 0; i + kPixels < pixels; i += kPixels) step(i);
  step(pixels - kPixels);
}

void plane_bytes1(const void* input, size_t input_stride, void* output, size_t output_stride,
                  size_t rows, size_t cols) {
  const uint8_t* in = static_cast<const uint8_t*>(input);
  uint8_t* out = static_cast<uint8_t*>(output);
  if (cols == 3 && output_stride == 3 && rows >= kPixels) {
    for_pixels(rows, [&](size_t i) { join_three(in + i, input_stride, out + 3 * i); });
  } else if (cols == 4 && output_stride == 4 && rows >= kPixels) {
    for_pixels(rows, [&](size_t i) { join_four(in + i, input_stride, out + 4 * i); });
  } else if (rows == 3 && input_stride == 3 && cols >= kPixels) {
    for_pixels(cols, [&](size_t i) { split_three(in + 3 * i, out + i, output_stride); });
  } else if (rows == 4 && input_stride == 4 && cols >= kPixels) {
    for_pixels(cols, [&](size_t i) { split_four(in + 4 * i, out + i, output_stride); });
  } else if (rows >= ByteTile16x16::kRows && cols >= ByteTile16x16::kCols) {
    transpose_in_tiles<ByteTile16x16>(in, input_stride, out, output_stride, rows, cols);
  } else if (rows >= ByteTile8x8::kRows && cols >= ByteTile8x8::kCols) {
    transpose_in_tiles<ByteTile8x8>(in, input_stride, out, output_stride, rows, cols);
  } else {
    transpose_in_blocks(in, input_stride, out, output_stride, rows, cols);
  }
}

void plane_bytes4(const void* input, size_t input_stride, void* output, size_t output_stride,
                  size_t rows, size_t cols) {
  const uint32_t* in = static_cast<const uint32_t*>(input);
  uint32_t* out = static_cast<uint32_t*>(output);
  if (rows >= WordTile4x4::kRows && cols >= WordTile4x4::kCols) {
    transpose_in_tiles<WordTile4x4>(in, input_stride, out, output_stride, rows, cols);
  } else {
    transpose_in_blocks(in, input_stride, out, output_stride, rows, cols);
  }
}

}  // namespace

void transpose_neon(const TransposePlan& plan, const void* input, void* output, size_t begin,
                    size_t end) {
  transpose_by_planes({plane_bytes1, plane_bytes4}, plan, input, output, begin, end);
}

}  // namespace qrt
