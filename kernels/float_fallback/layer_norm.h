// One row of LayerNormalization as ONNX Runtime 1.30 computes it on x86-64 with AVX2: the mean from a
// sum in double precision, squares of deviations added up in eight lanes and with fused operations.
// Rows below eight values take Welford's recurrence. For kernel files only.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_LAYER_NORM_H_
#define QRT_KERNELS_FLOAT_FALLBACK_LAYER_NORM_H_

#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// a * b + c with one rounding.
QRT_INLINE float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  // The product is exact. Its sum, rounded to odd, becomes the same float as the exact one: the error
  // of the sum says which way.
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  double sum = product + addend;
  const double taken = sum - product;
  const double error = (product - (sum - taken)) + (addend - taken);
  uint64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  if ((error > 0 || error < 0) && (bits & 1) == 0) {
    bits += (error > 0) == (sum > 0) ? uint64_t{1} : ~uint64_t{0};
    __builtin_memcpy(&sum, &bits, sizeof bits);
  }
  return static_cast<float>(sum);
#endif
}

inline float mean_of(const float* x, size_t n) {
  double lanes[4] = {};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    QRT_UNROLL
    for (size_t k = 0; k < 4; ++k) lanes[k] += static_cast<double>(x[i + k]);
  }
  double sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (; i < n; ++i) sum += static_cast<double>(x[i]);
  return static_cast<float>(sum / static_cast<double>(n));
}

inline float squares_of_deviations(const float* x, float mean, size_t n) {
  float s[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    QRT_UNROLL
    for (size_t k = 0; k < 8; ++k) {
      const float d = x[i + k] - mean;
      s[k] = fused(d, d, s[k]);
    }
  }
  float sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  // Of what is left, four at once have squares of their own.
  if (i + 4 <= n)
    for (const size_t end = i + 4; i < end; ++i) {
      const float d = x[i] - mean;
      sum = sum + d * d;
    }
  for (; i < n; ++i) {
    const float d = x[i] - mean;
    sum = fused(d, d, sum);
  }
  return sum;
}

inline void layer_norm_of_few(float epsilon, const float* x, const float* scale, const float* bias,
                              float* y, size_t n) {
  float mean = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) {
    const float d = x[i] - mean;
    mean = mean + d / static_cast<float>(i + 1);
    squares = squares + d * (x[i] - mean);
  }
  const float deviation = __builtin_sqrtf(squares / static_cast<float>(n) + epsilon);
  for (size_t i = 0; i < n; ++i) {
    const float v = (x[i] - mean) / deviation * scale[i];
    y[i] = canonical(bias == nullptr ? v : v + bias[i]);
  }
}

inline void layer_norm(float epsilon, const float* x, const float* scale, const float* bias,
                       float* y, size_t n) {
  if (n < 8) return layer_norm_of_few(epsilon, x, scale, bias, y, n);
  const float mean = mean_of(x, n);
  const float variance = squares_of_deviations(x, mean, n) / static_cast<float>(n);
  const float inverse = 1.0f / __builtin_sqrtf(variance + epsilon);
  if (bias == nullptr)
    for (size_t i = 0; i < n; ++i) y[i] = canonical((x[i] - mean) * inverse * scale[i]);
  else
    for (size_t i = 0; i < n; ++i)
      y[i] = canonical(fused((x[i] - mean) * inverse, scale[i], bias[i]));
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_LAYER_NORM_H_
