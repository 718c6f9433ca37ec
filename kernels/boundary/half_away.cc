// Quantisation that rounds half away from zero, as TFLite does: one form for every instruction set,
// in blocks that compilers make vectors of.
#include "kernels/boundary/boundary.h"

namespace qrt {
namespace {

// The fraction of v less its integer part is exact.
template <class T>
inline T quantize_one(float x, float scale, float low, float high, int32_t zp) {
  float v = x / scale;
  v = v > low ? v : low;  // NaN too
  v = v < high ? v : high;
  const int32_t whole = static_cast<int32_t>(v);
  const float rest = v - static_cast<float>(whole);
  const int32_t up = rest >= 0.5f ? 1 : 0, down = rest <= -0.5f ? 1 : 0;
  return static_cast<T>(whole + up - down + zp);
}

template <class T>
inline void quantize_blocks(const float* x, size_t n, float scale, int32_t zp, int32_t lo,
                            int32_t hi, T* y) {
  constexpr size_t kBlock = 32;
  const float low = static_cast<float>(lo - zp), high = static_cast<float>(hi - zp);
  size_t i = 0;
  for (; i + kBlock <= n; i += kBlock)
    for (size_t k = 0; k < kBlock; ++k) y[i + k] = quantize_one<T>(x[i + k], scale, low, high, zp);
  for (; i < n; ++i) y[i] = quantize_one<T>(x[i], scale, low, high, zp);
}

}  // namespace

void quantize_half_away(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        uint8_t* y) {
  quantize_blocks(x, n, scale, zp, lo, hi, y);
}

void quantize_half_away(const float* x, size_t n, float scale, int32_t zp, int32_t lo, int32_t hi,
                        int16_t* y) {
  quantize_blocks(x, n, scale, zp, lo, hi, y);
}

}  // namespace qrt
