// SPDX-License-Identifier: Apache-2.0
// Sums of elements times weights along one dimension (FloatKernel::weigh, weigh_lines). For kernel files only:
// everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_WEIGHTED_H_
#define QRT_KERNELS_FLOAT_FALLBACK_WEIGHTED_H_

#include "kernels/float_fallback/float_fallback.h"
#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// Returns kLanes elements of x times their weights.
QRT_INLINE Floats weighed_lanes(const float* x, const int32_t* indices, const float* weights) {
  Floats elements = {};
  QRT_UNROLL
  for (size_t lane = 0; lane < kLanes; ++lane) elements[lane] = x[indices[lane]];
  return elements * load(weights);
}

// Computes outputs i to i + kLanes. Adding -0, where an output has no more terms, changes no number.
QRT_INLINE void weigh_lanes(const FloatWeights& p, const float* x, size_t i, float* y) {
  Ints counts;
  __builtin_memcpy(&counts, p.counts + i, sizeof counts);
  Floats sum = weighed_lanes(x, p.indices + i, p.weights + i);
  for (size_t t = 1; t < p.taps; ++t) {
    const size_t at = t * p.n + i;
    const Floats product = weighed_lanes(x, p.indices + at, p.weights + at);
    sum = sum + (counts > static_cast<int32_t>(t) ? product : all(-0.0f));
  }
  save(y + i, canonical(counts > 0 ? sum : Floats{}));
}

inline void weigh(const FloatWeights& p, const float* x, float* y) {
  size_t i = 0;
  for (; i + kLanes <= p.n; i += kLanes) weigh_lanes(p, x, i, y);
  // Computes the last outputs, some of them a second time.
  if (i < p.n && p.n >= kLanes) return weigh_lanes(p, x, p.n - kLanes, y);
  for (; i < p.n; ++i) {
    float sum = 0;
    for (int32_t t = 0; t < p.counts[i]; ++t) {
      const size_t at = static_cast<size_t>(t) * p.n + i;
      const float product = x[p.indices[at]] * p.weights[at];
      sum = t == 0 ? product : sum + product;
    }
    y[i] = canonical(sum);
  }
}

template <int NV>
QRT_INLINE void weigh_line_tile(const FloatTaps& p, const float* x, float* y) {
  Floats sums[NV];
  for (size_t t = 0; t < p.count; ++t) {
    const Floats weight = all(p.weights[t]);
    const float* const from = x + p.offsets[t];
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) {
      const Floats product = load(from + static_cast<size_t>(v) * kLanes) * weight;
      sums[v] = t == 0 ? product : sums[v] + product;
    }
  }
  QRT_UNROLL
  for (int v = 0; v < NV; ++v) save(y + static_cast<size_t>(v) * kLanes, canonical(sums[v]));
}

inline void weigh_lines(const FloatTaps& p, const float* x, size_t n, float* y) {
  constexpr int kVectors = 4;
  size_t j = 0;
  for (; j + kVectors * kLanes <= n; j += kVectors * kLanes)
    weigh_line_tile<kVectors>(p, x + j, y + j);
  for (; j + kLanes <= n; j += kLanes) weigh_line_tile<1>(p, x + j, y + j);
  // Computes the last outputs, some of them a second time.
  if (j < n && n >= kLanes) return weigh_line_tile<1>(p, x + n - kLanes, y + n - kLanes);
  for (; j < n; ++j) {
    float sum = x[p.offsets[0] + j] * p.weights[0];
    for (size_t t = 1; t < p.count; ++t) {
      const float product = x[p.offsets[t] + j] * p.weights[t];
      sum = sum + product;
    }
    y[j] = canonical(sum);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_WEIGHTED_H_
