// SPDX-License-Identifier: Apache-2.0
// Logarithmic softmax of rows of bytes in integers (TFLite's int8 kernel), output scale 1/16 and zero
// point 255, stored domain. With m = max of the row, d_j = x_j - m, e_j = exponential[255 + d_j],
// exp(d_j * scale) as Q0.31 (or -1 below the table's range: then y_j = 0, and e_j is no part of the
// sum), and t_j = difference[255 + d_j], d_j * scale as Q5.26:
//
//   sum = sum of HA(e_j / 2^12)          Q12.19
//   log = the logarithm of sum           Q5.26
//   y_j = clamp(HA(wrap32(t_j - log) / 2^22) + 255, 0, 255)   where d_j > stages(log - 2^31), else 0
//
// The functions are those of fixed_point.h. One form for every instruction set. Thread-safe.
#ifndef QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_INT_H_
#define QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_INT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// Tables of 256 values each; the last exponential is 2^31 - 1, none is below -1 (checked at load).
struct LogSoftmaxIntParams {
  const int32_t* exponential;
  const int32_t* difference;
  int32_t stage_count;
  RequantStage stages[kMaxStages];  // entry 0 serves all channels
};

// REQUIRES: 1 <= n <= kMaxSoftmaxIntRow (softmax_int.h).
void log_softmax_int_rows(const LogSoftmaxIntParams& params, const uint8_t* x, uint8_t* y,
                          size_t rows, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_INT_H_
