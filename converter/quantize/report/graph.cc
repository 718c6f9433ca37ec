// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/report/graph.h"

#include <algorithm>
#include <map>
#include <set>

namespace qrt::quantize {

GraphFinding graph_finding(const FloatModel& model, const std::vector<TensorFinding>& tensors) {
  std::map<std::string, double> shares;
  double all = 0;
  for (const TensorFinding& t : tensors) all += t.alone;
  for (const TensorFinding& t : tensors) shares[t.name] = all > 0 ? t.alone / all : 0;
  GraphFinding graph;
  std::map<std::string, size_t> writers;
  const auto add = [&](const char* kind, const std::string& name, const std::string& op,
                       const std::vector<std::string>& made) {
    GraphFinding::Node node = {kind, name, op, -1};
    for (const std::string& value : made) {
      if (!value.empty()) writers[value] = graph.nodes.size();
      if (const auto share = shares.find(value); share != shares.end())
        node.share = std::max(node.share, 0.0) + share->second;
    }
    graph.nodes.push_back(std::move(node));
  };
  const auto connect = [&](const std::vector<std::string>& read, size_t to) {
    std::set<size_t> from;
    for (const std::string& value : read)
      if (const auto writer = writers.find(value); writer != writers.end())
        from.insert(writer->second);
    for (const size_t i : from) graph.edges.emplace_back(i, to);
  };
  for (const Value& input : model.inputs) add("input", input.name, "", {input.name});
  for (const Node& node : model.nodes) {
    connect(node.inputs, graph.nodes.size());
    add("operator", node.name, node.op, node.outputs);
  }
  for (const Value& output : model.outputs) {
    connect({output.name}, graph.nodes.size());
    add("output", output.name, "", {});
  }
  return graph;
}

}  // namespace qrt::quantize
