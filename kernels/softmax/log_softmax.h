// SPDX-License-Identifier: Apache-2.0
// The logarithm of a softmax. Over rows of bytes, with m the greatest byte of the row:
//
//   sum = e_0 + e_1 + ... in order, float32, where e_j = table[255 + x_j - m]
//   v_j = fl32(fl32(float(x_j - m) * scale) - log_f32(sum))
//   y_j = clamp(HE(clamp(fl32(v_j / output_scale), -zero_point, 255 - zero_point)) + zero_point)
//
// log_f32 is the one below: float32 operations in a fixed order, the same on every machine.
//
// Over rows of int16 (qrt's own definition), with e_j = table[65535 + x_j - m] as Q1.30 and their
// exact sum in 64 bits:
//
//   v_j = fl32(fl32(float(x_j - m) * scale) - log_f32(fl32(sum) / 2^30))
//   y_j = clamp(HE(clamp(fl32(v_j / output_scale), -32768 - zero_point, 32767 - zero_point)) +
//               zero_point)
//
// The roundings of v_j lose at most 3 * 2^-24 of it, and those of sum and logarithm n * 2^-31 +
// 2^-24 + 2^-19: where output_scale is n * 2^-30 + 2^-18 or more, y_j is within one step of the
// real function. Scalar on every instruction set. Thread-safe.
#ifndef QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_H_
#define QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_H_

#include <cstddef>
#include <cstdint>

#include "kernels/softmax/softmax_int16_table.h"

namespace qrt {

struct LogSoftmaxParams {
  const float* table;         // 256: exp((i - 255) * scale); finite, >= 0, the last one 1
  float scale, output_scale;  // normal, > 0; 255 * scale is finite
  int32_t zero_point;         // 0..255
};

// Computes rows of n bytes, x to y.
void log_softmax_rows(const LogSoftmaxParams& params, const uint8_t* x, uint8_t* y, size_t rows,
                      size_t n);

struct LogSoftmaxInt16Params {
  const int32_t* table;       // exp((i - 65535) * scale), as in SoftmaxInt16TableParams
  float scale, output_scale;  // normal, > 0; 65535 * scale is finite
  int32_t zero_point;         // -32768..32767
};

// Computes rows of n values, x to y; n <= kMaxSoftmaxTableRow; y may be x.
void log_softmax_int16_rows(const LogSoftmaxInt16Params& params, const int16_t* x, int16_t* y,
                            size_t rows, size_t n);

// Returns log(x) of a normal x > 0, within one unit in the last place.
float log_f32(float x);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_LOG_SOFTMAX_H_
