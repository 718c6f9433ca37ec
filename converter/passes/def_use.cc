// SPDX-License-Identifier: Apache-2.0
// Who writes and who reads each value.
#include "converter/passes/def_use.h"

#include <algorithm>
#include <numeric>

namespace qrt::convert {

DefUse::DefUse(const Graph& graph)
    : producer(graph.values.size(), -1),
      consumers(graph.values.size()),
      is_output(graph.values.size(), false) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId id : graph.nodes[i].outputs) producer[id] = static_cast<int>(i);
    for (ValueId id : graph.nodes[i].inputs) consumers[id].push_back(static_cast<int>(i));
  }
  for (ValueId id : graph.outputs) is_output[id] = true;
}

Joiner::Joiner(Graph* graph) : graph_(graph), joined_(graph->values.size()) {
  std::iota(joined_.begin(), joined_.end(), ValueId{0});
  DefUse def_use(*graph);
  producer_ = std::move(def_use.producer);
  is_output_ = std::move(def_use.is_output);
  for (const auto& consumers : def_use.consumers) readers_.push_back(consumers.size());
}

ValueId Joiner::resolve(ValueId id) const {
  while (id < joined_.size() && joined_[id] != id) id = joined_[id];
  return id;
}

void Joiner::remove(size_t node) {
  graph_->nodes[node].inputs.clear();
  graph_->nodes[node].outputs.clear();
}

bool Joiner::join(size_t node) {
  const ValueId in = resolve(graph_->nodes[node].inputs[0]), out = graph_->nodes[node].outputs[0];
  const int producer = producer_[in];
  ValueId gone = out, stays = in;
  if (is_output_[out]) {
    if (producer < 0 || is_output_[in]) return false;
    std::swap(gone, stays);
    auto& outputs = graph_->nodes[static_cast<size_t>(producer)].outputs;
    std::replace(outputs.begin(), outputs.end(), in, out);
  }
  Value &kept = graph_->values[stays], &lost = graph_->values[gone];
  if (kept.quantization.scale.empty()) kept.quantization = lost.quantization;
  joined_[gone] = stays;
  producer_[stays] = producer;
  readers_[stays] = readers_[in] - 1 + readers_[out];
  remove(node);
  return true;
}

void Joiner::replace(size_t before, size_t node) {
  const ValueId source = resolve(graph_->nodes[before].inputs[0]);
  graph_->nodes[node].inputs[0] = source;
  remove(before);
}

void Joiner::finish() {
  for (Node& node : graph_->nodes)
    for (ValueId& id : node.inputs) id = resolve(id);
  erase_removed(graph_);
}

std::string joined_ops(const std::string& first, const std::string& second) {
  constexpr size_t kLongest = 120, kHead = 50;
  constexpr char kBetween[] = "+...+";
  if (first.size() + second.size() < kLongest) return first + "+" + second;
  const size_t known = first.find(kBetween);
  const std::string head = first.substr(0, std::min({known, first.find('+', kHead), kLongest}));
  return head + kBetween + second.substr(second.rfind('+') + 1).substr(0, kLongest);
}

void erase_removed(Graph* graph) {
  auto& nodes = graph->nodes;
  nodes.erase(
      std::remove_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.outputs.empty(); }),
      nodes.end());
}

}  // namespace qrt::convert
