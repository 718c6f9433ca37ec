// SPDX-License-Identifier: Apache-2.0
// The normative definition of nbits-seq: products of float32 activations, quantised block by block, with weights
// in blocks. Integers, and single operations of IEEE 754 in the order written; the tests compare with ==.
//
// A block holds `count` activations of a row, as many as a block of weights along k, the last one fewer. With
// m = max |x|:
//   scale = fl(m / 127)    q = half even(fl(x * fl(127 / m)))    sum = sum of q
// ONNX Runtime's MatMulNBits of accuracy_level 4 quantises in this way. Where 127 / m is no finite number, which m
// below 3.8e-37 give, scale and q are 0; where an x is infinite or a NaN, scale is NaN and q 0.
//
// An output begins with acc = 0. For every block, in their order,
//   dot = sum of q * u - zero point * sum of q    (exact)
//   acc = fl(acc + fl(f(dot) * fl(scale * scale of the weights)))
// and after the last one fl(acc + bias), where there is a bias. A NaN becomes 0x7fc00000.
// |dot| is at most 256 * 127 * 510 < 2^24, so that f(dot) is exact.
#ifndef QRT_KERNELS_NBITS_SEQ_H_
#define QRT_KERNELS_NBITS_SEQ_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace qrt {

struct NBitsBlock {
  float scale;
  int32_t sum;
};

// REQUIRES: rounding to nearest even.
inline NBitsBlock nbits_quantize(const float* x, size_t count, int8_t* q) {
  float most = 0;
  bool is_finite = true;
  for (size_t i = 0; i < count; ++i) {
    is_finite = is_finite && std::isfinite(x[i]);
    if (std::fabs(x[i]) > most) most = std::fabs(x[i]);
  }
  const float inverse = 127.0f / most;
  NBitsBlock block = {is_finite ? most / 127.0f : std::numeric_limits<float>::quiet_NaN(), 0};
  const bool is_zero = !is_finite || !std::isfinite(inverse);
  if (is_finite && is_zero) block.scale = 0;
  for (size_t i = 0; i < count; ++i) {
    q[i] = is_zero ? int8_t{0} : static_cast<int8_t>(std::nearbyint(x[i] * inverse));
    block.sum += q[i];
  }
  return block;
}

inline float nbits_add(float acc, int32_t dot, float scale, float w_scale) {
  const float both = scale * w_scale;
  const float term = static_cast<float>(dot) * both;
  return acc + term;
}

inline float nbits_end(float acc, const float* bias) {
  const float y = bias != nullptr ? acc + *bias : acc;
  return std::isnan(y) ? std::numeric_limits<float>::quiet_NaN() : y;
}

}  // namespace qrt

#endif  // QRT_KERNELS_NBITS_SEQ_H_
