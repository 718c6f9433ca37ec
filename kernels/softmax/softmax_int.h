// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of bytes in integers (TFLite's int8 kernel), output scale 1/256, stored domain.
// With m = max of the row and e_j = table[255 + x_j - m], exp(x_j - m) as Q0.31 (or -1 below the
// table's range: then y_j = 0, and e_j is no part of the sum):
//
//   sum = sum of HA(e_j / 2^12)          Q12.19
//   z = leading zeros of sum
//   inverse = 1 / (1 + a), a = (sum << z) - 2^31 as Q0.31
//   y_j = clamp(HA(SRDHM(inverse, e_j) / 2^(12 - z + 23)), 0, 255)
//
// To int16, output scale 1/65536, zero point -32768, 8 bits more of the same:
//
//   y_j = clamp(HA(SRDHM(inverse, e_j) / 2^(12 - z + 15)), 0, 65535) - 32768
//
// The functions are those of fixed_point.h. One form for every instruction set. Thread-safe.
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_INT_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_INT_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

constexpr size_t kMaxSoftmaxIntRow = 4095;  // the sum stays below 2^31

// Computes rows. table: 256 values >= -1, the last of them 2^31 - 1 (checked at load). 1 <= n <=
// kMaxSoftmaxIntRow.
void softmax_int_rows(const int32_t* table, const uint8_t* x, uint8_t* y, size_t rows, size_t n);
void softmax_int_rows(const int32_t* table, const uint8_t* x, int16_t* y, size_t rows, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_INT_H_
