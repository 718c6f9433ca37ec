// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/quantized_in_runs.h"

#include <set>
#include <string>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {

namespace {

struct Kinds {
  bool has_product = false, has_quantize = false;
};

// Finds which kinds of operators a graph and its branches hold. Protobuf's own limit bounds the depth.
void find_kinds(const onnx::GraphProto& graph, Kinds* kinds) {
  static const std::set<std::string> products = {"MatMulInteger", "ConvInteger",
                                                 "DynamicQuantizeMatMul", "DynamicQuantizeLSTM",
                                                 "MatMulNBits"};
  for (const onnx::NodeProto& node : graph.node()) {
    kinds->has_quantize |= node.op_type() == "QuantizeLinear";
    kinds->has_product |= products.count(node.op_type()) != 0;
    for (const onnx::AttributeProto& a : node.attribute())
      if (a.has_g()) find_kinds(a.g(), kinds);
  }
}

}  // namespace

bool is_quantized_in_runs(const onnx::GraphProto& graph) {
  Kinds kinds;
  find_kinds(graph, &kinds);
  return kinds.has_product && !kinds.has_quantize;
}

}  // namespace qrt::convert::from_onnx
