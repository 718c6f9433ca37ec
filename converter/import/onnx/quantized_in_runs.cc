#include "converter/import/onnx/quantized_in_runs.h"

#include <set>
#include <string>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {

bool is_quantized_in_runs(const onnx::GraphProto& graph) {
  static const std::set<std::string> products = {"MatMulInteger", "ConvInteger",
                                                 "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"};
  bool has_product = false;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "QuantizeLinear") return false;
    has_product |= products.count(node.op_type()) != 0;
  }
  return has_product;
}

}  // namespace qrt::convert::from_onnx
