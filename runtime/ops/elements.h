// SPDX-License-Identifier: Apache-2.0
// Type checks for operators on integers without quantisation: the types that kernels/compare and
// kernels/integer take.
#ifndef QRT_RUNTIME_OPS_ELEMENTS_H_
#define QRT_RUNTIME_OPS_ELEMENTS_H_

#include "runtime/op.h"

namespace qrt {

// Checks that input i is of an integer type of 8 to 64 bits.
Status check_integer(const InferContext& context, size_t i, const char* what);

// Checks two inputs of one integer type, and finds the shape to which they broadcast.
Status infer_integers(const InferContext& context, Shape* shape);

// Reads the type that the file declares for an output of indices: INT32 or INT64. REQUIRES: the
// operator has this output.
Status declared_index_dtype(const InferContext& context, size_t output, DType* dtype);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_ELEMENTS_H_
