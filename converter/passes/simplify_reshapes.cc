// Pass: merges chains of Reshape and equal ones, drops those that keep the shape.
#include <algorithm>

#include "converter/passes/passes.h"

namespace qrt::convert {

void simplify_reshapes(Graph* graph) {
  std::vector<int> reshape_of(graph->values.size(), -1);  // value -> the Reshape that writes it
  auto& nodes = graph->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Node& node = nodes[i];
    if (!node.options.AsReshape()) continue;
    if (const int before = reshape_of[node.inputs[0]]; before >= 0)
      node.inputs[0] = nodes[static_cast<size_t>(before)].inputs[0];
    const ValueId in = node.inputs[0], out = node.outputs[0];
    const Shape& shape = graph->values[out].type.shape;
    if (graph->values[in].type.shape == shape && join_values(graph, i)) continue;
    // The same Reshape of the same value, earlier.
    const auto twin = std::find_if(
        nodes.begin(), nodes.begin() + static_cast<int64_t>(i), [&](const Node& other) {
          return other.options.AsReshape() && !other.outputs.empty() && other.inputs[0] == in &&
                 graph->values[other.outputs[0]].type.shape == shape;
        });
    if (twin != nodes.begin() + static_cast<int64_t>(i) && !graph->is_output(out)) {
      node.inputs[0] = twin->outputs[0];
      join_values(graph, i);
      continue;
    }
    reshape_of[out] = static_cast<int>(i);
  }
  erase_joined(graph);
  drop_dead(graph);
}

}  // namespace qrt::convert
