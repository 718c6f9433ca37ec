// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/borders.h"

#include <unordered_set>
#include <vector>

#include "converter/import/onnx/file/model.h"

namespace qrt::convert::from_onnx {
namespace {

bool is_pair_node(const onnx::NodeProto& node) {
  return node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear";
}

bool has_pair_node(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node()) {
    if (is_pair_node(node)) return true;
    for (const onnx::AttributeProto& a : node.attribute())
      if (a.has_g() && has_pair_node(a.g())) return true;
  }
  return false;
}

// Returns the names of the outer graph that the node's subgraphs read, each once.
std::vector<std::string> outer_reads(const onnx::NodeProto& node) {
  std::vector<std::string> all, once;
  collect_subgraph_reads(node, &all);
  std::unordered_set<std::string> seen;
  for (std::string& name : all)
    if (!name.empty() && seen.insert(name).second) once.push_back(std::move(name));
  return once;
}

}  // namespace

bool is_copied_across(const std::string& op) {
  static const std::unordered_set<std::string> kOps = {"Reshape",   "Squeeze", "Unsqueeze",
                                                       "Transpose", "Slice",   "MaxPool"};
  return kOps.count(op) != 0;
}

Makers::Makers(const onnx::GraphProto& graph) : has_pairs_(has_pair_node(graph)) {
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) makers_.emplace(name, &node);
    if (node.op_type() == "QuantizeLinear" && node.input_size() > 0) ++quantized_[node.input(0)];
  }
}

const onnx::NodeProto* Makers::find(const std::string& tensor) const {
  const auto found = makers_.find(tensor);
  return found == makers_.end() ? nullptr : found->second;
}

const onnx::NodeProto* Makers::find_copied(const std::string& tensor) const {
  std::string name = tensor;
  for (size_t nodes = 0; nodes <= makers_.size(); ++nodes) {
    const onnx::NodeProto* maker = find(name);
    if (!maker || maker->input_size() == 0) return nullptr;
    if (maker->op_type() == "DequantizeLinear") return nodes > 0 ? maker : nullptr;
    if (!is_copied_across(maker->op_type()) || quantized_.count(name) != 0) return nullptr;
    name = maker->input(0);
  }
  return nullptr;
}

namespace {

void mark(const char* name, onnx::NodeProto* node) {
  onnx::AttributeProto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(1);
}

}  // namespace

void mark_in_subgraph(onnx::NodeProto* node) {
  if (node->op_type() == "QuantizeLinear") mark(kInSubgraph, node);
}

onnx::NodeProto* add_border(const std::string& from, const std::string& to_name, Nodes* to) {
  onnx::NodeProto* border = add_node("Identity", {from}, to_name, to);
  mark(kBorder, border);
  return border;
}

void add_borders(const onnx::NodeProto& node, const Makers& makers, FreshNames* names,
                 Renaming* renaming, Nodes* to) {
  if (!makers.has_pairs()) return;
  for (const std::string& name : outer_reads(node)) {
    const onnx::NodeProto* maker = makers.find(name);
    if (!maker || maker->op_type() == "Constant" || maker->op_type() == "Shape") continue;
    const std::string inside = names->make(name);
    add_border(name, inside, to);
    renaming->set(name, inside);
  }
}

void add_copied_pairs(const onnx::NodeProto& node, const Makers& makers, FreshNames* names,
                      Renaming* renaming, Nodes* to) {
  constexpr int kZeroPoint = 2;
  for (const std::string& name : outer_reads(node)) {
    const onnx::NodeProto* copied = makers.find_copied(name);
    if (!copied || copied->input_size() <= kZeroPoint || copied->input(kZeroPoint).empty())
      continue;
    const std::string codes = names->make(name), inside = names->make(name);
    add_node("QuantizeLinear", {name, copied->input(1), copied->input(kZeroPoint)}, codes, to);
    add_node("DequantizeLinear", {codes, copied->input(1), copied->input(kZeroPoint)}, inside, to);
    renaming->set(name, inside);
  }
}

}  // namespace qrt::convert::from_onnx
