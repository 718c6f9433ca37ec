// SPDX-License-Identifier: Apache-2.0
// Matrix products whose every step is fused, in the order of k (FloatKernel::fused_product). For kernel files
// only: everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_FUSED_PRODUCT_H_
#define QRT_KERNELS_FLOAT_FALLBACK_FUSED_PRODUCT_H_

#include "kernels/float_fallback/float_fallback.h"
#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// Multiplies MR rows by NV vectors of columns: the sums stay in registers over k.
template <int MR, int NV>
QRT_INLINE void fused_tile(const FusedProduct& p, const float* a, const float* b, float* y) {
  Floats sums[MR][NV];
  Floats line[NV];
  const auto load_weights = [&](size_t i) QRT_INLINE_LAMBDA {
    QRT_UNROLL
    for (int v = 0; v < NV; ++v)
      line[v] = load(b + i * p.b_stride + static_cast<size_t>(v) * kLanes);
  };
  load_weights(0);
  QRT_UNROLL
  for (int r = 0; r < MR; ++r) {
    const Floats splat = all(a[static_cast<size_t>(r) * p.a_stride]);
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) sums[r][v] = splat * line[v];
  }
  for (size_t i = 1; i < p.k; ++i) {
    load_weights(i);
    QRT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const Floats splat = all(a[static_cast<size_t>(r) * p.a_stride + i]);
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) sums[r][v] = fused_lanes(splat, line[v], sums[r][v]);
    }
  }
  QRT_UNROLL
  for (int r = 0; r < MR; ++r) {
    QRT_UNROLL
    for (int v = 0; v < NV; ++v)
      save(y + static_cast<size_t>(r) * p.y_stride + static_cast<size_t>(v) * kLanes,
           canonical(sums[r][v]));
  }
}

// Multiplies MR rows against fewer columns than a vector has.
template <int MR>
QRT_INLINE void fused_few_columns(const FusedProduct& p, const float* a, const float* b, float* y) {
  Floats sums[MR];
  const Floats first = load_partial(b, p.n);
  QRT_UNROLL
  for (int r = 0; r < MR; ++r) sums[r] = all(a[static_cast<size_t>(r) * p.a_stride]) * first;
  for (size_t i = 1; i < p.k; ++i) {
    const Floats line = load_partial(b + i * p.b_stride, p.n);
    QRT_UNROLL
    for (int r = 0; r < MR; ++r)
      sums[r] = fused_lanes(all(a[static_cast<size_t>(r) * p.a_stride + i]), line, sums[r]);
  }
  QRT_UNROLL
  for (int r = 0; r < MR; ++r)
    save_partial(y + static_cast<size_t>(r) * p.y_stride, canonical(sums[r]), p.n);
}

// MR rows against all columns.
template <int MR, int NV>
inline void fused_rows(const FusedProduct& p, const float* a, const float* b, float* y) {
  size_t j = 0;
  for (; j + NV * kLanes <= p.n; j += NV * kLanes) fused_tile<MR, NV>(p, a, b + j, y + j);
  for (; j + kLanes <= p.n; j += kLanes) fused_tile<MR, 1>(p, a, b + j, y + j);
  // Computes the last columns, some of them a second time.
  if (j < p.n && p.n >= kLanes) return fused_tile<MR, 1>(p, a, b + p.n - kLanes, y + p.n - kLanes);
  if (j < p.n) fused_few_columns<MR>(p, a, b, y);
}

template <int MR, int NV>
inline void fused_in_tiles(const FusedProduct& p, const float* a, size_t rows, const float* b,
                           float* y) {
  size_t r = 0;
  for (; r + MR <= rows; r += MR) fused_rows<MR, NV>(p, a + r * p.a_stride, b, y + r * p.y_stride);
  if (r < rows && rows >= MR) {  // the last rows, some of them once more
    r = rows - MR;
    return fused_rows<MR, NV>(p, a + r * p.a_stride, b, y + r * p.y_stride);
  }
  for (; r < rows; ++r) fused_rows<1, NV>(p, a + r * p.a_stride, b, y + r * p.y_stride);
}

template <int MR, int NV>
inline void fused_product(const FusedProduct& p, const float* a, size_t rows, const float* b,
                          float* y) {
  // Twice the rows keep as many sums in registers, and read b half as often.
  if constexpr (kLanes == 16) {
    if (rows >= 2 * MR) return fused_in_tiles<2 * MR, NV / 2>(p, a, rows, b, y);
  }
  fused_in_tiles<MR, NV>(p, a, rows, b, y);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_FUSED_PRODUCT_H_
