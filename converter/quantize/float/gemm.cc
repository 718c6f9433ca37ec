// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/gemm.h"

#include <algorithm>
#include <cstring>

namespace qrt::quantize {

#define QRT_FLOAT_GEMM(isa, suffix)                                                            \
  void gemm_tile_##suffix(const float*, const float*, size_t, size_t, size_t, float*, size_t); \
  void gemm_correlate_##suffix(const float*, const ptrdiff_t*, const float*, size_t, float,    \
                               float*, size_t);
#include "converter/quantize/float/gemm.inc"

namespace {

constexpr GemmKernel kKernels[] = {
#define QRT_FLOAT_GEMM(isa, suffix) \
  {"float_gemm_8x48_" #suffix, Isa::isa, gemm_tile_##suffix, gemm_correlate_##suffix},
#include "converter/quantize/float/gemm.inc"
};

}  // namespace

const GemmKernel* gemm_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]);
  return kKernels;
}

const GemmKernel* select_gemm(IsaSet isas) {
  const GemmKernel* k = kKernels;
  while (k->isa != Isa::kScalar && !has(isas, k->isa)) ++k;
  return k;
}

void pack_rows(const float* x, size_t row_step, size_t k_step, size_t rows, size_t k,
               float* panels) {
  for (size_t first = 0; first < rows; first += kTileRows, panels += k * kTileRows) {
    const size_t filled = std::min(kTileRows, rows - first);
    const float* from = x + first * row_step;
    float* to = panels;
    for (size_t i = 0; filled == kTileRows && i < k; ++i, from += k_step, to += kTileRows)
      for (size_t r = 0; r < kTileRows; ++r) to[r] = from[r * row_step];
    for (size_t i = 0; filled < kTileRows && i < k; ++i, from += k_step, to += kTileRows)
      for (size_t r = 0; r < kTileRows; ++r) to[r] = r < filled ? from[r * row_step] : 0.0f;
  }
}

void pack_columns(const float* x, size_t k_step, size_t column_step, size_t k, size_t n,
                  float* panels) {
  for (size_t first = 0; first < n; first += kPanel, panels += k * kPanel) {
    const size_t filled = std::min(kPanel, n - first);
    const float* from = x + first * column_step;
    for (size_t i = 0; i < k; ++i) {
      float* to = panels + i * kPanel;
      if (column_step == 1 && filled == kPanel) {
        memcpy(to, from + i * k_step, kPanel * sizeof(float));
        continue;
      }
      for (size_t j = 0; j < filled; ++j) to[j] = from[i * k_step + j * column_step];
      for (size_t j = filled; j < kPanel; ++j) to[j] = 0;
    }
  }
}

namespace {

// Stores one tile; at the borders through a buffer of its own.
void put_tile(const GemmKernel& kernel, const float* a, const float* b, size_t b_stride, size_t k,
              size_t rows, size_t columns, const float* start, float* y, size_t ldy) {
  const size_t panels = column_panels(columns);
  for (size_t r = 0; start != nullptr && r < rows; ++r) std::fill_n(y + r * ldy, columns, start[r]);
  if (rows == kTileRows && columns == panels * kPanel)
    return kernel.tile(a, b, b_stride, panels, k, y, ldy);
  constexpr size_t kWidth = kTilePanels * kPanel;
  float buffer[kTileRows * kWidth];
  for (size_t r = 0; r < kTileRows; ++r) {
    memset(buffer + r * kWidth, 0, kWidth * sizeof(float));
    if (r < rows) memcpy(buffer + r * kWidth, y + r * ldy, columns * sizeof(float));
  }
  kernel.tile(a, b, b_stride, panels, k, buffer, kWidth);
  for (size_t r = 0; r < rows; ++r)
    memcpy(y + r * ldy, buffer + r * kWidth, columns * sizeof(float));
}

}  // namespace

// Multiplies. A block of columns stays in the second-level cache while all rows pass it.
void multiply(const GemmKernel& kernel, const float* row_panel, size_t rows,
              const float* column_panel, size_t n, size_t k, const float* start, float* y,
              size_t ldy) {
  constexpr size_t kWidth = kTilePanels * kPanel;
  for (size_t k0 = 0; k0 < k; k0 += kSumBlock) {
    const size_t block = std::min(kSumBlock, k - k0);
    for (size_t j = 0; j < n; j += kWidth) {
      const float* b = column_panel + j / kPanel * k * kPanel + k0 * kPanel;
      for (size_t r = 0; r < rows; r += kTileRows)
        put_tile(kernel, row_panel + r * k + k0 * kTileRows, b, k * kPanel, block,
                 std::min(kTileRows, rows - r), std::min(kWidth, n - j),
                 start != nullptr && k0 == 0 ? start + r : nullptr, y + r * ldy + j, ldy);
    }
  }
}

}  // namespace qrt::quantize
