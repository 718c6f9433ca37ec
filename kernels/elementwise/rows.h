// SPDX-License-Identifier: Apache-2.0
// Rows of elements: what broadcasting makes of two tensors, and what kernels take that gain where an
// operand is the same row for all.
#ifndef QRT_KERNELS_ELEMENTWISE_ROWS_H_
#define QRT_KERNELS_ELEMENTWISE_ROWS_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

// `rows` times n outputs. Steps are bytes from row to row; 0: an operand's row is the same for all.
struct Rows {
  const uint8_t* a;
  const uint8_t* b;
  bool a_is_scalar, b_is_scalar;  // within a row: one element, repeated
  uint8_t* y;
  size_t n, rows;
  size_t a_step, b_step, y_step;
};

// Returns whether an operand, or its row, is the same for many elements or rows of the other.
inline bool is_beside_a_row(const Rows& r) {
  return r.a_is_scalar || r.b_is_scalar || (r.rows > 1 && (r.a_step == 0 || r.b_step == 0));
}

inline Rows swapped(Rows r) {
  return {r.b, r.a, r.b_is_scalar, r.a_is_scalar, r.y, r.n, r.rows, r.b_step, r.a_step, r.y_step};
}

}  // namespace qrt

#endif  // QRT_KERNELS_ELEMENTWISE_ROWS_H_
