// SPDX-License-Identifier: Apache-2.0
// Functions that the forms of Slice share: those with known places and those with places that a run computes.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_SLICE_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_SLICE_H_

#include <vector>

#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Reads the axes that an input names, or all in order where it is absent. *known: false where it is refused.
Status input_axes(Importer& importer, const NodeView& node, int input, int rank, size_t count,
                  std::vector<int>* axes, bool* known);

// Finds what a slice of n indices takes.
Status slice_indices(int64_t n, int64_t start, int64_t end, int64_t step, Indices* indices);

// Imports a Slice that begins and ends where a run computes, and whose length follows from sizes.
Status slice_in_run(Importer& importer, const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_SLICE_H_
