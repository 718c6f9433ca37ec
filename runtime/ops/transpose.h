// SPDX-License-Identifier: Apache-2.0
// A Transpose that does the work of the step before it, and those that others do.
#ifndef QRT_RUNTIME_OPS_TRANSPOSE_H_
#define QRT_RUNTIME_OPS_TRANSPOSE_H_

#include "kernels/copy/copy.h"
#include "runtime/op.h"

namespace qrt {

// Fuses `quantize` into `transpose`, if that makes pixels of a few planes that `quantize` can make
// in parts: the Transpose then reads the floats, and the tensor between them needs no memory.
// Otherwise returns false and changes nothing. `quantize` must stay where it is.
bool pull_from_quantize(const Step& quantize, PlannedStep* transpose);

// Fuses `concat` into `transpose`, if that interleaves the parts that `concat` puts side by side (a
// shuffle of channels): it then reads the parts. Otherwise returns false and changes nothing.
bool pull_from_concat(const PlannedStep& concat, PlannedStep* transpose);

// Returns the plan of a plain Transpose that moves whole rows of such elements, or makes columns of
// them; null where it does anything else.
const TransposePlan* find_moved_rows(const Step& transpose, size_t element_bytes);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_TRANSPOSE_H_
