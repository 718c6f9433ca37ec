// SPDX-License-Identifier: Apache-2.0
// Depthwise layers of int16: blocks of channels in loops that compilers make vectors of, compiled
// once for each instruction set with the combine() of its row of gemm/digits.inc. For
// depthwise_int16_<isa>.cc only; everything here is local to the including file.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_VECTORS_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_VECTORS_H_

#include "kernels/depthwise/int16_entry.h"
#include "kernels/gemm/digits_entry.h"

namespace qrt {
namespace {

constexpr size_t kChannels = 64;

inline void add_products(const int16_t* x, const int16_t* weights, size_t n, int32_t* acc) {
  for (size_t i = 0; i < n; ++i) acc[i] += x[i] * weights[i];
}

inline void depthwise_int16(const DepthwiseInt16Args& p, void (*combine_row)(const CombineArgs&)) {
  const DepthwiseShape& s = p.shape;
  const size_t channels = s.in_c * s.multiplier;
  for (size_t row = p.row_begin; row < p.row_end; ++row) {
    for (size_t col = 0; col < s.out_w; ++col) {
      for (size_t c = 0; c < channels; c += kChannels) {
        const size_t n = channels - c < kChannels ? channels - c : kChannels;
        int32_t acc[kChannels] = {}, upper[kChannels] = {};
        size_t at = c;
        for (size_t ky = 0; ky < s.kernel_h; ++ky) {
          // Positions before the image wrap around to values beyond its size.
          const size_t y = row * s.stride_h + ky * s.dilation_h - s.pad_top;
          for (size_t kx = 0; kx < s.kernel_w; ++kx, at += channels) {
            const size_t x = col * s.stride_w + kx * s.dilation_w - s.pad_left;
            const bool inside = y < s.in_h && x < s.in_w;
            const int16_t* pixel = inside ? p.input + (y * s.in_w + x) * s.in_c : p.padding;
            int16_t repeated[kChannels];
            if (s.multiplier == 1) {
              pixel += c;
            } else {
              for (size_t i = 0; i < n; ++i) repeated[i] = pixel[(c + i) / s.multiplier];
              pixel = repeated;
            }
            add_products(pixel, p.weights + at, n, acc);
            if (p.upper_weights) add_products(pixel, p.upper_weights + at, n, upper);
          }
        }
        CombineArgs args = p.combine;
        args.high = p.upper_weights ? upper : nullptr;
        args.low = acc;
        args.rows = 1;
        args.n = n;
        args.stride = kChannels;
        args.channel = c;
        args.y = p.output + (row * s.out_w + col) * channels + c;
        combine_row(args);
      }
    }
  }
}

}  // namespace
}  // namespace qrt

// The entry point of a row.
#define QRT_VECTOR_ROW(suffix)                                    \
  void depthwise_int16_##suffix(const DepthwiseInt16Args& args) { \
    depthwise_int16(args, digits_combine_##suffix);               \
  }

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_VECTORS_H_
