// SPDX-License-Identifier: Apache-2.0
// A Transpose that does the work of the step before it, and those that others do.
#ifndef QRT_RUNTIME_OPS_TRANSPOSE_H_
#define QRT_RUNTIME_OPS_TRANSPOSE_H_

#include "kernels/copy/copy.h"
#include "runtime/op.h"

namespace qrt {

// Where `transpose` makes pixels of a few planes that `quantize` makes in parts, lets it do that
// step's work: it reads the floats, and what is between them needs no memory. Else returns false
// and changes nothing. `quantize` must stay where it is.
bool pull_from_quantize(const Step& quantize, PlannedStep* transpose);

// Where `transpose` interleaves the parts that `concat` puts side by side (a shuffle of channels),
// lets it read them where they are. Else returns false and changes nothing.
bool pull_from_concat(const PlannedStep& concat, PlannedStep* transpose);

// How a plain Transpose of such elements moves whole rows, or makes columns of them; null where it does
// anything else.
const TransposePlan* find_moved_rows(const Step& transpose, size_t element_bytes);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_TRANSPOSE_H_
