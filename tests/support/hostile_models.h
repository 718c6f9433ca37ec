// SPDX-License-Identifier: Apache-2.0
// ONNX graphs of any length, node by node.
#ifndef QRT_TESTS_SUPPORT_HOSTILE_MODELS_H_
#define QRT_TESTS_SUPPORT_HOSTILE_MODELS_H_

#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace qrt::testing {

// Returns x -> (Quantize -> Dequantize -> op), repeated.
inline onnx::ModelProto chain(int count, const char* op, bool with_pairs) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& g = *model.mutable_graph();
  g.set_name("g");
  const auto describe = [](onnx::ValueInfoProto* v, const std::string& name) {
    v->set_name(name);
    auto* type = v->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_value(4);
  };
  onnx::TensorProto* scale = g.add_initializer();
  scale->set_name("s");
  scale->set_data_type(onnx::TensorProto::FLOAT);
  scale->add_float_data(0.02f);
  onnx::TensorProto* zero = g.add_initializer();
  zero->set_name("z");
  zero->set_data_type(onnx::TensorProto::UINT8);
  zero->add_int32_data(0);
  std::string at = "x";
  const auto node = [&](const char* type, std::vector<std::string> inputs) {
    onnx::NodeProto* n = g.add_node();
    n->set_op_type(type);
    for (const std::string& i : inputs) n->add_input(i);
    at = "t" + std::to_string(g.node_size());
    n->set_name("n" + at);
    n->add_output(at);
  };
  describe(g.add_input(), "x");
  for (int i = 0; i < count; ++i) {
    if (with_pairs) {
      node("QuantizeLinear", {at, "s", "z"});
      node("DequantizeLinear", {at, "s", "z"});
    }
    node(op, std::string(op) == "Add" ? std::vector<std::string>{at, at}
                                      : std::vector<std::string>{at});
  }
  node("QuantizeLinear", {at, "s", "z"});
  node("DequantizeLinear", {at, "s", "z"});
  describe(g.add_output(), at);
  return model;
}

inline onnx::NodeProto* add_node(onnx::ModelProto* model, const char* op,
                                 const std::vector<std::string>& inputs,
                                 const std::string& output) {
  onnx::NodeProto* n = model->mutable_graph()->add_node();
  n->set_op_type(op);
  for (const std::string& i : inputs) n->add_input(i);
  n->add_output(output);
  return n;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_HOSTILE_MODELS_H_
