// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation: ranges that each run finds.
#ifndef QRT_CONVERTER_IMPORT_ONNX_QUANTIZED_IN_RUNS_H_
#define QRT_CONVERTER_IMPORT_ONNX_QUANTIZED_IN_RUNS_H_

namespace onnx {
class GraphProto;
}

namespace qrt::convert::from_onnx {

// Returns whether the products of the graph and of its branches are of tensors that DynamicQuantizeLinear quantises, and no
// QuantizeLinear does: such a graph is float between its products by its nature.
bool is_quantized_in_runs(const onnx::GraphProto& graph);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_QUANTIZED_IN_RUNS_H_
