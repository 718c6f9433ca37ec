// SPDX-License-Identifier: Apache-2.0
// The depthwise kernel for every shape and every machine, in integers only.
#include "kernels/depthwise/depthwise.h"

namespace qrt {
namespace {

// Adds pixel[(c + i) / multiplier] * quads[i][row] to acc[i]; `quads` holds 16 channels x 4 rows.
void accumulate(const uint8_t* pixel, const int8_t* quads, size_t row, size_t c, size_t multiplier,
                uint32_t acc[16]) {
  if (multiplier == 1) {
    for (size_t i = 0; i < 16; ++i)
      acc[i] += static_cast<uint32_t>(pixel[c + i] * quads[i * 4 + row]);
    return;
  }
  size_t source = c / multiplier, rest = c % multiplier;
  for (size_t i = 0; i < 16; ++i) {
    acc[i] += static_cast<uint32_t>(pixel[source] * quads[i * 4 + row]);
    if (++rest == multiplier) {
      rest = 0;
      ++source;
    }
  }
}

// Channels c..c+15 of output pixel (y, x).
void compute(const DepthwiseArgs& args, size_t y, size_t x, size_t c, uint32_t acc[16]) {
  const DepthwiseShape& s = args.shape;
  const size_t quads = (s.kernel_h + 3) / 4, block_bytes = quads * s.kernel_w * 64;
  const size_t term_bytes = (s.in_c * s.multiplier + 15) / 16 * block_bytes;
  const int8_t* weights = args.weights + c / 16 * block_bytes;
  for (size_t term = 0; term < s.terms; ++term, weights += term_bytes) {
    for (size_t ky = 0; ky < s.kernel_h; ++ky) {
      // Wraps to a huge number above and left of the image.
      const size_t iy = y * s.stride_h + ky * s.dilation_h - s.pad_top;
      for (size_t kx = 0; kx < s.kernel_w; ++kx) {
        const size_t ix = x * s.stride_w + kx * s.dilation_w - s.pad_left;
        const bool inside = iy < s.in_h && ix < s.in_w;
        const uint8_t* pixel = inside ? args.input + (iy * s.in_w + ix) * s.in_c : args.zero;
        accumulate(pixel, weights + (ky / 4 * s.kernel_w + kx) * 64, ky % 4, c, s.multiplier, acc);
      }
    }
  }
}

}  // namespace

void depthwise_u8s8_scalar(const DepthwiseArgs& args) {
  const DepthwiseShape& s = args.shape;
  const size_t channels = s.in_c * s.multiplier;
  for (size_t y = args.row_begin; y < args.row_end; ++y) {
    for (size_t x = 0; x < s.out_w; ++x) {
      uint8_t* out = args.output + (y * s.out_w + x) * channels;
      for (size_t c = 0; c < channels; c += 16) {
        uint32_t acc[16];
        for (size_t i = 0; i < 16; ++i) acc[i] = static_cast<uint32_t>(args.bias[c + i]);
        compute(args, y, x, c, acc);
        const size_t n = channels - c < 16 ? channels - c : 16;
        for (size_t i = 0; i < n; ++i)
          out[c + i] =
              static_cast<uint8_t>(requantize(args.requant, static_cast<int32_t>(acc[i]), c + i));
      }
    }
  }
}

}  // namespace qrt
