// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/runtime_nodes.h"

#include <algorithm>

#include "converter/convert.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/quantize/float/memory_file.h"
#include "converter/quantize/float/onnx_parts.h"
#include "google/protobuf/arena.h"
#include "onnx/onnx_pb.h"

namespace qrt::quantize {
namespace {

constexpr int64_t kIrVersion = 10;
// The bytes of nodes that are kept for the next run.
constexpr uint64_t kMostKept = 256 << 20;

std::string input_name(size_t i) { return "x" + std::to_string(i); }
std::string output_name(size_t i) { return "y" + std::to_string(i); }

// Writes a model of one node. Inputs of which `is_fixed` says so become constants.
std::string document_of(const Node& node, const std::vector<const Tensor*>& inputs,
                        const std::vector<bool>& is_fixed) {
  // On an arena: outside one protobuf's destructors fail where it ran out of memory in the middle.
  google::protobuf::Arena arena;
  auto& proto = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  proto.set_ir_version(kIrVersion);
  for (const std::string& domain : {std::string(), node.domain}) {
    auto* opset = proto.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(domain.empty() ? kOpset : 1);
    if (node.domain.empty()) break;
  }
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.set_name("node");
  onnx::NodeProto& n = *graph.add_node();
  n.set_name(node.name);
  n.set_op_type(node.op);
  n.set_domain(node.domain);
  for (const auto& [name, attribute] : node.attributes)
    set_attribute(name, attribute, n.add_attribute());
  for (size_t i = 0; i < inputs.size(); ++i) {
    n.add_input(inputs[i] == nullptr ? "" : input_name(i));
    if (inputs[i] == nullptr) continue;
    if (is_fixed[i]) {
      set_tensor(input_name(i), *inputs[i], graph.add_initializer());
      continue;
    }
    auto* input = graph.add_input();
    input->set_name(input_name(i));
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx_element(inputs[i]->element));
    type->mutable_shape();
    for (const int64_t d : inputs[i]->shape) type->mutable_shape()->add_dim()->set_dim_value(d);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    n.add_output(node.outputs[i].empty() ? "" : output_name(i));
    if (!node.outputs[i].empty()) graph.add_output()->set_name(output_name(i));
  }
  return proto.SerializeAsString();
}

Status create_runner(const std::string& document, IntegerRunner* runner) {
  MemoryFile file;
  QRT_TRY(file.create(document));
  convert::Graph graph;
  convert::Report report;
  Status imported = convert::import_onnx(file.path(), &graph, &report, true);
  for (const convert::Finding& f : report.findings())
    if (f.outcome == convert::Outcome::kRefused) return Status(Code::kUnsupported, f.rule);
  QRT_TRY(std::move(imported));
  QRT_TRY(convert::run_passes(&graph, nullptr));
  std::vector<uint8_t> bytes;
  QRT_TRY(convert::write_model(graph, &bytes, {}));
  return runner->create(bytes, 1);
}

}  // namespace

bool is_runtime_operator(const std::string& domain, const std::string& op) {
  return op != "If" && op != "Loop" && op != "Scan" &&
         convert::from_onnx::find_op_entry(domain, op) != nullptr;
}

Status RuntimeNodes::find_runner(const std::string& document, IntegerRunner** runner) {
  const auto known = std::find_if(runners_.begin(), runners_.end(),
                                  [&](const auto& r) { return r.first == document; });
  if (known != runners_.end()) {
    runners_.splice(runners_.begin(), runners_, known);
  } else {
    IntegerRunner made;
    QRT_TRY(create_runner(document, &made));
    kept_ += document.size() + made.bytes();
    runners_.emplace_front(document, std::move(made));
    while (kept_ > kMostKept && runners_.size() > 1) {
      kept_ -= runners_.back().first.size() + runners_.back().second.bytes();
      runners_.pop_back();
    }
  }
  *runner = &runners_.front().second;
  return {};
}

Status RuntimeNodes::run(const Node& node, const std::vector<const Tensor*>& inputs,
                         const std::vector<bool>& is_constant, const Charge& charge,
                         std::vector<Tensor>* outputs) {
  std::vector<bool> is_fixed = is_constant;
  IntegerRunner* runner = nullptr;
  Status status = find_runner(document_of(node, inputs, is_fixed), &runner);
  if (status.code() == Code::kUnsupported) {
    // Takes integers that the model computes, such as lengths, for the constants that they may still become.
    for (size_t i = 0; i < inputs.size(); ++i)
      is_fixed[i] = is_fixed[i] || (inputs[i] != nullptr && !inputs[i]->is_real());
    if (is_fixed != is_constant) {
      const Status again = find_runner(document_of(node, inputs, is_fixed), &runner);
      if (again.ok()) status = Status();
    }
  }
  QRT_TRY(std::move(status));
  QRT_TRY(charge(runner->macs()));
  Values feeds, made;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr && !is_fixed[i]) feeds[input_name(i)] = *inputs[i];
  QRT_TRY(runner->run(feeds, &made));
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty()) (*outputs)[i] = std::move(made[output_name(i)]);
  return {};
}

}  // namespace qrt::quantize
