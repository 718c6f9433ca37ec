// SPDX-License-Identifier: Apache-2.0
// Edge operators that stay operators of their own; qdq.cc decides which do.
#ifndef QRT_CONVERTER_IMPORT_ONNX_EDGE_OPS_H_
#define QRT_CONVERTER_IMPORT_ONNX_EDGE_OPS_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Type of a QuantizeLinear's output: its zero point's, else the attribute; kUndefined: neither.
int quantized_type(const Importer& importer, const NodeView& node);

// Constant parameters as read_quant() reads them: float32 scales per tensor or per axis.
bool is_plain_edge(const Importer& importer, const NodeView& node);

// A QuantizeLinear or DequantizeLinear of a tensor with a value, as one operator of the graph.
Status emit_quantize(Importer& importer, const NodeView& node);
Status emit_dequantize(Importer& importer, const NodeView& node);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_EDGE_OPS_H_
