// SPDX-License-Identifier: Apache-2.0
#include "kernels/edge/half_up.h"

namespace qrt {
namespace {

// Quantises half up. The sum is limited before it becomes an integer: the limits are integers, so
// floor() keeps what lies above them.
template <class T>
void quantize(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi, T* y) {
  const float low = static_cast<float>(lo - zp), high = static_cast<float>(hi - zp);
  for (size_t i = 0; i < n; ++i) {
    float v = x[i] / scale + 0.5f;
    v = v > low ? v : low;  // NaN too
    v = v < high ? v : high;
    const int32_t whole = static_cast<int32_t>(v);
    y[i] = static_cast<T>(whole - (static_cast<float>(whole) > v ? 1 : 0) + zp);
  }
}

}  // namespace

void quantize_half_up(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                      uint8_t* y) {
  quantize(x, n, scale, zp, lo, hi, y);
}

void quantize16_half_up(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        uint16_t* y) {
  quantize(x, n, scale, zp, lo, hi, y);
}

}  // namespace qrt
