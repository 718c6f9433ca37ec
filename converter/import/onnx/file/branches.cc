#include "converter/import/onnx/file/branches.h"

#include <memory>
#include <unordered_set>

#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/names.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

onnx::GraphProto* find_branch(onnx::NodeProto* node, bool condition) {
  const char* name = condition ? "then_branch" : "else_branch";
  for (onnx::AttributeProto& a : *node->mutable_attribute())
    if (a.name() == name && a.has_g()) return a.mutable_g();
  return nullptr;
}

// Puts the branch's nodes where the node was, and its constants among the graph's.
Status take_branch(onnx::NodeProto* node, const std::string& label, bool condition,
                   FreshNames* names, onnx::GraphProto* graph, Nodes* to) {
  onnx::GraphProto* branch = find_branch(node, condition);
  QRT_MODEL_CHECK(branch, "node %s (If) has no %s branch", label.c_str(),
                  condition ? "then" : "else");
  QRT_MODEL_CHECK(branch->input_size() == 0 && branch->sparse_initializer_size() == 0,
                  "node %s (If): a branch has inputs or sparse initialisers", label.c_str());
  QRT_MODEL_CHECK(branch->output_size() >= node->output_size(),
                  "node %s (If) has %d outputs, its branch %d", label.c_str(), node->output_size(),
                  branch->output_size());
  // Names of outer tensors, which the branch may read, stay.
  Renaming renaming;
  for (const onnx::TensorProto& t : branch->initializer())
    renaming.set(t.name(), names->make(t.name()));
  std::unordered_set<std::string> made;
  for (const onnx::NodeProto& inner : branch->node())
    made.insert(inner.output().begin(), inner.output().end());
  // An output that a node makes gets the name outside; what else is an output passes an Identity.
  std::vector<std::pair<std::string, std::string>> passed;
  for (int i = 0; i < node->output_size(); ++i) {
    const std::string& inner = branch->output(i).name();
    if (node->output(i).empty()) continue;
    if (!made.count(inner) || renaming.has(inner))
      passed.emplace_back(inner, node->output(i));
    else
      renaming.set(inner, node->output(i));
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
    to->AddAllocated(inner.release());
  }
  for (const auto& [from, output] : passed) {
    onnx::NodeProto* identity = to->Add();
    identity->set_op_type("Identity");
    identity->add_input(renaming.of(from));
    identity->add_output(output);
  }
  return Status();
}

}  // namespace

Status take_branches(const KnownConditions& conditions, onnx::GraphProto* graph) {
  FreshNames names(*graph);
  std::vector<std::unique_ptr<onnx::NodeProto>> nodes(static_cast<size_t>(graph->node_size()));
  for (size_t i = nodes.size(); i-- > 0;) nodes[i].reset(graph->mutable_node()->ReleaseLast());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int index = static_cast<int>(i);
    const auto known = conditions.find(index);
    if (known == conditions.end())
      graph->mutable_node()->AddAllocated(nodes[i].release());
    else
      QRT_TRY(take_branch(nodes[i].get(), node_label(*nodes[i], index), known->second, &names,
                          graph, graph->mutable_node()));
  }
  return Status();
}

}  // namespace qrt::convert::from_onnx
