// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/drop_unread.h"

#include <algorithm>

namespace qrt::convert {

void drop_unread(Graph* graph) {
  std::vector<bool> read(graph->values.size(), false);
  for (ValueId v : graph->outputs) read[v] = true;
  std::vector<Node> kept;
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    Node& node = graph->nodes[i];
    const bool needed =
        std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return read[v]; });
    if (!needed) continue;
    for (ValueId v : node.inputs) read[v] = true;
    for (ValueId v : node.outputs) read[v] = true;
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  graph->nodes = std::move(kept);
  for (ValueId v : graph->inputs) read[v] = true;
  // Inputs that are empty at these sizes stay: at other sizes the graph reads them.
  for (ValueId v = 0; v < read.size(); ++v)
    if (graph->values[v].type.shape.elements() == 0) read[v] = true;
  std::vector<ValueId> renumbered(graph->values.size(), kNoValue);
  std::vector<Value> values;
  for (ValueId v = 0; v < renumbered.size(); ++v) {
    if (!read[v]) continue;
    renumbered[v] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph->values[v]));
  }
  graph->values = std::move(values);
  const auto renumber = [&](std::vector<ValueId>* ids) {
    for (ValueId& v : *ids) v = renumbered[v];
  };
  for (Node& node : graph->nodes) {
    renumber(&node.inputs);
    renumber(&node.outputs);
  }
  renumber(&graph->inputs);
  renumber(&graph->outputs);
}

}  // namespace qrt::convert
