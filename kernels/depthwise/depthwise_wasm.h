// SPDX-License-Identifier: Apache-2.0
// Depthwise for WebAssembly: 16 channels of one or two output pixels at a time, with taps in groups
// that one instruction multiplies. Layers with several filters per channel, and kernels of many
// taps, are computed by the scalar row. A policy P has:
//
//   kGroup                      taps of a group
//   Weight                      type of a weight in a group
//   for_each_tap(shape, f)      calls f(ky, kx) for the taps of a term, group by group, filled up with taps whose
//                               weights are 0
//   set_weights(b, packed, to)  writes the weights of a term of block b: [group][16 channels][kGroup]
//   multiply(acc, p, w)         adds a group's products: p, where the 16 bytes of its taps are; w, weights
//   compute_whole_row(b, y)     computes a row in a faster way, or returns false
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_WASM_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_WASM_H_

#include "kernels/depthwise/depthwise.h"
#include "kernels/isa/in_registers_wasm128.h"
#include "kernels/isa/requantize_wasm128.h"
#include "kernels/isa/zip_wasm128.h"

namespace qrt {

void depthwise_u8s8_scalar(const DepthwiseArgs& args);

namespace {

constexpr size_t kMostTaps = 128, kStripRows = 8;

// A block of 16 channels from c on, of which n are stored.
template <class P>
struct Block {
  const DepthwiseArgs* args;
  size_t c, n, groups;
  StageForms forms;
  bool in_registers;
  wasm128::RequantInRegisters requant;
  wasm128::ChannelConstants constants[4];
  ptrdiff_t offsets[kMostTaps];  // of the taps from the window's first pixel
  alignas(16) typename P::Weight weights[kMostTaps * 16];
};

// Returns the taps of all groups of a kernel.
template <class P>
size_t count_taps(const DepthwiseShape& s) {
  size_t taps = 0;
  P::for_each_tap(s, [&](size_t, size_t) { ++taps; });
  return taps * s.terms;
}

template <class P>
void set_weights(Block<P>& b) {
  const DepthwiseShape& s = b.args->shape;
  const size_t block_bytes = (s.kernel_h + 3) / 4 * s.kernel_w * 64;
  const size_t term_bytes = (s.in_c + 15) / 16 * block_bytes;
  const int8_t* packed = b.args->weights + b.c / 16 * block_bytes;
  size_t tap = 0;
  for (size_t term = 0; term < s.terms; ++term, packed += term_bytes) {
    P::set_weights(s, packed, b.weights + tap * 16);
    P::for_each_tap(s, [&](size_t ky, size_t kx) {
      const size_t pixel = ky * s.dilation_h * s.in_w + kx * s.dilation_w;
      b.offsets[tap++] = static_cast<ptrdiff_t>(pixel * s.in_c);
    });
  }
  b.groups = tap / P::kGroup;
}

template <class P>
void store(const Block<P>& b, const v128_t (&acc)[4], uint8_t* out) {
  if (b.in_registers) {
    wasm128::store_bytes(out, b.requant.bytes(acc, b.constants), b.n);
    return;
  }
  alignas(16) int32_t sums[16];
  QRT_UNROLL
  for (size_t q = 0; q < 4; ++q) wasm_v128_store(sums + 4 * q, acc[q]);
  requantize_tile<wasm128::Lanes>(b.args->requant, b.forms, b.c, sums, 1, 16, b.n, out, 0);
}

// Computes a tile. address(pixel, tap): where the 16 bytes of a tap are.
template <int kPixels, class P, class F>
QRT_INLINE void compute(const Block<P>& b, const F& address, uint8_t* out, size_t out_step) {
  v128_t acc[kPixels][4];
  QRT_UNROLL
  for (int x = 0; x < kPixels; ++x) {
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) acc[x][q] = wasm_v128_load(b.args->bias + b.c + 4 * q);
  }
  const typename P::Weight* weights = b.weights;
  for (size_t group = 0; group < b.groups; ++group, weights += 16 * P::kGroup) {
    v128_t w[4];
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) w[q] = wasm_v128_load(weights + q * 4 * P::kGroup);
    QRT_UNROLL
    for (int x = 0; x < kPixels; ++x) {
      const uint8_t* p[P::kGroup];
      QRT_UNROLL
      for (size_t i = 0; i < P::kGroup; ++i) p[i] = address(x, P::kGroup * group + i);
      P::multiply(acc[x], p, w);
    }
  }
  QRT_UNROLL
  for (int x = 0; x < kPixels; ++x) store(b, acc[x], out + static_cast<size_t>(x) * out_step);
}

template <class P>
void compute_row(const Block<P>& b, size_t y) {
  if (P::compute_whole_row(b, y)) return;
  const DepthwiseArgs& args = *b.args;
  const DepthwiseShape& s = args.shape;
  // Coordinates before the image wrap to huge numbers, so that one comparison finds them.
  const size_t iy = y * s.stride_h - s.pad_top;
  const size_t reach_h = (s.kernel_h - 1) * s.dilation_h, reach_w = (s.kernel_w - 1) * s.dilation_w;
  const bool has_rows = iy < s.in_h && reach_h < s.in_h - iy;
  const auto is_inside = [&](size_t x) {
    const size_t ix = x * s.stride_w - s.pad_left;
    return has_rows && ix < s.in_w && reach_w < s.in_w - ix;
  };
  uint8_t* out = args.output + y * s.out_w * s.in_c + b.c;
  for (size_t x = 0; x < s.out_w;) {
    const size_t ix = x * s.stride_w - s.pad_left;
    if (is_inside(x)) {
      const uint8_t* const p = args.input + (iy * s.in_w + ix) * s.in_c + b.c;
      const size_t step = s.stride_w * s.in_c;
      const auto address = [&](int pixel, size_t tap) QRT_INLINE_LAMBDA {
        return p + static_cast<size_t>(pixel) * step + b.offsets[tap];
      };
      const bool two = x + 1 < s.out_w && is_inside(x + 1);
      if (two)
        compute<2>(b, address, out, s.in_c);
      else
        compute<1>(b, address, out, s.in_c);
      x += two ? 2 : 1;
      out += (two ? 2 : 1) * s.in_c;
      continue;
    }
    const uint8_t* taps[kMostTaps];
    size_t tap = 0;
    for (size_t term = 0; term < s.terms; ++term) {
      P::for_each_tap(s, [&](size_t ky, size_t kx) {
        const size_t row = iy + ky * s.dilation_h, column = ix + kx * s.dilation_w;
        const bool inside = row < s.in_h && column < s.in_w;
        taps[tap++] = (inside ? args.input + (row * s.in_w + column) * s.in_c : args.zero) + b.c;
      });
    }
    compute<1>(
        b, [&](int, size_t t) QRT_INLINE_LAMBDA { return taps[t]; }, out, s.in_c);
    ++x;
    out += s.in_c;
  }
}

template <class P>
void run(const DepthwiseArgs& args) {
  const DepthwiseShape& s = args.shape;
  if (s.multiplier != 1 || s.products() > kMostTaps || count_taps<P>(s) > kMostTaps)
    return depthwise_u8s8_scalar(args);
  Block<P> b;
  b.args = &args;
  b.in_registers = wasm128::RequantInRegisters::handles(args.requant, s.in_c);
  if (b.in_registers)
    b.requant = wasm128::RequantInRegisters::make(args.requant, args.bias, s.in_c, 0);
  for (size_t y = args.row_begin; y < args.row_end; y += kStripRows) {
    const size_t end = args.row_end - y < kStripRows ? args.row_end : y + kStripRows;
    for (b.c = 0; b.c < s.in_c; b.c += 16) {
      b.n = s.in_c - b.c < 16 ? s.in_c - b.c : 16;
      if (b.in_registers) {
        for (size_t q = 0; q < 4; ++q) b.constants[q] = b.requant.constants(b.c + 4 * q);
      } else {
        b.forms = forms_of(args.requant, b.c, b.n);
      }
      set_weights(b);
      for (size_t row = y; row < end; ++row) compute_row(b, row);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_WASM_H_
