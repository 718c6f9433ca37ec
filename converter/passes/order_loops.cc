// SPDX-License-Identifier: Apache-2.0
// Pass: keeps the bodies of loops to what each iteration computes. Sources, and other passes, order nodes by what they read alone.
#include <algorithm>
#include <vector>

#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

// Returns the index of the LoopEnd that reads the LoopBegin's first output.
size_t find_loop_end(const Graph& graph, size_t begin) {
  for (const int i : graph.consumers(graph.nodes[begin].outputs[0]))
    if (graph.nodes[static_cast<size_t>(i)].options.type == fb::OpOptions::LoopEnd)
      return static_cast<size_t>(i);
  return begin;
}

// Moves the nodes from a LoopBegin to its LoopEnd that do not depend on it in front of it. Returns how many there were.
size_t move_outer_nodes(Graph* graph, size_t begin, size_t end) {
  auto& nodes = graph->nodes;
  std::vector<bool> depends(graph->values.size());
  std::vector<Node> outer, inner;
  for (size_t i = begin; i <= end; ++i) {
    const auto& inputs = nodes[i].inputs;
    const bool is_inner = i == begin || std::any_of(inputs.begin(), inputs.end(),
                                                    [&](ValueId id) { return depends[id]; });
    for (const ValueId id : nodes[i].outputs) depends[id] = is_inner;
    (is_inner ? inner : outer).push_back(std::move(nodes[i]));
  }
  const auto to =
      std::move(outer.begin(), outer.end(), nodes.begin() + static_cast<ptrdiff_t>(begin));
  std::move(inner.begin(), inner.end(), to);
  return outer.size();
}

}  // namespace

void order_loops(Graph* graph) {
  for (size_t i = 0; i < graph->nodes.size();) {
    const bool begins = graph->nodes[i].options.type == fb::OpOptions::LoopBegin;
    // The nodes that come to stand here may begin a loop, too, which ends behind this one.
    if (!begins || move_outer_nodes(graph, i, find_loop_end(*graph, i)) == 0) ++i;
  }
}

}  // namespace qrt::convert
