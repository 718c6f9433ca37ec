// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/branches.h"

#include <memory>
#include <unordered_set>
#include <utility>

#include "converter/import/onnx/file/borders.h"
#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/names.h"
#include "converter/import/onnx/file/replace_nodes.h"

namespace qrt::convert::from_onnx {
namespace {

onnx::GraphProto* find_branch(onnx::NodeProto* node, bool condition) {
  const char* name = condition ? "then_branch" : "else_branch";
  for (onnx::AttributeProto& a : *node->mutable_attribute())
    if (a.name() == name && a.has_g()) return a.mutable_g();
  return nullptr;
}

// Puts the branch's nodes where the node was, and its constants among the graph's. `outputs`: the names that its results get.
// `renaming`: names that tensors of the outer graph get in the branch. `stays_subgraph`: ONNX Runtime does not do the same.
Status take_branch(onnx::NodeProto* node, const std::string& label, bool condition,
                   const std::vector<std::string>& outputs, Renaming renaming, bool stays_subgraph,
                   FreshNames* names, onnx::GraphProto* graph, Nodes* to) {
  onnx::GraphProto* branch = find_branch(node, condition);
  QRT_MODEL_CHECK(branch, "node %s (If) has no %s branch", label.c_str(),
                  condition ? "then" : "else");
  QRT_MODEL_CHECK(branch->input_size() == 0 && branch->sparse_initializer_size() == 0,
                  "node %s (If): a branch has inputs or sparse initialisers", label.c_str());
  QRT_MODEL_CHECK(branch->output_size() >= node->output_size(),
                  "node %s (If) has %d outputs, its branch %d", label.c_str(), node->output_size(),
                  branch->output_size());
  // Other names of outer tensors, which the branch may read, stay.
  for (const onnx::TensorProto& t : branch->initializer())
    renaming.set(t.name(), names->make(t.name()));
  std::unordered_set<std::string> made;
  for (const onnx::NodeProto& inner : branch->node())
    made.insert(inner.output().begin(), inner.output().end());
  // An output that a node of the branch makes gets the name of the If's output; other outputs pass
  // through an Identity.
  std::vector<std::pair<std::string, std::string>> passed;
  for (int i = 0; i < node->output_size(); ++i) {
    const std::string& inner = branch->output(i).name();
    const std::string& output = outputs[static_cast<size_t>(i)];
    if (output.empty()) continue;
    if (!made.count(inner) || renaming.has(inner))
      passed.emplace_back(inner, output);
    else
      renaming.set(inner, output);
  }
  for (const onnx::NodeProto& inner : branch->node())
    for (const std::string& name : inner.output())
      if (!name.empty() && !renaming.has(name)) renaming.set(name, names->make(name));

  for (onnx::TensorProto& t : *branch->mutable_initializer()) {
    t.set_name(renaming.of(t.name()));
    graph->add_initializer()->Swap(&t);
  }
  for (onnx::ValueInfoProto& info : *branch->mutable_value_info()) {
    info.set_name(renaming.of(info.name()));
    graph->add_value_info()->Swap(&info);
  }
  std::vector<std::unique_ptr<onnx::NodeProto>> inner_nodes(
      static_cast<size_t>(branch->node_size()));
  for (size_t i = inner_nodes.size(); i-- > 0;)
    inner_nodes[i].reset(branch->mutable_node()->ReleaseLast());  // the same objects: they are keys
  for (auto& inner : inner_nodes) {
    renaming.apply(inner.get());
    if (stays_subgraph) mark_in_subgraph(inner.get());
    to->AddAllocated(inner.release());
  }
  for (const auto& [from, output] : passed) add_node("Identity", {renaming.of(from)}, output, to);
  return Status();
}

}  // namespace

Status take_branches(const KnownConditions& conditions, onnx::GraphProto* graph) {
  FreshNames names(*graph);
  const Makers makers(*graph);
  return replace_nodes(graph, [&](int index, onnx::NodeProto* node, Nodes* to, bool* is_replaced) {
    const auto known = conditions.find(index);
    *is_replaced = known != conditions.end();
    if (!*is_replaced) return Status();
    Renaming renaming;
    add_copied_pairs(*node, makers, &names, &renaming, to);
    return take_branch(node, node_label(*node, index), known->second,
                       {node->output().begin(), node->output().end()}, std::move(renaming), false,
                       &names, graph, to);
  });
}

Status join_branches(const std::unordered_set<int>& joined, onnx::GraphProto* graph) {
  FreshNames names(*graph);
  const Makers makers(*graph);
  return replace_nodes(graph, [&](int index, onnx::NodeProto* node, Nodes* to, bool* is_replaced) {
    *is_replaced = joined.count(index) != 0;
    if (!*is_replaced) return Status();
    const std::string label = node_label(*node, index);
    std::vector<std::string> results[2];
    Renaming renaming;
    add_borders(*node, makers, &names, &renaming, to);
    for (const bool condition : {true, false}) {
      std::vector<std::string>& made = results[condition ? 0 : 1];
      for (const std::string& output : node->output())
        made.push_back(output.empty() ? "" : names.make(output));
      QRT_TRY(take_branch(node, label, condition, made, renaming, true, &names, graph, to));
    }
    for (int i = 0; i < node->output_size(); ++i) {
      if (node->output(i).empty()) continue;
      const auto at = static_cast<size_t>(i);
      onnx::NodeProto* choice =
          add_node("Where", {node->input(0), results[0][at], results[1][at]}, node->output(i), to);
      choice->set_name(node->name());
      onnx::AttributeProto* mark = choice->add_attribute();
      mark->set_name(kChoice);
      mark->set_type(onnx::AttributeProto::INT);
      mark->set_i(1);
    }
    return Status();
  });
}

}  // namespace qrt::convert::from_onnx
