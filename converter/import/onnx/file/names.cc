// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/names.h"

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Calls f(name) for each name that the graph or a subgraph of it defines or reads. Protobuf's own
// limit bounds the depth.
template <class F>
void for_all_names(const onnx::GraphProto& graph, const F& f) {
  for (const onnx::TensorProto& t : graph.initializer()) f(t.name());
  for (const auto* infos : {&graph.input(), &graph.output(), &graph.value_info()})
    for (const onnx::ValueInfoProto& info : *infos) f(info.name());
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) f(name);
    for (const std::string& name : node.output()) f(name);
    for (const onnx::AttributeProto& a : node.attribute()) {
      if (a.has_g()) for_all_names(a.g(), f);
      for (const onnx::GraphProto& g : a.graphs()) for_all_names(g, f);
    }
  }
}

}  // namespace

FreshNames::FreshNames(const onnx::GraphProto& graph) {
  for_all_names(graph, [&](const std::string& name) { taken_.insert(name); });
}

std::string FreshNames::make(const std::string& wanted) {
  std::string name = wanted;
  while (!taken_.insert(name).second) name = wanted + "#" + std::to_string(next_++);
  return name;
}

std::string Renaming::of(const std::string& name) {
  if (name.empty()) return name;
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  return fresh_ ? names_[name] = fresh_->make(prefix_ + name) : name;
}

void Renaming::apply(onnx::NodeProto* node) {
  for (std::string& name : *node->mutable_input()) name = of(name);
  for (std::string& name : *node->mutable_output()) name = of(name);
  for (onnx::AttributeProto& a : *node->mutable_attribute()) {
    if (a.has_g()) apply(a.mutable_g());
    for (onnx::GraphProto& g : *a.mutable_graphs()) apply(&g);
  }
}

void Renaming::apply(onnx::GraphProto* graph) {
  for (onnx::TensorProto& t : *graph->mutable_initializer()) t.set_name(of(t.name()));
  for (auto* infos : {graph->mutable_input(), graph->mutable_output(), graph->mutable_value_info()})
    for (onnx::ValueInfoProto& info : *infos) info.set_name(of(info.name()));
  for (onnx::NodeProto& node : *graph->mutable_node()) apply(&node);
}

}  // namespace qrt::convert::from_onnx
