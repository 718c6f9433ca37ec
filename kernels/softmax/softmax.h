// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of bytes by a table of exponentials (ONNX Runtime's QLinearSoftmax): with m = max
// of the row and e_j = table[255 + x_j - m], sum = float32 sum of e_j in order,
//   y_j = clamp(HE(fl32(fl32(e_j * k) / sum)) + zero_point, 0, 255).
// The sum is the same on every instruction set, since its order is part of the definition; the
// quotients are those of the edge family, and long rows are looked up.
//
// TFLite's of uint8 multiplies by a reciprocal, r = fl32(1 / fl32(sum * scale)):
//   y_j = min(floor(fl32(fl32(e_j * r) + 0.5)), 255).
//
// TFLite's of the floats that bytes stand for looks exponentials up by both codes, e_j = table[256 * m +
// x_j], and gives floats: y_j = fl32(e_j / sum).
//
// x [rows, n] may be over-read by up to 64 bytes and does not overlap y [rows, n]. Thread-safe.
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_H_

#include <cstddef>
#include <cstdint>

#include "kernels/edge/edge.h"
#include "kernels/lut/lut.h"

namespace qrt {

// The table is not negative and its last entry positive; sums and e_j * k are finite; e_j * k / sum
// stays below 2^31 (checked at load).
struct SoftmaxParams {
  const float* table;  // 256
  float k;
  int32_t zero_point;  // stored domain
};

void softmax_rows(const SoftmaxParams& params, const EdgeKernel& edge, const LutKernel& lut,
                  const uint8_t* x, uint8_t* y, size_t rows, size_t n);

// Computes rows. table: 256 numbers from 0 to 1, the last one 1; output_scale 1/256 to 1.
void softmax_reciprocal_rows(const float* table, float output_scale, const uint8_t* x, uint8_t* y,
                             size_t rows, size_t n);

// Computes rows. table: 65536 numbers from 0 to 1, table[257 * m] 1.
void softmax_pair_rows(const float* table, const uint8_t* x, float* y, size_t rows, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_H_
