// SPDX-License-Identifier: Apache-2.0
// The one definition of a sum of products in float, and its kernels. A sum over k has blocks of
// kSumBlock terms: within a block
//     s = 0, then s = fma(a[i], b[i], s) in the order of i,
// and the result is ((start + s_0) + s_1) + ... in the order of the blocks. Tiles, panels, instruction
// sets and threads change the order of elements, never that of a sum: the same bits everywhere.
// The kernels' start and NaN are those of the hardware: compare only numbers.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_GEMM_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt::quantize {

constexpr size_t kSumBlock = 256;
// A tile is kTileRows rows by 1 to kTilePanels panels of kPanel columns.
constexpr size_t kTileRows = 8, kPanel = 16, kTilePanels = 3;

struct GemmKernel {
  const char* name;
  Isa isa;
  // c[r * ldc + j] += the block's sum of a[i * kTileRows + r] * b[.. + i * kPanel ..],
  // i < k, column j being lane j % kPanel of panel j / kPanel; panels are b_stride floats apart.
  // REQUIRES: k <= kSumBlock.
  void (*tile)(const float* a, const float* b, size_t b_stride, size_t panels, size_t k, float* c,
               size_t ldc);
  // y[i] = start + the block's sum over t of w[t] * x[offsets[t] + i], i < n rounded up to kPanel:
  // x is readable and y writable so far. REQUIRES: taps <= kSumBlock.
  void (*correlate)(const float* x, const ptrdiff_t* offsets, const float* w, size_t taps,
                    float start, float* y, size_t n);
};

const GemmKernel* gemm_kernels(size_t* count);
const GemmKernel* select_gemm(IsaSet isas);

// Packs rows as panels [ceil(rows / 8)][k][8]: element (r, i) lies at x[r * row_step + i * k_step];
// the last panel is filled up with zeros.
void pack_rows(const float* x, size_t row_step, size_t k_step, size_t rows, size_t k,
               float* panels);
// Packs columns as panels [ceil(n / 16)][k][16]: element (i, j) lies at
// x[i * k_step + j * column_step].
void pack_columns(const float* x, size_t k_step, size_t column_step, size_t k, size_t n,
                  float* panels);

constexpr size_t row_panels(size_t rows) { return (rows + kTileRows - 1) / kTileRows; }
constexpr size_t column_panels(size_t n) { return (n + kPanel - 1) / kPanel; }

// Computes y[r * ldy + j] = start[r], or y where start is null, + the sum over k of packed rows times packed
// columns, for r < rows and j < n. Panels of rows are k * kTileRows floats apart; the columns hold all of k.
void multiply(const GemmKernel& kernel, const float* row_panel, size_t rows,
              const float* column_panel, size_t n, size_t k, const float* start, float* y,
              size_t ldy);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_GEMM_H_
