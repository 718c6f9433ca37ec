// SPDX-License-Identifier: Apache-2.0
// The skeleton of gemm.h's kernels. A file gemm_<isa>.cc gives the policy `Lanes`: kPanel floats with
// zero(), load(p), store(p), plus(v), and fma(w, x): this + w * x rounded once; kRows rows and kPanels
// panels of a tile whose sums stay in its registers. Everything has internal linkage.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_GEMM_TILE_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_GEMM_TILE_H_

#include "converter/quantize/float/gemm.h"
#include "kernels/isa/inline.h"

namespace qrt::quantize {
namespace {

template <class L, int R, int P>
QRT_INLINE void sub_tile(const float* a, const float* b, size_t b_stride, size_t k, float* c,
                         size_t ldc) {
  L sum[R][P];
  QRT_UNROLL
  for (int r = 0; r < R; ++r) {
    QRT_UNROLL
    for (int p = 0; p < P; ++p) sum[r][p] = L::zero();
  }
  for (size_t i = 0; i < k; ++i) {
    L column[P];
    QRT_UNROLL
    for (int p = 0; p < P; ++p)
      column[p] = L::load(b + static_cast<size_t>(p) * b_stride + i * kPanel);
    QRT_UNROLL
    for (int r = 0; r < R; ++r) {
      QRT_UNROLL
      for (int p = 0; p < P; ++p)
        sum[r][p].fma(a[i * kTileRows + static_cast<size_t>(r)], column[p]);
    }
  }
  QRT_UNROLL
  for (int r = 0; r < R; ++r) {
    QRT_UNROLL
    for (int p = 0; p < P; ++p) {
      float* to = c + static_cast<size_t>(r) * ldc + static_cast<size_t>(p) * kPanel;
      L::load(to).plus(sum[r][p]).store(to);
    }
  }
}

template <class L, int P>
QRT_INLINE void all_rows(const float* a, const float* b, size_t b_stride, size_t k, float* c,
                         size_t ldc) {
  for (size_t r = 0; r < kTileRows; r += L::kRows)
    sub_tile<L, L::kRows, P>(a + r, b, b_stride, k, c + r * ldc, ldc);
}

template <class L>
QRT_INLINE void tile_of(const float* a, const float* b, size_t b_stride, size_t panels, size_t k,
                        float* c, size_t ldc) {
  if constexpr (L::kPanels == 3) {
    if (panels == 3) return all_rows<L, 3>(a, b, b_stride, k, c, ldc);
    if (panels == 2) return all_rows<L, 2>(a, b, b_stride, k, c, ldc);
  }
  for (size_t p = 0; p < panels; ++p)
    all_rows<L, 1>(a, b + p * b_stride, b_stride, k, c + p * kPanel, ldc);
}

template <class L, int P>
QRT_INLINE void lanes(const float* x, const ptrdiff_t* offsets, const float* w, size_t taps,
                      float start, float* y) {
  L sum[P];
  QRT_UNROLL
  for (int p = 0; p < P; ++p) sum[p] = L::zero();
  for (size_t t = 0; t < taps; ++t) {
    QRT_UNROLL
    for (int p = 0; p < P; ++p)
      sum[p].fma(w[t], L::load(x + offsets[t] + p * static_cast<ptrdiff_t>(kPanel)));
  }
  QRT_UNROLL
  for (int p = 0; p < P; ++p) L::all(start).plus(sum[p]).store(y + static_cast<size_t>(p) * kPanel);
}

template <class L>
QRT_INLINE void correlate_of(const float* x, const ptrdiff_t* offsets, const float* w, size_t taps,
                             float start, float* y, size_t n) {
  size_t i = 0;
  for (; i + 3 * kPanel < n; i += 4 * kPanel) lanes<L, 4>(x + i, offsets, w, taps, start, y + i);
  for (; i < n; i += kPanel) lanes<L, 1>(x + i, offsets, w, taps, start, y + i);
}

}  // namespace
}  // namespace qrt::quantize

#define QRT_GEMM_ENTRIES(suffix)                                                          \
  namespace qrt::quantize {                                                               \
  void gemm_tile_##suffix(const float* a, const float* b, size_t b_stride, size_t panels, \
                          size_t k, float* c, size_t ldc);                                \
  void gemm_correlate_##suffix(const float* x, const ptrdiff_t* offsets, const float* w,  \
                               size_t taps, float start, float* y, size_t n);             \
  void gemm_tile_##suffix(const float* a, const float* b, size_t b_stride, size_t panels, \
                          size_t k, float* c, size_t ldc) {                               \
    tile_of<Lanes>(a, b, b_stride, panels, k, c, ldc);                                    \
  }                                                                                       \
  void gemm_correlate_##suffix(const float* x, const ptrdiff_t* offsets, const float* w,  \
                               size_t taps, float start, float* y, size_t n) {            \
    correlate_of<Lanes>(x, offsets, w, taps, start, y, n);                                \
  }                                                                                       \
  }

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_GEMM_TILE_H_
