// SPDX-License-Identifier: Apache-2.0
// Edge operators that stay operators of their own; qdq.cc decides which do.
#ifndef QRT_CONVERTER_IMPORT_ONNX_EDGE_OPS_H_
#define QRT_CONVERTER_IMPORT_ONNX_EDGE_OPS_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns the type of a QuantizeLinear's output: the type of the zero point, else that of the
// attribute, or kUndefined if the node has neither.
int quantized_type(const Importer& importer, const NodeView& node);

// Returns whether the node's scale and zero point are constants that read_quant() takes: float32
// scales, for the tensor as a whole or along an axis.
bool is_plain_edge(const Importer& importer, const NodeView& node);

// Emit a QuantizeLinear or DequantizeLinear, whose input is a value of the graph, as one operator.
Status emit_quantize(Importer& importer, const NodeView& node);
Status emit_dequantize(Importer& importer, const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_EDGE_OPS_H_
