// SPDX-License-Identifier: Apache-2.0
// Pairs of QuantizeLinear and DequantizeLinear in the body of a Loop or in the branches of an If, beside tensors of the outer graph:
// ONNX Runtime fuses nothing across the border of a subgraph.
#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {
namespace {

// Moves the nodes behind the first `count` into a subgraph, an attribute of `node`.
onnx::GraphProto* move_nodes(onnx::GraphProto* from, int count, onnx::NodeProto* node,
                             const char* name) {
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  a->mutable_g()->set_name(name);
  for (int i = count; i < from->node_size(); ++i) *a->mutable_g()->add_node() = from->node(i);
  from->mutable_node()->DeleteSubrange(count, from->node_size() - count);
  return a->mutable_g();
}

}  // namespace

std::string GraphMaker::random_nodes(Names tensors, double amplitude) {
  const auto any = [&] { return dice_.pick(tensors); };
  const auto pair = [&](const std::string& x, double of) {
    const Quant q = random_quant(of);
    return dequantise_node(quantise_node(x, q), q);
  };
  const int64_t nodes = dice_.integer(1, 4);
  for (int64_t i = 0; i < nodes; ++i) {
    std::string a = any();
    if (dice_.coin()) a = pair(a, amplitude);
    double made = amplitude;
    switch (dice_.integer(0, 5)) {
      case 0: break;
      case 1: a = b_.node("Softmax", {a}, {Attr("axis", -1)}), made = 1; break;
      case 2: a = b_.node("Sigmoid", {a}), made = 1; break;
      case 3: {
        const Dims axes = {0};
        const bool is_attribute = opset_ < 13;
        const std::string raised = is_attribute ? b_.node("Unsqueeze", {a}, {Attr("axes", axes)})
                                                : b_.node("Unsqueeze", {a, integers64(axes)});
        a = is_attribute ? b_.node("Squeeze", {raised}, {Attr("axes", axes)})
                         : b_.node("Squeeze", {raised, integers64(axes)});
        break;
      }
      default: {
        std::string b = any();
        if (dice_.coin()) b = pair(b, amplitude);
        a = b_.node(dice_.coin() ? "Add" : "Mul", {a, b});
      }
    }
    if (dice_.coin()) a = pair(a, made);
    tensors.push_back(a);
  }
  return b_.node("Identity", {tensors.back()});
}

// Adds a Loop of a few steps, or an If of a known condition or of one of the run.
bool GraphMaker::subgraph() {
  constexpr int64_t kFirstOpset = 11;
  const size_t x = pick({1, 2, 3, 4});
  const Live of = live_[x];
  if (of.quant.is_int16() || opset_ < kFirstOpset) return false;
  const std::string first = read(x), second = b_.node("Neg", {first});
  live_[x].is_read = true;
  Dims declared = of.dims;
  if (of.has_batch) declared[0] = -1;
  onnx::GraphProto& graph = b_.graph();
  onnx::NodeProto node;
  std::string y;
  if (dice_.coin()) {
    const std::string condition =
        dice_.coin() ? typed_input(kBool, {}) : typed_constant(kBool, {}, {dice_.integer(0, 1)});
    const int outside = graph.node_size();
    for (const char* branch : {"then_branch", "else_branch"}) {
      const std::string made = random_nodes({first, second}, of.amplitude);
      onnx::GraphProto* to = move_nodes(&graph, outside, &node, branch);
      OnnxBuilder::declare(to->add_output(), made, kFloat, declared);
    }
    node.set_op_type("If");
    node.add_input(condition);
    y = "chosen" + std::to_string(graph.node_size());
  } else {
    const std::string mark = std::to_string(graph.node_size()), state = "state" + mark;
    const std::string trips = b_.constant<int64_t>({}, {dice_.integer(1, 3)});
    const int outside = graph.node_size();
    const std::string made = random_nodes({state, second}, of.amplitude);
    const std::string goes_on = b_.node("Identity", {"condition" + mark});
    onnx::GraphProto* body = move_nodes(&graph, outside, &node, "body");
    OnnxBuilder::declare(body->add_input(), "step" + mark, kInt64, {});
    OnnxBuilder::declare(body->add_input(), "condition" + mark, kBool, {});
    OnnxBuilder::declare(body->add_input(), state, kFloat, declared);
    OnnxBuilder::declare(body->add_output(), goes_on, kBool, {});
    OnnxBuilder::declare(body->add_output(), made, kFloat, declared);
    node.set_op_type("Loop");
    for (const std::string& input : {trips, std::string(), first}) node.add_input(input);
    y = "last" + mark;
  }
  node.set_name(node.op_type() + y);
  node.add_output(y);
  *graph.add_node() = node;
  return finish(y, of.dims, of.amplitude, of.has_batch);
}

}  // namespace qrt::random_onnx
