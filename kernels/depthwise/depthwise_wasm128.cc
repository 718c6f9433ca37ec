// SPDX-License-Identifier: Apache-2.0
// Depthwise for simd128: the bytes of two taps are interleaved and widened, and i32x4.dot_i16x8_s multiplies them with
// pairs of weights.
#include "kernels/depthwise/depthwise_wasm.h"

namespace qrt {
namespace {

struct TwoTaps {
  static constexpr size_t kGroup = 2;
  using Weight = int16_t;

  template <class F>
  static void for_each_tap(const DepthwiseShape& s, const F& f) {
    for (size_t ky = 0; ky < s.kernel_h; ++ky)
      for (size_t kx = 0; kx < s.kernel_w; ++kx) f(ky, kx);
    if (s.kernel_h * s.kernel_w % 2 != 0) f(s.kernel_h - 1, s.kernel_w - 1);
  }

  static void set_weights(const DepthwiseShape& s, const int8_t* packed, int16_t* weights) {
    size_t tap = 0;
    const size_t taps = s.kernel_h * s.kernel_w;
    for_each_tap(s, [&](size_t ky, size_t kx) {
      const int8_t* const quads = packed + (ky / 4 * s.kernel_w + kx) * 64 + ky % 4;
      int16_t* const to = weights + tap / 2 * 32 + tap % 2;
      for (size_t i = 0; i < 16; ++i) to[2 * i] = tap < taps ? quads[4 * i] : 0;
      ++tap;
    });
  }

  QRT_INLINE void multiply(v128_t (&acc)[4], const uint8_t* const (&p)[2], const v128_t (&w)[4]) {
    const v128_t even = wasm_v128_load(p[0]), odd = wasm_v128_load(p[1]);
    const v128_t low = wasm128::Zip<1>::low(even, odd), high = wasm128::Zip<1>::high(even, odd);
    const v128_t data[4] = {wasm_u16x8_extend_low_u8x16(low), wasm_u16x8_extend_high_u8x16(low),
                            wasm_u16x8_extend_low_u8x16(high), wasm_u16x8_extend_high_u8x16(high)};
    QRT_UNROLL
    for (int q = 0; q < 4; ++q)
      acc[q] = wasm_i32x4_add(acc[q], wasm_i32x4_dot_i16x8(data[q], w[q]));
  }

  static bool compute_whole_row(const Block<TwoTaps>&, size_t) { return false; }
};

}  // namespace

void depthwise_u8s8_wasm128(const DepthwiseArgs& args) { run<TwoTaps>(args); }

}  // namespace qrt
