// SPDX-License-Identifier: Apache-2.0
// Judges the nodes behind a refused one. Its outputs stay usable where their type and shape are
// known, from the file's value_info, from the QuantizeLinear behind them or from the operator
// itself: a value that nothing writes stands in, so that the readers are judged on their own
// merits. The graph is meaningless then, which is all the same: the import fails.
#ifndef QRT_CONVERTER_IMPORT_ONNX_STAND_IN_H_
#define QRT_CONVERTER_IMPORT_ONNX_STAND_IN_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Puts a value in the place of input i, which comes from a refused node. Returns false where too
// little is known of it.
bool stand_in(Importer& importer, const NodeView& node, int i);

// Refuses a stand-in again once its QuantizeLinear is judged. A QuantizeLinear takes a stand-in for
// float, which says nothing to the tensor's other readers.
void drop_float_stand_in(Importer& importer, const NodeView& node);

// Notes the shape of output i of a node whose outputs are refused, as far as it can be told.
Status note_shape(Importer& importer, const NodeView& node, int i);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_STAND_IN_H_
