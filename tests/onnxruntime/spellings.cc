// SPDX-License-Identifier: Apache-2.0
// Rewrites a graph as another exporter would write it: constants as nodes, or in fields of their type; nodes
// as calls of functions, or in a branch that is always taken.
#include <cstring>
#include <string>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {
namespace {

constexpr char kFunctionDomain[] = "test.functions";

template <class T, class Add>
void each(const std::string& raw, const Add& add) {
  for (size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T v;
    memcpy(&v, raw.data() + at, sizeof v);
    add(v);
  }
}

void to_typed_field(onnx::TensorProto* t) {
  const std::string raw = t->raw_data();
  const auto add32 = [&](int32_t v) { t->add_int32_data(v); };
  switch (t->data_type()) {
    case kFloat: each<float>(raw, [&](float v) { t->add_float_data(v); }); break;
    case kInt64: each<int64_t>(raw, [&](int64_t v) { t->add_int64_data(v); }); break;
    case kInt32: each<int32_t>(raw, add32); break;
    case kInt16: each<int16_t>(raw, add32); break;
    case kHalf:
    case kUint16: each<uint16_t>(raw, add32); break;
    case kInt8: each<int8_t>(raw, add32); break;
    default: each<uint8_t>(raw, add32);  // also of what shares bytes
  }
  t->clear_raw_data();
}

onnx::NodeProto to_node(const onnx::TensorProto& t) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.add_output(t.name());
  onnx::AttributeProto* a = node.add_attribute();
  a->set_name("value");
  a->set_type(onnx::AttributeProto::TENSOR);
  *a->mutable_t() = t;
  return node;
}

// Returns a function of the node alone, whose tensors are called as in every other one, and its call.
onnx::NodeProto to_call(const onnx::NodeProto& node, onnx::ModelProto* model) {
  onnx::FunctionProto* f = model->add_functions();
  f->set_domain(kFunctionDomain);
  f->set_name("call of " + node.name());
  for (const auto& entry : model->opset_import())
    if (entry.domain() != kFunctionDomain) *f->add_opset_import() = entry;
  onnx::NodeProto* body = f->add_node();
  *body = node;
  onnx::NodeProto call = node;
  call.clear_attribute();
  call.clear_input();
  call.set_op_type(f->name());
  call.set_domain(kFunctionDomain);
  for (int i = 0; i < node.input_size(); ++i) {
    if (node.input(i).empty()) continue;
    body->set_input(i, "a" + std::to_string(i));
    f->add_input(body->input(i));
    call.add_input(node.input(i));
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    body->set_output(i, "y" + std::to_string(i));
    f->add_output(body->output(i));
  }
  return call;
}

// Returns an If of a constant, both of whose branches are the node.
onnx::NodeProto to_branch(const onnx::NodeProto& node, bool condition, onnx::GraphProto* graph) {
  onnx::TensorProto* constant = graph->add_initializer();
  constant->set_name("condition of " + node.name());
  constant->set_data_type(kBool);
  constant->add_int32_data(condition);
  onnx::NodeProto branches;
  branches.set_op_type("If");
  branches.set_name("if of " + node.name());
  branches.add_input(constant->name());
  for (const std::string& output : node.output()) branches.add_output(output);
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = branches.add_attribute();
    a->set_name(branch);
    a->set_type(onnx::AttributeProto::GRAPH);
    a->mutable_g()->set_name("branch");
    onnx::NodeProto* inner = a->mutable_g()->add_node();
    *inner = node;
    for (int i = 0; i < node.output_size(); ++i) {
      inner->set_output(i, "branch of " + node.output(i));
      a->mutable_g()->add_output()->set_name(inner->output(i));
    }
  }
  return branches;
}

}  // namespace

void GraphMaker::enclose() {
  const bool functions = dice_.one_in(6), branches = dice_.one_in(6);
  if (!functions && !branches) return;
  if (functions) {
    auto* entry = b_.model.add_opset_import();
    entry->set_domain(kFunctionDomain);
    entry->set_version(1);
  }
  for (onnx::NodeProto& node : *b_.graph().mutable_node()) {
    if (node.op_type() == "Constant" || !dice_.one_in(3)) continue;
    if (branches && dice_.coin())
      node = to_branch(node, dice_.coin(), &b_.graph());
    else if (functions)
      node = to_call(node, &b_.model);
  }
}

void GraphMaker::respell() {
  enclose();
  const bool fields = dice_.one_in(4), nodes = dice_.one_in(4);
  if (!fields && !nodes) return;
  std::vector<onnx::NodeProto> constants;
  onnx::GraphProto rest = b_.graph();
  rest.clear_initializer();
  for (onnx::TensorProto t : b_.graph().initializer()) {
    if (fields && !t.raw_data().empty() && dice_.coin()) to_typed_field(&t);
    if (nodes && dice_.coin())
      constants.push_back(to_node(t));
    else
      *rest.add_initializer() = t;
  }
  rest.clear_node();
  for (const onnx::NodeProto& node : constants) *rest.add_node() = node;
  for (const onnx::NodeProto& node : b_.graph().node()) *rest.add_node() = node;
  b_.graph() = rest;
}

}  // namespace qrt::random_onnx
