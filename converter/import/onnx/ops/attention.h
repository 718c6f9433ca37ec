// SPDX-License-Identifier: Apache-2.0
// Functions that the handlers of attention, rotary positions and normalisations share. Each of these operators stands for many, all
// of which are computed in float.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_ATTENTION_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_ATTENTION_H_

#include <string>

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// Refuses an operator that is float in itself where --allow-float was not given.
Status refuse_float_operator(Importer& importer, const NodeView& node);
// Refuses a form of an operator that qrt does not compute.
Status refuse_form(Importer& importer, const NodeView& node, const std::string& what);
// Sets output i of the node to the float value x.
void set_float_output(Importer& importer, const NodeView& node, int i, ValueId x);

// Takes the rows of a cache [rows, r] at positions [b, s]: [b, 1, s, r].
ValueId rows_at(FloatGraph* f, ValueId cache, ValueId positions);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_ATTENTION_H_
