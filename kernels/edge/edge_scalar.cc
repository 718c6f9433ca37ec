// SPDX-License-Identifier: Apache-2.0
// Quantisation and dequantisation element by element. Float is this family's input or output, so
// the division and the product are the hardware's; the rounding to an integer is soft_float.h's.
#include "kernels/edge/entry.h"
#include "kernels/soft_float.h"

namespace qrt {
namespace {

float clamped(float v, int32_t zp, int32_t lo, int32_t hi) {
  const float low = static_cast<float>(lo - zp), high = static_cast<float>(hi - zp);
  v = v > low ? v : low;  // NaN too
  return v < high ? v : high;
}

int32_t quantized(float v, int32_t zp, int32_t lo, int32_t hi) {
  return static_cast<int32_t>(soft::to_int(soft::bits_of(clamped(v, zp, lo, hi)))) + zp;
}

// Quantises, half away from zero. The fraction of v less its integer part is exact.
int32_t quantized_away(float v, int32_t zp, int32_t lo, int32_t hi) {
  v = clamped(v, zp, lo, hi);
  const int32_t whole = static_cast<int32_t>(v);
  const float rest = v - static_cast<float>(whole);
  return whole + (rest >= 0.5f ? 1 : 0) - (rest <= -0.5f ? 1 : 0) + zp;
}

uint8_t quantize_one(float x, float scale, int32_t zp, int32_t lo, int32_t hi) {
  return static_cast<uint8_t>(quantized(x / scale, zp, lo, hi));
}

// Returns the index of element i's entry in the grid.
size_t at(const EdgeGrid& g, size_t i) { return g.each ? i : 0; }

float dequantize_one(uint8_t x, bool is_signed, float scale, int32_t zp) {
  const int32_t q = is_signed ? static_cast<int8_t>(x) : x;
  return static_cast<float>(q - zp) * scale;
}

}  // namespace

void edge_quantize_scalar(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                          uint8_t* y) {
  for (size_t i = 0; i < n; ++i) y[i] = quantize_one(x[i], scale, zp, lo, hi);
}

void edge_quantize_away_scalar(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                               int32_t hi, uint8_t* y) {
  for (size_t i = 0; i < n; ++i)
    y[i] = static_cast<uint8_t>(quantized_away(x[i] / scale, zp, lo, hi));
}

void edge_quantize_channels_scalar(const float* x, size_t rows, size_t channels, const float* scale,
                                   const int32_t* zp, int32_t lo, int32_t hi, uint8_t* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels)
    for (size_t c = 0; c < channels; ++c) y[c] = quantize_one(x[c], scale[c], zp[c], lo, hi);
}

void edge_dequantize_scalar(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                            float* y) {
  for (size_t i = 0; i < n; ++i) y[i] = dequantize_one(x[i], is_signed, scale, zp);
}

void edge_dequantize_channels_scalar(const uint8_t* x, bool is_signed, size_t rows, size_t channels,
                                     const float* scale, const int32_t* zp, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels)
    for (size_t c = 0; c < channels; ++c) y[c] = dequantize_one(x[c], is_signed, scale[c], zp[c]);
}

void edge_dequantize_i32_scalar(const int32_t* x, size_t rows, size_t channels, const float* scale,
                                float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels)
    for (size_t c = 0; c < channels; ++c) y[c] = static_cast<float>(x[c]) * scale[c];
}

void edge_quantize16_scalar(const float* x, size_t n, const EdgeGrid& g, int32_t lo, int32_t hi,
                            uint16_t* y) {
  for (size_t i = 0; i < n; ++i)
    y[i] =
        static_cast<uint16_t>(quantized(x[i] / g.scale[at(g, i)], g.zero_point[at(g, i)], lo, hi));
}

void edge_quantize16_away_scalar(const float* x, size_t n, const EdgeGrid& g, int32_t lo,
                                 int32_t hi, uint16_t* y) {
  for (size_t i = 0; i < n; ++i) {
    const float v = x[i] / g.scale[at(g, i)];
    y[i] = static_cast<uint16_t>(quantized_away(v, g.zero_point[at(g, i)], lo, hi));
  }
}

void edge_dequantize16_scalar(const uint16_t* x, bool is_signed, size_t n, const EdgeGrid& g,
                              float* y) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t q = is_signed ? static_cast<int16_t>(x[i]) : x[i];
    y[i] = static_cast<float>(q - g.zero_point[at(g, i)]) * g.scale[at(g, i)];
  }
}

void edge_encode_scalar(const float* x, size_t n, const EdgeGrid& g, const SmallFloat& f,
                        uint8_t* y) {
  for (size_t i = 0; i < n; ++i) y[i] = float_to_small(f, x[i] / g.scale[at(g, i)]);
}

void edge_quantize_half_scalar(const uint16_t* x, size_t n, float scale, int32_t zp, int32_t lo,
                               int32_t hi, int32_t offset, uint8_t* y) {
  for (size_t i = 0; i < n; ++i) {
    const float v = half_to_float(x[i]) / scale;
    const bool has_int32 = v >= -2147483648.0f && v < 2147483648.0f;
    const int32_t q = has_int32 ? quantized(v, zp, lo, hi) : zp < 0 ? hi : lo;
    y[i] = static_cast<uint8_t>(q + offset);
  }
}

void edge_dequantize_half_scalar(const uint8_t* x, bool is_signed, size_t n, float scale,
                                 int32_t zp, uint16_t* y) {
  for (size_t i = 0; i < n; ++i) y[i] = float_to_half(dequantize_one(x[i], is_signed, scale, zp));
}

void edge_widen_half_scalar(const uint16_t* x, size_t n, float* y) {
  for (size_t i = 0; i < n; ++i) y[i] = half_to_float(x[i]);
}

void edge_narrow_half_scalar(const float* x, size_t n, uint16_t* y) {
  for (size_t i = 0; i < n; ++i) y[i] = float_to_half(x[i]);
}

void edge_extremes_scalar(const float* x, size_t n, float* least, float* most) {
  for (size_t i = 0; i < n; ++i) {
    if (x[i] < *least) *least = x[i];
    if (x[i] > *most) *most = x[i];
  }
}

void edge_quantize_by_scalar(const float* x, size_t n, const HybridScale& scale, uint8_t* y) {
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<uint8_t>(128 + hybrid_code(x[i], scale));
}

void edge_store_sums_scalar(const SumStore& s) {
  const int32_t* sums = s.sums;
  float* y = s.y;
  for (size_t r = 0; r < s.rows; ++r, sums += s.channels, y += s.channels) {
    const float x_scale = s.x_scale[r * s.x_step];
    const uint32_t zero = s.zero_point != nullptr ? s.zero_point[r] : 0;
    for (size_t c = 0; c < s.channels; ++c) {
      const uint32_t offset = zero != 0 ? zero * static_cast<uint32_t>(s.weight_sum[c]) : 0;
      const auto acc =
          static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(sums[c]) - offset));
      float v;
      if (s.weights_first) {
        v = acc * s.w_scale[c];
        v = v * x_scale;
      } else {
        const float factor = x_scale * s.w_scale[c];
        v = acc * factor;
      }
      v = v + s.addend[c];
      v = v < s.lo ? s.lo : v;
      v = v > s.hi ? s.hi : v;
      y[c] = v == v ? v : float_of_bits(0x7fc00000);
    }
  }
}

}  // namespace qrt
