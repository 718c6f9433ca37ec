// Softmax of rows of int16 by a table of exponentials, in integers: with m = max of the row, e_j =
// table[65535 + x_j - m] and sum = sum of e_j, in 64 bits,
//   p_j = floor((e_j * 2^30 + floor(sum / 2)) / sum)
//   y_j = clamp(stages(p_j) + zero_point, -32768, 32767).
// qrt's own definition. Scalar on every instruction set. Thread-safe.
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_WIDE_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_WIDE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

constexpr size_t kSoftmaxWideTable = 65536;
constexpr size_t kMaxSoftmaxWideRow = size_t{1} << 24;
constexpr int32_t kSoftmaxWideOne = 1 << 30;

// The table holds 0 to 2^30, and 2^30 as its last entry (checked at load).
struct SoftmaxWideParams {
  const int32_t* table;
  int32_t stage_count;
  RequantStage stages[kMaxStages];  // of channel 0
  int32_t zero_point;
};

void softmax_wide_rows(const SoftmaxWideParams& params, const int16_t* x, int16_t* y, size_t rows,
                       size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_WIDE_H_
