// SPDX-License-Identifier: Apache-2.0
// Depthwise for simd128: 16 channels of one or two output pixels at a time, two taps in a product. The
// bytes of both are interleaved and widened, and i32x4.dot_i16x8_s multiplies them with pairs of weights,
// which a block of channels has in this order on the stack. Anything but one filter per channel, and
// kernels of many taps, take the scalar row.
#include "kernels/depthwise/depthwise_wasm.h"

namespace qrt {

void depthwise_u8s8_scalar(const DepthwiseArgs& args);

namespace {

constexpr size_t kMostTaps = 128, kStripRows = 8;

// A block of 16 channels from c on.
struct Block {
  const DepthwiseArgs* args;
  const DepthwiseStore* store;
  size_t c, pairs;
  ptrdiff_t offsets[kMostTaps];                 // of the taps from the window's first pixel
  alignas(16) int16_t weights[kMostTaps * 16];  // [pair][16 channels][2 taps]
};

void set_weights(Block& b) {
  const DepthwiseShape& s = b.args->shape;
  const size_t block_bytes = (s.kernel_h + 3) / 4 * s.kernel_w * 64;
  const size_t term_bytes = (s.in_c + 15) / 16 * block_bytes;
  const int8_t* packed = b.args->weights + b.c / 16 * block_bytes;
  size_t tap = 0;
  const auto add = [&](const int8_t* quads, ptrdiff_t offset) {
    int16_t* const to = b.weights + tap / 2 * 32 + tap % 2;
    for (size_t i = 0; i < 16; ++i) to[2 * i] = quads == nullptr ? 0 : quads[4 * i];
    b.offsets[tap++] = offset;
  };
  for (size_t term = 0; term < s.terms; ++term, packed += term_bytes) {
    for (size_t ky = 0; ky < s.kernel_h; ++ky) {
      for (size_t kx = 0; kx < s.kernel_w; ++kx) {
        const size_t pixel = ky * s.dilation_h * s.in_w + kx * s.dilation_w;
        add(packed + (ky / 4 * s.kernel_w + kx) * 64 + ky % 4,
            static_cast<ptrdiff_t>(pixel * s.in_c));
      }
    }
  }
  if (tap % 2 != 0) add(nullptr, b.offsets[tap - 1]);
  b.pairs = tap / 2;
}

// Computes a tile. address(pixel, tap): where the 16 bytes of a tap are.
template <int kPixels, class F>
QRT_INLINE void compute(const Block& b, const F& address, uint8_t* out, size_t out_step) {
  v128_t acc[kPixels][4];
  QRT_UNROLL
  for (int x = 0; x < kPixels; ++x) {
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) acc[x][q] = wasm_v128_load(b.args->bias + b.c + 4 * q);
  }
  for (size_t pair = 0; pair < b.pairs; ++pair) {
    v128_t w[4];
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) w[q] = wasm_v128_load(b.weights + pair * 32 + q * 8);
    QRT_UNROLL
    for (int x = 0; x < kPixels; ++x) {
      const v128_t even = wasm_v128_load(address(x, 2 * pair));
      const v128_t odd = wasm_v128_load(address(x, 2 * pair + 1));
      const v128_t low =
          wasm_i8x16_shuffle(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const v128_t high = wasm_i8x16_shuffle(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                             29, 14, 30, 15, 31);
      const v128_t data[4] = {wasm_u16x8_extend_low_u8x16(low), wasm_u16x8_extend_high_u8x16(low),
                              wasm_u16x8_extend_low_u8x16(high),
                              wasm_u16x8_extend_high_u8x16(high)};
      QRT_UNROLL
      for (int q = 0; q < 4; ++q)
        acc[x][q] = wasm_i32x4_add(acc[x][q], wasm_i32x4_dot_i16x8(data[q], w[q]));
    }
  }
  QRT_UNROLL
  for (int x = 0; x < kPixels; ++x) b.store->pixel(acc[x], out + static_cast<size_t>(x) * out_step);
}

void compute_row(const Block& b, size_t y) {
  const DepthwiseArgs& args = *b.args;
  const DepthwiseShape& s = args.shape;
  // Wraps to a huge number above and left of the image.
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
      for (size_t ky = 0; ky < s.kernel_h; ++ky) {
        const size_t row = iy + ky * s.dilation_h;
        for (size_t kx = 0; kx < s.kernel_w; ++kx) {
          const size_t column = ix + kx * s.dilation_w;
          const bool inside = row < s.in_h && column < s.in_w;
          taps[tap++] = (inside ? args.input + (row * s.in_w + column) * s.in_c : args.zero) + b.c;
        }
      }
    }
    if (tap % 2 != 0) taps[tap] = taps[tap - 1];
    compute<1>(
        b, [&](int, size_t t) QRT_INLINE_LAMBDA { return taps[t]; }, out, s.in_c);
    ++x;
    out += s.in_c;
  }
}

}  // namespace

void depthwise_u8s8_wasm128(const DepthwiseArgs& args) {
  const DepthwiseShape& s = args.shape;
  if (s.multiplier != 1 || s.products() >= kMostTaps) return depthwise_u8s8_scalar(args);
  DepthwiseStore store(args);
  Block b;
  b.args = &args;
  b.store = &store;
  for (size_t y = args.row_begin; y < args.row_end; y += kStripRows) {
    const size_t end = args.row_end - y < kStripRows ? args.row_end : y + kStripRows;
    for (b.c = 0; b.c < s.in_c; b.c += 16) {
      store.set_channels(b.c);
      set_weights(b);
      for (size_t row = y; row < end; ++row) compute_row(b, row);
    }
  }
}

}  // namespace qrt
