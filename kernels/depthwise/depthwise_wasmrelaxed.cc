// SPDX-License-Identifier: Apache-2.0
// Depthwise by the relaxed dot product of bytes, on engines where it is exact (isa/relaxed.h): the bytes of four rows
// are interleaved. Kernels of less than three rows would leave half of them unused, and take simd128's row.
#include <string.h>

#include "kernels/depthwise/depthwise_wasm.h"

namespace qrt {

void depthwise_u8s8_wasm128(const DepthwiseArgs& args);

namespace {

constexpr size_t kLeastRows = 3;

using Bytes = wasm128::Zip<1>;
using Words = wasm128::Zip<2>;

QRT_INLINE v128_t dot(v128_t acc, v128_t data, v128_t weights) {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, data, acc);
}

struct Quads {
  static constexpr size_t kGroup = 4;
  using Weight = int8_t;

  template <class F>
  static void for_each_tap(const DepthwiseShape& s, const F& f) {
    for (size_t ky = 0; ky < s.kernel_h; ky += 4)
      for (size_t kx = 0; kx < s.kernel_w; ++kx)
        for (size_t i = ky; i < ky + 4; ++i) f(i < s.kernel_h ? i : s.kernel_h - 1, kx);
  }

  static void set_weights(const DepthwiseShape& s, const int8_t* packed, int8_t* weights) {
    memcpy(weights, packed, (s.kernel_h + 3) / 4 * s.kernel_w * 64);
  }

  QRT_INLINE void multiply(v128_t (&acc)[4], const uint8_t* const (&p)[4], const v128_t (&w)[4]) {
    const v128_t row[4] = {wasm_v128_load(p[0]), wasm_v128_load(p[1]), wasm_v128_load(p[2]),
                           wasm_v128_load(p[3])};
    const v128_t low[2] = {Bytes::low(row[0], row[1]), Bytes::low(row[2], row[3])};
    const v128_t high[2] = {Bytes::high(row[0], row[1]), Bytes::high(row[2], row[3])};
    const v128_t data[4] = {Words::low(low[0], low[1]), Words::high(low[0], low[1]),
                            Words::low(high[0], high[1]), Words::high(high[0], high[1])};
    QRT_UNROLL
    for (int q = 0; q < 4; ++q) acc[q] = dot(acc[q], data[q], w[q]);
  }

  static bool compute_whole_row(const Block<Quads>& b, size_t y);
};

// Computes eight channels of row y for a 3x3 kernel, half 0 or 1 of a block. Each column of the image is interleaved once,
// and leaves the registers after the last output that it contributes to; the weights stay in registers.
template <size_t kStride>
void slide(const Block<Quads>& b, size_t y, size_t half) {
  const DepthwiseArgs& args = *b.args;
  const DepthwiseShape& s = args.shape;
  const size_t c = b.c + 8 * half, n = b.n - 8 * half < 8 ? b.n - 8 * half : 8;
  const uint8_t* row[3];
  size_t step[3];
  QRT_UNROLL
  for (size_t ky = 0; ky < 3; ++ky) {
    const size_t iy = y * s.stride_h + ky - s.pad_top;  // wraps to a huge number above the image
    row[ky] = (iy < s.in_h ? args.input + iy * s.in_w * s.in_c : args.zero) + c;
    step[ky] = iy < s.in_h ? s.in_c : 0;
  }
  const v128_t padding = wasm_u8x16_splat(*args.zero);
  v128_t weights[3][2], bias[2];
  QRT_UNROLL
  for (size_t i = 0; i < 2; ++i) {
    bias[i] = wasm_v128_load(args.bias + c + 4 * i);
    QRT_UNROLL
    for (size_t kx = 0; kx < 3; ++kx)
      weights[kx][i] = wasm_v128_load(b.weights + kx * 64 + (2 * half + i) * 16);
  }
  size_t ix = 0 - s.pad_left;  // the next column, a huge number left of the image
  const auto load = [&](v128_t(&column)[2]) QRT_INLINE_LAMBDA {
    if (ix++ >= s.in_w) {
      column[0] = column[1] = padding;
      return;
    }
    const v128_t first = wasm_v128_load64_zero(row[0]), second = wasm_v128_load64_zero(row[1]),
                 third = wasm_v128_load64_zero(row[2]);
    QRT_UNROLL
    for (int ky = 0; ky < 3; ++ky) row[ky] += step[ky];
    const v128_t low = Bytes::low(first, second), high = Bytes::low(third, third);
    column[0] = Words::low(low, high);
    column[1] = Words::high(low, high);
  };
  const auto multiply = [&](const v128_t(&x)[2], const v128_t(&y)[2], const v128_t(&z)[2],
                            v128_t* acc) QRT_INLINE_LAMBDA {
    QRT_UNROLL
    for (int i = 0; i < 2; ++i)
      acc[i] =
          dot(dot(dot(bias[i], x[i], weights[0][i]), y[i], weights[1][i]), z[i], weights[2][i]);
  };
  const wasm128::ChannelConstants* const own = b.constants + 2 * half;
  const wasm128::ChannelConstants constants[4] = {own[0], own[1], own[0], own[1]};
  uint8_t* out = args.output + y * s.out_w * s.in_c + c;
  v128_t first[2], second[2], third[2], acc[4];
  load(first);
  if (kStride == 1) load(second);
  for (size_t x = 0; x < s.out_w; x += 2, out += 2 * s.in_c) {
    if (kStride == 2) load(second);
    load(third);
    multiply(first, second, third, acc);
    if (kStride == 1) {
      load(first);
      multiply(second, third, first, acc + 2);
      second[0] = first[0], second[1] = first[1];
      first[0] = third[0], first[1] = third[1];
    } else {
      load(second);
      load(first);
      multiply(third, second, first, acc + 2);
    }
    const v128_t bytes = b.requant.bytes(acc, constants);
    wasm128::store_bytes(out, bytes, n);
    if (x + 1 < s.out_w)
      wasm128::store_bytes(out + s.in_c, wasm_i64x2_shuffle(bytes, bytes, 1, 1), n);
  }
}

bool Quads::compute_whole_row(const Block<Quads>& b, size_t y) {
  const DepthwiseShape& s = b.args->shape;
  if (s.kernel_h != 3 || s.kernel_w != 3 || s.terms != 1 || s.dilation_h != 1 || s.dilation_w != 1)
    return false;
  if (s.stride_w > 2 || !b.in_registers) return false;
  for (size_t half = 0; 8 * half < b.n; ++half) {
    if (s.stride_w == 1)
      slide<1>(b, y, half);
    else
      slide<2>(b, y, half);
  }
  return true;
}

}  // namespace

void depthwise_u8s8_wasmrelaxed(const DepthwiseArgs& args) {
  if (args.shape.kernel_h < kLeastRows) return depthwise_u8s8_wasm128(args);
  run<Quads>(args);
}

}  // namespace qrt
