// Rewrites that several passes share.
#include <algorithm>

#include "converter/passes/passes.h"

namespace qrt::convert {

bool join_values(Graph* graph, size_t index) {
  const ValueId in = graph->nodes[index].inputs[0], out = graph->nodes[index].outputs[0];
  ValueId gone = out, stays = in;
  if (graph->is_output(out)) {
    const int producer = graph->producer(in);
    if (producer < 0 || graph->is_output(in)) return false;
    std::replace(graph->nodes[static_cast<size_t>(producer)].outputs.begin(),
                 graph->nodes[static_cast<size_t>(producer)].outputs.end(), in, out);
    std::swap(gone, stays);
  }
  Value& kept = graph->values[stays];
  if (kept.quantization.scale.empty()) kept.quantization = graph->values[gone].quantization;
  graph->nodes[index].inputs.clear();
  graph->nodes[index].outputs.clear();
  for (Node& node : graph->nodes) std::replace(node.inputs.begin(), node.inputs.end(), gone, stays);
  return true;
}

void erase_joined(Graph* graph) {
  auto& nodes = graph->nodes;
  nodes.erase(
      std::remove_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.outputs.empty(); }),
      nodes.end());
}

}  // namespace qrt::convert
