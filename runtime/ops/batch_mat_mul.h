// SPDX-License-Identifier: Apache-2.0
// A BatchMatMul that reads rows where a Transpose would take them from.
#ifndef QRT_RUNTIME_OPS_BATCH_MAT_MUL_H_
#define QRT_RUNTIME_OPS_BATCH_MAT_MUL_H_

#include <cstddef>

#include "runtime/op.h"

namespace qrt {

// Fuses `transpose` into input `i` of `product`, if it moves whole rows or makes columns of the right-hand
// side: the product then reads the Transpose's input. Otherwise returns false and changes nothing.
bool pull_rows(const Step& transpose, size_t i, PlannedStep* product);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_BATCH_MAT_MUL_H_
