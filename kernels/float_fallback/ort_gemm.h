// SPDX-License-Identifier: Apache-2.0
// Sums of products in the three orders of ONNX Runtime's float Gemm on x86-64 (OrtGemmOrder of
// float_fallback.h). For kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_ORT_GEMM_H_
#define QRT_KERNELS_FLOAT_FALLBACK_ORT_GEMM_H_

#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// The operand and sizes that all rows of a call share.
struct OrtMatrix {
  const float* b;
  size_t k, n, block;
  float alpha;
  size_t b_stride, y_stride;  // of kBlocks

  const float* row(size_t i) const { return b + i * b_stride; }
};

// An OrtMatrix in the order kBlocks, whose rows of b begin offsets[i] floats from `b`.
struct ListedMatrix : OrtMatrix {
  const size_t* offsets;

  const float* row(size_t i) const { return b + offsets[i]; }
};

// kBlocks of one element.
template <class Matrix>
inline float blocks_of(const Matrix& m, const float* a, size_t j, float y) {
  for (size_t begin = 0; begin < m.k; begin += m.block) {
    const size_t end = m.k - begin < m.block ? m.k : begin + m.block;
    float sum = 0;
    for (size_t i = begin; i < end; ++i) sum = fused(a[i], m.row(i)[j], sum);
    y = fused(sum, m.alpha, y);
  }
  return y;
}

// Multiplies in the order kBlocks: MR rows by NV vectors of columns from j on. A block's sums stay
// in registers.
template <int MR, int NV, class Matrix>
QRT_INLINE void blocks_tile(const Matrix& m, const float* a, size_t j, const float* bias,
                            size_t bias_step, float* y) {
  for (size_t begin = 0; begin < m.k; begin += m.block) {
    const size_t end = m.k - begin < m.block ? m.k : begin + m.block;
    Floats sums[MR][NV] = {};
    for (size_t i = begin; i < end; ++i) {
      Floats line[NV];
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) line[v] = load(m.row(i) + j + static_cast<size_t>(v) * kLanes);
      QRT_UNROLL
      for (int r = 0; r < MR; ++r) {
        const Floats splat = all(a[static_cast<size_t>(r) * m.k + i]);
        QRT_UNROLL
        for (int v = 0; v < NV; ++v) sums[r][v] = fused_lanes(splat, line[v], sums[r][v]);
      }
    }
    QRT_UNROLL
    for (int r = 0; r < MR; ++r) {
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) {
        const size_t row = static_cast<size_t>(r), at = j + static_cast<size_t>(v) * kLanes;
        const Floats before =
            load(begin == 0 ? bias + row * bias_step + at : y + row * m.y_stride + at);
        save(y + row * m.y_stride + at, canonical(fused_lanes(sums[r][v], all(m.alpha), before)));
      }
    }
  }
}

// Multiplies in the order kBlocks: MR rows by all columns, fewer than a vector has.
template <int MR, class Matrix>
QRT_INLINE void blocks_few_columns(const Matrix& m, const float* a, const float* bias,
                                   size_t bias_step, float* y) {
  for (size_t begin = 0; begin < m.k; begin += m.block) {
    const size_t end = m.k - begin < m.block ? m.k : begin + m.block;
    Floats sums[MR] = {};
    for (size_t i = begin; i < end; ++i) {
      const Floats line = load_partial(m.row(i), m.n);
      QRT_UNROLL
      for (int r = 0; r < MR; ++r)
        sums[r] = fused_lanes(all(a[static_cast<size_t>(r) * m.k + i]), line, sums[r]);
    }
    QRT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const size_t row = static_cast<size_t>(r);
      float* const to = y + row * m.y_stride;
      const Floats before = load_partial(begin == 0 ? bias + row * bias_step : to, m.n);
      save_partial(to, canonical(fused_lanes(sums[r], all(m.alpha), before)), m.n);
    }
  }
}

template <int MR, int NV, class Matrix>
inline void blocks_rows(const Matrix& m, const float* a, const float* bias, size_t bias_step,
                        float* y) {
  size_t j = 0;
  for (; j + NV * kLanes <= m.n; j += NV * kLanes) blocks_tile<MR, NV>(m, a, j, bias, bias_step, y);
  for (; j + kLanes <= m.n; j += kLanes) blocks_tile<MR, 1>(m, a, j, bias, bias_step, y);
  // Computes the last columns, some of them a second time.
  if (j < m.n && m.n >= kLanes) return blocks_tile<MR, 1>(m, a, m.n - kLanes, bias, bias_step, y);
  if constexpr (kIsFused) {
    if (j < m.n) blocks_few_columns<MR>(m, a, bias, bias_step, y);
    return;
  }
  for (; j < m.n; ++j)
    for (size_t r = 0; r < MR; ++r)
      y[r * m.y_stride + j] = canonical(blocks_of(m, a + r * m.k, j, bias[r * bias_step + j]));
}

// A part of the columns of R rows of kBlocks, whose sums stand in memory.
template <int R>
struct BlockSums {
  static constexpr size_t kColumns = 32 * kLanes;
  float rows[R][kColumns];
};

// Adds `count` indices of k from i on to the sums of `columns` columns from j on; with `begins` these are 0 before.
template <int R, int count, class Matrix>
QRT_INLINE void add_to_blocks(const Matrix& m, const float* a, size_t i, size_t j, size_t columns,
                              bool begins, BlockSums<R>* sums) {
  for (size_t c = 0; c < columns; c += kLanes) {
    Floats sum[R];
    QRT_UNROLL
    for (int r = 0; r < R; ++r) sum[r] = begins ? Floats{} : load(sums->rows[r] + c);
    QRT_UNROLL
    for (int q = 0; q < count; ++q) {
      const auto at = static_cast<size_t>(q);
      const Floats line = load(m.row(i + at) + j + c);
      QRT_UNROLL
      for (int r = 0; r < R; ++r)
        sum[r] = fused_lanes(all(a[static_cast<size_t>(r) * m.k + i + at]), line, sum[r]);
    }
    QRT_UNROLL
    for (int r = 0; r < R; ++r) save(sums->rows[r] + c, sum[r]);
  }
}

// Multiplies in the order kBlocks: R rows, too few to fill the registers with sums. These stay in
// the first-level cache, and b is read row by row, as it lies in memory. REQUIRES: n >= kLanes.
template <int R, class Matrix>
inline void blocks_few_rows(const Matrix& m, const float* a, const float* bias, size_t bias_step,
                            float* y) {
  constexpr int kIndices = 8 / R;
  BlockSums<R> sums;
  const size_t whole = m.n / kLanes * kLanes;
  for (size_t j = 0; j < whole; j += sums.kColumns) {
    const size_t columns = whole - j < sums.kColumns ? whole - j : sums.kColumns;
    for (size_t begin = 0; begin < m.k; begin += m.block) {
      const size_t end = m.k - begin < m.block ? m.k : begin + m.block;
      size_t i = begin;
      for (; i + kIndices <= end; i += kIndices)
        add_to_blocks<R, kIndices>(m, a, i, j, columns, i == begin, &sums);
      for (; i < end; ++i) add_to_blocks<R, 1>(m, a, i, j, columns, i == begin, &sums);
      for (size_t r = 0; r < R; ++r) {
        float* const to = y + r * m.y_stride + j;
        const float* const before = begin == 0 ? bias + r * bias_step + j : to;
        for (size_t c = 0; c < columns; c += kLanes)
          save(to + c,
               canonical(fused_lanes(load(sums.rows[r] + c), all(m.alpha), load(before + c))));
      }
    }
  }
  // Computes the last columns, some of them a second time.
  if (whole < m.n) blocks_tile<R, 1>(m, a, m.n - kLanes, bias, bias_step, y);
}

// Multiplies a row in the order kFours: adds `count` indices of k from `i` on to y.
template <int count>
QRT_INLINE void add_indices(const OrtMatrix& m, const float* a, size_t i, float* y) {
  const float* const b = m.b + i * m.n;
  size_t j = 0;
  for (; j + kLanes <= m.n; j += kLanes) {
    Floats sum = all(a[i]) * load(b + j);
    QRT_UNROLL
    for (int q = 1; q < count; ++q)
      sum = sum + all(a[i + static_cast<size_t>(q)]) * load(b + static_cast<size_t>(q) * m.n + j);
    save(y + j, sum + load(y + j));
  }
  for (; j < m.n; ++j) {
    float sum = a[i] * b[j];
    for (int q = 1; q < count; ++q)
      sum = sum + a[i + static_cast<size_t>(q)] * b[static_cast<size_t>(q) * m.n + j];
    y[j] = sum + y[j];
  }
}

inline void fours_row(const OrtMatrix& m, const float* a, const float* bias, float* y) {
  for (size_t j = 0; j < m.n; ++j) y[j] = bias[j];
  size_t i = 0;
  for (; i + 4 <= m.k; i += 4) add_indices<4>(m, a, i, y);
  if (i + 2 <= m.k) {
    add_indices<2>(m, a, i, y);
    i += 2;
  }
  if (i < m.k) add_indices<1>(m, a, i, y);
  for (size_t j = 0; j < m.n; ++j) y[j] = canonical(y[j]);
}

// Multiplies a row in the order kEights; m.b is [n, k].
inline void eights_row(const OrtMatrix& m, const float* a, const float* bias, float* y) {
  for (size_t j = 0; j < m.n; ++j) {
    const float* const b = m.b + j * m.k;
    float lane[8] = {};
    size_t i = 0;
    for (; i + 8 <= m.k; i += 8) {
      QRT_UNROLL
      for (size_t q = 0; q < 8; ++q) lane[q] = lane[q] + a[i + q] * b[i + q];
    }
    for (size_t q = 0; i + q < m.k; ++q) lane[q] = lane[q] + a[i + q] * b[i + q];
    // The columns are taken by fours, the last ones by two and one.
    const size_t left = m.n - j / 4 * 4;
    float sum;
    if (left >= 4) {
      sum =
          (((lane[0] + lane[1]) + lane[2]) + lane[3]) + (((lane[4] + lane[5]) + lane[6]) + lane[7]);
    } else if (j % 4 < (left & 2)) {
      sum =
          ((lane[0] + lane[2]) + (lane[4] + lane[6])) + ((lane[1] + lane[3]) + (lane[5] + lane[7]));
    } else {
      sum =
          ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
    y[j] = canonical(sum + bias[j]);
  }
}

// kBlocks of all rows.
template <int MR, int NV, class Matrix>
inline void blocks(const Matrix& m, const float* a, size_t rows, const float* bias,
                   size_t bias_step, float* y) {
  size_t r = 0;
  // Twice the rows keep as many sums in registers, and read b half as often.
  if constexpr (kLanes == 16) {
    for (; r + 2 * MR <= rows; r += 2 * MR)
      blocks_rows<2 * MR, NV / 2>(m, a + r * m.k, bias + r * bias_step, bias_step,
                                  y + r * m.y_stride);
  }
  for (; r + MR <= rows; r += MR)
    blocks_rows<MR, NV>(m, a + r * m.k, bias + r * bias_step, bias_step, y + r * m.y_stride);
  if (kIsFused && r < rows && rows > MR) {  // the last rows, some of them once more
    r = rows - MR;
    return blocks_rows<MR, NV>(m, a + r * m.k, bias + r * bias_step, bias_step, y + r * m.y_stride);
  }
  for (; kIsFused && r + 2 <= rows && m.n >= kLanes; r += 2)
    blocks_few_rows<2>(m, a + r * m.k, bias + r * bias_step, bias_step, y + r * m.y_stride);
  for (; kIsFused && r < rows && m.n >= kLanes; ++r)
    blocks_few_rows<1>(m, a + r * m.k, bias + r * bias_step, bias_step, y + r * m.y_stride);
  for (; r < rows; ++r)
    blocks_rows<1, 1>(m, a + r * m.k, bias + r * bias_step, bias_step, y + r * m.y_stride);
}

template <int MR, int NV>
inline void ort_gemms(const OrtGemm& g, const float* a, size_t rows, const float* b,
                      const float* bias, size_t bias_step, float* y) {
  const size_t b_stride = g.b_stride == 0 ? g.n : g.b_stride;
  const size_t y_stride = g.y_stride == 0 ? g.n : g.y_stride;
  const OrtMatrix m = {b, g.k, g.n, g.block, g.alpha, b_stride, y_stride};
  if (g.order == OrtGemmOrder::kBlocks && g.b_offsets != nullptr)
    return blocks<MR, NV>(ListedMatrix{m, g.b_offsets}, a, rows, bias, bias_step, y);
  if (g.order == OrtGemmOrder::kBlocks) return blocks<MR, NV>(m, a, rows, bias, bias_step, y);
  for (size_t r = 0; r < rows; ++r) {
    if (g.order == OrtGemmOrder::kFours)
      fours_row(m, a + r * m.k, bias + r * bias_step, y + r * m.n);
    else
      eights_row(m, a + r * m.k, bias + r * bias_step, y + r * m.n);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_ORT_GEMM_H_
