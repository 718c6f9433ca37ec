// SPDX-License-Identifier: Apache-2.0
// Sums over the positions of a window of one plane, by fours (FloatKernel::sum_taps). For kernel files only:
// everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_TAPS_H_
#define QRT_KERNELS_FLOAT_FALLBACK_TAPS_H_

#include "kernels/float_fallback/float_fallback.h"
#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// Adds `count` products from tap t on to the sums of NV vectors at x.
template <int count, int NV>
QRT_INLINE void add_taps(const FloatTaps& p, const float* x, size_t t, Floats (&sums)[NV]) {
  Floats products[NV];
  QRT_UNROLL
  for (int q = 0; q < count; ++q) {
    const size_t tap = t + static_cast<size_t>(q);
    const Floats weight = all(p.weights[tap]);
    const float* const from = x + p.offsets[tap];
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) {
      const Floats product = weight * load(from + static_cast<size_t>(v) * kLanes);
      products[v] = q == 0 ? product : products[v] + product;
    }
  }
  QRT_UNROLL
  for (int v = 0; v < NV; ++v) sums[v] = products[v] + sums[v];
}

template <int NV>
QRT_INLINE void taps_tile(const FloatTaps& p, const float* x, float* y) {
  Floats sums[NV] = {};
  size_t t = 0;
  for (; t + 4 <= p.count; t += 4) add_taps<4>(p, x, t, sums);
  if (t + 2 <= p.count) {
    add_taps<2>(p, x, t, sums);
    t += 2;
  }
  if (t < p.count) add_taps<1>(p, x, t, sums);
  const Floats bias = all(p.bias);
  QRT_UNROLL
  for (int v = 0; v < NV; ++v) save(y + static_cast<size_t>(v) * kLanes, canonical(sums[v] + bias));
}

// Computes one output, where there are fewer than a vector has.
inline float taps_of_one(const FloatTaps& p, const float* x) {
  float y = 0;
  size_t t = 0;
  const auto product = [&](size_t at) { return p.weights[at] * x[p.offsets[at]]; };
  for (; t + 4 <= p.count; t += 4)
    y = (((product(t) + product(t + 1)) + product(t + 2)) + product(t + 3)) + y;
  if (t + 2 <= p.count) {
    y = (product(t) + product(t + 1)) + y;
    t += 2;
  }
  if (t < p.count) y = product(t) + y;
  return canonical(y + p.bias);
}

inline void sum_taps(const FloatTaps& p, const float* x, size_t n, float* y) {
  constexpr int kVectors = 4;
  size_t j = 0;
  for (; j + kVectors * kLanes <= n; j += kVectors * kLanes) taps_tile<kVectors>(p, x + j, y + j);
  for (; j + kLanes <= n; j += kLanes) taps_tile<1>(p, x + j, y + j);
  // Computes the last outputs, some of them a second time.
  if (j < n && n >= kLanes) return taps_tile<1>(p, x + n - kLanes, y + n - kLanes);
  for (; j < n; ++j) y[j] = taps_of_one(p, x + j);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_TAPS_H_
