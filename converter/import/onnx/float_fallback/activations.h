// SPDX-License-Identifier: Apache-2.0
// Activations and limits as a few Float operators: what has no function of its own.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_ACTIVATIONS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_ACTIVATIONS_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

bool is_float_activation(const NodeView& node);
// Computes an activation. *y stays kNoValue where its parameters are unknown here.
Status float_activation(FloatGraph* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_ACTIVATIONS_H_
