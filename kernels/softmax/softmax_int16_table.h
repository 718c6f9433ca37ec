// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of int16 by a table of exponentials, in integers: with m = max of the row, e_j =
// table[65535 + x_j - m] and sum = sum of e_j, in 64 bits,
//   p_j = floor((e_j * 2^30 + floor(sum / 2)) / sum)
//   y_j = clamp(stages(p_j) + zero_point, -32768, 32767).
// qrt's own definition. Scalar on every instruction set. Thread-safe.
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_INT16_TABLE_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_INT16_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

constexpr size_t kSoftmaxTableEntries = 65536;
constexpr size_t kMaxSoftmaxTableRow = size_t{1} << 24;
constexpr int32_t kSoftmaxTableOne = 1 << 30;

// The table holds 0 to 2^30, and 2^30 as its last entry (checked at load).
struct SoftmaxInt16TableParams {
  const int32_t* table;
  int32_t stage_count;
  RequantStage stages[kMaxStages];  // entry 0 serves all channels
  int32_t zero_point;
};

void softmax_int16_table_rows(const SoftmaxInt16TableParams& params, const int16_t* x, int16_t* y,
                              size_t rows, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_INT16_TABLE_H_
