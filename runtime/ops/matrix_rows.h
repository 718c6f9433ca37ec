// SPDX-License-Identifier: Apache-2.0
// Matrices side by side, as a Transpose would gather them.
#ifndef QRT_RUNTIME_OPS_MATRIX_ROWS_H_
#define QRT_RUNTIME_OPS_MATRIX_ROWS_H_

#include <algorithm>
#include <cstddef>

#include "kernels/copy/copy.h"

namespace qrt {

// The place of an operand's matrices and of their rows.
struct MatrixRows {
  MatrixRows() = default;
  // Dense.
  MatrixRows(size_t matrices, size_t rows, size_t row) : stride(row) {
    dims[0] = matrices, step[0] = rows * row;
  }
  // Takes `rows` rows a matrix, as the transposition finds them, `row_stride` apart. Its last loop
  // but one may go over several matrices.
  MatrixRows(const TransposePlan& plan, size_t rows, size_t row_stride)
      : stride(row_stride), count(plan.rank - 2) {
    std::copy_n(plan.dims, count, dims);
    std::copy_n(plan.stride, count, step);
    if (plan.dims[count] == rows) return;
    dims[count] = plan.dims[count] / rows;
    step[count] = plan.stride[count] * rows;
    ++count;
  }

  size_t offset(size_t matrix) const {
    size_t at = 0;
    for (size_t i = count; i-- > 0; matrix /= dims[i]) at += matrix % dims[i] * step[i];
    return at;
  }

  size_t stride = 0, count = 1;
  size_t dims[kMaxRank] = {1}, step[kMaxRank] = {};  // the matrices' dimensions and their steps
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_MATRIX_ROWS_H_
