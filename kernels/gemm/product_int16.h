// SPDX-License-Identifier: Apache-2.0
// Products of two computed int16 matrices, not cut into digits (digits.h): sums of 64 bits, one
// form for every instruction set. Thread-safe.
#ifndef QRT_KERNELS_GEMM_PRODUCT_INT16_H_
#define QRT_KERNELS_GEMM_PRODUCT_INT16_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// y[i][j] = requantize(sum over k of (a[i][k] - a_zero_point) * (b[k][j] - b_zero_point)), channel j
// of a requantisation of kind kInt, or channel 0 of every column. REQUIRES (checked at load): no sum times a multiplier of the
// first stage reaches 2^62.
struct ProductInt16Args {
  const int16_t* a;  // [rows][k]
  const int16_t* b;  // [k][n], or [n][k] where transposed
  size_t rows, k, n;
  bool transposed;
  int32_t a_zero_point, b_zero_point;
  Requant requant;
  bool by_column;  // each column has constants of its own
  int16_t* y;      // [rows][n]
};
void product_int16(const ProductInt16Args& args);

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_PRODUCT_INT16_H_
