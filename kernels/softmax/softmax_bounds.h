// SPDX-License-Identifier: Apache-2.0
// Rows of softmax.h without their sums in order, where an instruction set looks up 64 bytes at
// once. A sum of integers gives two bounds of the float sum; quotient, rounding and limits are
// monotonic in that. An element to which both bounds give the same byte gets this byte from all
// sums between them; rows with another element, about one in a hundred, are left to softmax_rows().
//
// With e_d = table[255 - d], d the distance from the greatest value of the row, and e_d <= e_0:
//
//   T_d = e_d / U rounded, U = e_0 / (2^24 - 1)    24 bits, looked up byte by byte
//   A_d = fl32(fl32(e_d * k) / U)
//   I = sum of T_d of a row >= 2^24 - 1, E the exact sum of e_d, F the float sum in order:
//   |E / U - I| <= n / 2, |F - E| < n * 2^-24 * E
//   A_d * (1 - w) / I < fl32(fl32(e_d * k) / F) < A_d * (1 + w) / I, w = (3 n / 2 + 16) * 2^-24
//
// 10 of the 16 are for roundings in float32: of I (5), 1 / I and its products with 1 - w and 1 + w (3),
// A_d and the quotient. The bounds are no quotients themselves, so that it does not matter which way
// their ties go. Where A_d is 0 or subnormal all three round to 0.
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/softmax/softmax.h"

namespace qrt {

struct SoftmaxBounds {
  uint8_t bytes[3][256];  // the bytes of T_d, the lowest first
  float share[256];       // A_d
  size_t shown;           // elements at distances d >= shown become 0 in every row: A_d / I < 1/2
  int32_t zero_point;
};

// The longest row: sums of T_d have 31 bits in each of 16 lanes, and the bounds move apart in
// longer rows.
constexpr size_t kMaxBoundedRow = 1024;

constexpr size_t kBoundedRows = 32;

struct SoftmaxBoundsKernel {
  const char* name;  // "softmax_u8_avx512vbmi"
  Isa isa;
  // Computes up to kBoundedRows rows. Bit r of the result: row r of y is still to be computed. x
  // may be over-read by up to 64 bytes; x and y do not overlap.
  uint32_t (*rows)(const SoftmaxBounds& bounds, const uint8_t* x, uint8_t* y, size_t rows,
                   size_t n);
};

// Returns the table of kernels, whose last row has no kernel.
const SoftmaxBoundsKernel* softmax_bounds_kernels(size_t* count);

// Returns the best kernel, and sets *bounds. Returns null where there is no kernel, or rows of n
// values have no bounds: n is too great, some e_d > e_0, n * e_0 is no float, or k is so great that
// a quantum has more than 15 bits.
const SoftmaxBoundsKernel* plan_softmax_bounds(IsaSet isas, const SoftmaxParams& params, size_t n,
                                               SoftmaxBounds* bounds);

// Computes softmax_rows() by bounds. REQUIRES: kernel and bounds are from plan_softmax_bounds().
void softmax_rows_by_bounds(const SoftmaxBoundsKernel& kernel, const SoftmaxBounds& bounds,
                            const SoftmaxParams& params, const EdgeKernel& edge,
                            const LutKernel& lut, const uint8_t* x, uint8_t* y, size_t rows,
                            size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_H_
