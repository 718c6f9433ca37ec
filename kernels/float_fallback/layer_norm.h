// SPDX-License-Identifier: Apache-2.0
// LayerNormalization as ONNX Runtime 1.30 computes it on x86-64 with AVX2: the mean from a sum in double
// precision in four lanes, squares of deviations added up in eight and with fused operations. Rows side by
// side wait for each other's additions instead of for their own. Rows below eight values take Welford's
// recurrence. For kernel files only.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_LAYER_NORM_H_
#define QRT_KERNELS_FLOAT_FALLBACK_LAYER_NORM_H_

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "kernels/float_fallback/fused.h"
#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

typedef double Doubles __attribute__((vector_size(32)));

// Adds four values. `sum` is a reference, because without AVX clang refuses to return a vector of four doubles.
QRT_INLINE void add_four(const float* x, Doubles& sum) {
#if defined(__AVX__)
  sum += _mm256_cvtps_pd(_mm_loadu_ps(x));
#else
  typedef float Four __attribute__((vector_size(16)));
  Four v;
  __builtin_memcpy(&v, x, sizeof v);
  sum += __builtin_convertvector(v, Doubles);
#endif
}

// Computes the means of R rows of n values.
template <int R>
QRT_INLINE void means_of(const float* x, size_t n, float (&mean)[R]) {
  Doubles lanes[R] = {};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    QRT_UNROLL
    for (int r = 0; r < R; ++r) add_four(x + static_cast<size_t>(r) * n + i, lanes[r]);
  }
  double sum[R];
  QRT_UNROLL
  for (int r = 0; r < R; ++r) {
    sum[r] = (lanes[r][0] + lanes[r][2]) + (lanes[r][1] + lanes[r][3]);
    for (size_t k = i; k < n; ++k) sum[r] += static_cast<double>(x[static_cast<size_t>(r) * n + k]);
  }
  for (int r = 0; r < R; ++r) mean[r] = static_cast<float>(sum[r] / static_cast<double>(n));
}

// Sums in eight lanes, in as many registers as they take.
constexpr size_t kPartLanes = kLanes < 8 ? kLanes : 8;
typedef float HalfLanes __attribute__((vector_size(4 * kPartLanes)));
struct Eight {
  HalfLanes parts[8 / kPartLanes];
};

// Sums the squared deviations of R rows over their whole eights.
template <int R>
QRT_INLINE void square_deviations(const float* x, const float (&mean)[R], size_t n, Eight (&s)[R]) {
  QRT_UNROLL
  for (int r = 0; r < R; ++r) s[r] = Eight{};
  for (size_t i = 0; i + 8 <= n; i += 8) {
    QRT_UNROLL
    for (int r = 0; r < R; ++r) {
      QRT_UNROLL
      for (size_t p = 0; p < 8 / kPartLanes; ++p) {
        HalfLanes d;
        __builtin_memcpy(&d, x + static_cast<size_t>(r) * n + i + p * kPartLanes, sizeof d);
        d = d - mean[r];
        s[r].parts[p] = fused_lanes(d, d, s[r].parts[p]);
      }
    }
  }
}

QRT_INLINE float sum_of(const Eight& eight) {
  float s[8];
  __builtin_memcpy(s, &eight, sizeof s);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Adds the squares of the elements behind the whole eights.
inline float add_other_squares(const float* x, float mean, size_t n, float sum) {
  size_t i = n / 8 * 8;
  // A group of four is added without fused operations, the rest with them.
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

// R rows.
template <int R>
inline void layer_norm(float epsilon, const float* x, const float* scale, const float* bias,
                       float* y, size_t n) {
  if (n < 8) {
    for (size_t at = 0; at < R * n; at += n)
      layer_norm_of_few(epsilon, x + at, scale, bias, y + at, n);
    return;
  }
  float mean[R], inverse[R];
  Eight sums[R];
  means_of(x, n, mean);
  square_deviations(x, mean, n, sums);
  for (int r = 0; r < R; ++r) {
    const size_t at = static_cast<size_t>(r) * n;
    const float squares = add_other_squares(x + at, mean[r], n, sum_of(sums[r]));
    inverse[r] = 1.0f / __builtin_sqrtf(squares / static_cast<float>(n) + epsilon);
  }
  const float* const b = bias == nullptr ? scale : bias;
  for (int r = 0; r < R; ++r, x += n, y += n) {
    const Floats m = all(mean[r]), by = all(inverse[r]);
    const auto put = [&](const float* x, const float* s, const float* b,
                         float* y) QRT_INLINE_LAMBDA {
      const Floats v = (load(x) - m) * by;
      save(y, canonical(bias == nullptr ? v * load(s) : fused_lanes(v, load(s), load(b))));
    };
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) put(x + i, scale + i, b + i, y + i);
    if (i == n) continue;
    float part[3][kLanes] = {};
    const size_t bytes = (n - i) * sizeof(float);
    __builtin_memcpy(part[0], x + i, bytes);
    __builtin_memcpy(part[1], scale + i, bytes);
    __builtin_memcpy(part[2], b + i, bytes);
    put(part[0], part[1], part[2], part[0]);
    __builtin_memcpy(y + i, part[0], bytes);
  }
}

inline void layer_norms(float epsilon, const float* x, const float* scale, const float* bias,
                        float* y, size_t rows, size_t n) {
  constexpr size_t kSideBySide = kLanes < 16 ? 4 : 8;
  if (rows < kSideBySide) {
    for (size_t r = 0; r < rows; ++r) layer_norm<1>(epsilon, x + r * n, scale, bias, y + r * n, n);
    return;
  }
  for (size_t done = 0; done < rows; done += kSideBySide) {
    // The last group of rows, some of them computed once more.
    const size_t r = done + kSideBySide <= rows ? done : rows - kSideBySide;
    layer_norm<kSideBySide>(epsilon, x + r * n, scale, bias, y + r * n, n);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_LAYER_NORM_H_
