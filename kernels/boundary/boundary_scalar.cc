// Quantisation and dequantisation element by element. Float is this family's input or output, so
// the division and the product are the hardware's; the rounding to an integer is soft_float.h's.
#include "kernels/boundary/entry.h"
#include "kernels/soft_float.h"

namespace qrt {
namespace {

uint8_t quantize_one(float x, float scale, int32_t zp, int32_t lo, int32_t hi) {
  const float low = static_cast<float>(lo - zp), high = static_cast<float>(hi - zp);
  float v = x / scale;
  v = v > low ? v : low;  // NaN too
  v = v < high ? v : high;
  return static_cast<uint8_t>(soft::to_int(soft::bits_of(v)) + zp);
}

float dequantize_one(uint8_t x, bool is_signed, float scale, int32_t zp) {
  const int32_t q = is_signed ? static_cast<int8_t>(x) : x;
  return static_cast<float>(q - zp) * scale;
}

}  // namespace

void boundary_quantize_scalar(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                              int32_t hi, uint8_t* y) {
  for (size_t i = 0; i < n; ++i) y[i] = quantize_one(x[i], scale, zp, lo, hi);
}

void boundary_quantize_channels_scalar(const float* x, size_t rows, size_t channels,
                                       const float* scale, const int32_t* zp, int32_t lo,
                                       int32_t hi, uint8_t* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels)
    for (size_t c = 0; c < channels; ++c) y[c] = quantize_one(x[c], scale[c], zp[c], lo, hi);
}

void boundary_dequantize_scalar(const uint8_t* x, bool is_signed, size_t n, float scale, int32_t zp,
                                float* y) {
  for (size_t i = 0; i < n; ++i) y[i] = dequantize_one(x[i], is_signed, scale, zp);
}

void boundary_dequantize_channels_scalar(const uint8_t* x, bool is_signed, size_t rows,
                                         size_t channels, const float* scale, const int32_t* zp,
                                         float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels)
    for (size_t c = 0; c < channels; ++c) y[c] = dequantize_one(x[c], is_signed, scale[c], zp[c]);
}

void boundary_dequantize_i32_scalar(const int32_t* x, size_t rows, size_t channels,
                                    const float* scale, float* y) {
  for (size_t r = 0; r < rows; ++r, x += channels, y += channels)
    for (size_t c = 0; c < channels; ++c) y[c] = static_cast<float>(x[c]) * scale[c];
}

}  // namespace qrt
