// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/upgrade.h"

#include <memory>
#include <string>
#include <vector>

#include "converter/import/onnx/file/names.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// An input that was an attribute below opset 10, of integers or floats.
struct Moved {
  const char* op;
  int below;
  const char* attribute;
  int input;
};

constexpr Moved kMoved[] = {{"Slice", 10, "starts", 1},
                            {"Slice", 10, "ends", 2},
                            {"Slice", 10, "axes", 3},
                            {"TopK", 10, "k", 1},
                            {"Upsample", 9, "scales", 1}};

const onnx::AttributeProto* find(const onnx::NodeProto& node, const char* name) {
  for (const onnx::AttributeProto& a : node.attribute())
    if (a.name() == name) return &a;
  return nullptr;
}

onnx::TensorProto to_tensor(const onnx::AttributeProto& a) {
  onnx::TensorProto t;
  if (a.floats_size() > 0) {
    t.set_data_type(onnx::TensorProto::FLOAT);
    t.add_dims(a.floats_size());
    *t.mutable_float_data() = a.floats();
    return t;
  }
  t.set_data_type(onnx::TensorProto::INT64);
  *t.mutable_int64_data() = a.ints();
  if (a.ints_size() == 0) t.add_int64_data(a.i());
  t.add_dims(t.int64_data_size());
  return t;
}

class Upgrade {
 public:
  Upgrade(const std::function<int64_t(const onnx::NodeProto&)>& opset, onnx::GraphProto* graph)
      : opset_(opset), main_(graph) {}

  void run(onnx::GraphProto* graph) {
    for (onnx::NodeProto& node : *graph->mutable_node()) {
      for (onnx::AttributeProto& a : *node.mutable_attribute()) {
        if (a.has_g()) run(a.mutable_g());
        for (onnx::GraphProto& g : *a.mutable_graphs()) run(&g);
      }
      if (node.domain().empty() || node.domain() == "ai.onnx") upgrade(&node);
    }
  }

 private:
  void upgrade(onnx::NodeProto* node) {
    for (const Moved& moved : kMoved) {
      if (node->op_type() != moved.op || opset_(*node) >= moved.below) continue;
      const onnx::AttributeProto* a = find(*node, moved.attribute);
      if (a && node->input_size() <= moved.input) add_input(*a, moved.input, node);
    }
  }

  // Constants go into the graph as a whole: subgraphs may read them, too.
  void add_input(const onnx::AttributeProto& a, int input, onnx::NodeProto* node) {
    if (!names_) names_ = std::make_unique<FreshNames>(*main_);
    onnx::TensorProto* constant = main_->add_initializer();
    *constant = to_tensor(a);
    constant->set_name(names_->make(node->op_type() + "." + a.name()));
    while (node->input_size() <= input) node->add_input("");
    node->set_input(input, constant->name());
  }

  const std::function<int64_t(const onnx::NodeProto&)>& opset_;
  onnx::GraphProto* const main_;
  std::unique_ptr<FreshNames> names_;
};

}  // namespace

void upgrade_nodes(const std::function<int64_t(const onnx::NodeProto&)>& opset,
                   onnx::GraphProto* graph) {
  Upgrade(opset, graph).run(graph);
}

}  // namespace qrt::convert::from_onnx
