// SPDX-License-Identifier: Apache-2.0
// Resize of floats along axes whose lengths a run decides: it computes the taps and their weights.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_RESIZE_IN_RUN_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_RESIZE_IN_RUN_H_

#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/ops/resize/geometry.h"

namespace qrt::convert::from_onnx {

// Returns whether the lengths of a Resize, known in this import, may be others at other sizes of the model's open dimensions.
bool has_lengths_of_a_run(const Importer& importer, const NodeView& node);

// Resizes x by modes linear and cubic, without antialiasing and exclude_outside. `cubic`: the coefficient of mode cubic, or
// null for linear. *y stays kNoValue where the run cannot compute the coordinates.
Status resize_in_run(FloatGraph* f, const Resize& r, const float* cubic, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_RESIZE_IN_RUN_H_
