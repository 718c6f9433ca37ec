// SPDX-License-Identifier: Apache-2.0
// Products of two computed int16 matrices; see product_int16.h.
#include "kernels/gemm/product_int16.h"

namespace qrt {
namespace {

int16_t finish(const ProductInt16Args& p, int64_t sum, size_t column) {
  const Requant& r = p.requant;
  const int64_t v = apply_stages(r.stages, r.stage_count, sum, p.by_column ? column : 0);
  return static_cast<int16_t>(clamp_int(v + r.zero_point, r.lo, r.hi));
}

void multiply_transposed(const ProductInt16Args& p, const int16_t* a, int16_t* y) {
  for (size_t j = 0; j < p.n; ++j) {
    const int16_t* b = p.b + j * p.k;
    int64_t sum = 0;
    for (size_t t = 0; t < p.k; ++t)
      sum += int64_t{a[t] - p.a_zero_point} * (b[t] - p.b_zero_point);
    y[j] = finish(p, sum, j);
  }
}

// Columns side by side.
void multiply(const ProductInt16Args& p, const int16_t* a, int16_t* y) {
  constexpr size_t kColumns = 32;
  for (size_t begin = 0; begin < p.n; begin += kColumns) {
    const size_t columns = p.n - begin < kColumns ? p.n - begin : kColumns;
    int64_t sums[kColumns] = {};
    for (size_t t = 0; t < p.k; ++t) {
      const int16_t* b = p.b + t * p.n + begin;
      const int64_t left = a[t] - p.a_zero_point;
      for (size_t j = 0; j < columns; ++j) sums[j] += left * (b[j] - p.b_zero_point);
    }
    for (size_t j = 0; j < columns; ++j) y[begin + j] = finish(p, sums[j], begin + j);
  }
}

}  // namespace

void product_int16(const ProductInt16Args& p) {
  for (size_t i = 0; i < p.rows; ++i) {
    const int16_t* a = p.a + i * p.k;
    int16_t* y = p.y + i * p.n;
    p.transposed ? multiply_transposed(p, a, y) : multiply(p, a, y);
  }
}

}  // namespace qrt
