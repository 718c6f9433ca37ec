// SPDX-License-Identifier: Apache-2.0
// Softmax of int16 as TFLite's reference kernel computes it: exp(x - max) and 1 / (1 + x) from
// tables of 513 entries with 7 bits of interpolation; outputs have scale 2^-15.
//
//   lut(t, v) = t[i] + (((t[i + 1] - t[i]) * (v & 127) + 64) >> 7), i = 256 + (v >> 7)
//   e_j = lut(exponential, clamp16(stages(x_j - max of the row) + 32767)), s = sum of e_j
//   n = position of the greatest bit of s; m = (s * 2^(30 - n) + 2^13) >> 14, in 2^16 .. 2^17
//   r = lut(reciprocal, clamp16(m - 2^15 - 2^16))
//   y_j = clamp((e_j * r + 2^(n - 1)) >> n, 0, 32767)
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_INT16_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_INT16_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

constexpr size_t kSoftmaxInt16Table = 513;
constexpr size_t kMaxSoftmaxInt16Row = 65536;  // the sum stays within int32

// REQUIRES (checked at load): no entry is negative; 2 <= exponential[511] <= exponential[512].
struct SoftmaxInt16Params {
  const int16_t* exponential;
  const int16_t* reciprocal;
  int32_t stage_count;
  RequantStage stages[kMaxStages];  // entry 0 serves all channels
};

// Computes rows, in one form for every instruction set. n <= kMaxSoftmaxInt16Row; y may be x.
void softmax_int16_rows(const SoftmaxInt16Params& params, const int16_t* x, int16_t* y, size_t rows,
                        size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_INT16_H_
