// SPDX-License-Identifier: Apache-2.0
// A Transpose that does the work of the step before it, and those that others do.
#ifndef QRT_RUNTIME_OPS_TRANSPOSE_H_
#define QRT_RUNTIME_OPS_TRANSPOSE_H_

#include "kernels/copy/copy.h"
#include "runtime/op.h"

namespace qrt {

// Fuses `quantize` into `transpose`, if `transpose` interleaves a few planes to pixels and
// `quantize` can compute parts of these planes: the Transpose then reads the floats, and the tensor
// between the two needs no memory. Otherwise returns false and changes nothing. `quantize` has to
// stay at its address.
bool pull_from_quantize(const Step& quantize, PlannedStep* transpose);

// Fuses `concat` into `transpose`, if `transpose` interleaves the parts that `concat` joins (a
// shuffle of channels): the Transpose then reads the parts. Otherwise returns false and changes
// nothing.
bool pull_from_concat(const PlannedStep& concat, PlannedStep* transpose);

// Returns the plan of a plain Transpose that moves whole rows of elements of `element_bytes`, or
// transposes rows to columns. Returns null for any other Transpose.
const TransposePlan* find_moved_rows(const Step& transpose, size_t element_bytes);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_TRANSPOSE_H_
