// SPDX-License-Identifier: Apache-2.0
// Pass: Transpose + flattening Reshape + FullyConnected. The rows that reach FullyConnected hold a
// permutation of the elements before the Transpose, so its weights take their columns in that order
// and the Transpose goes. Lut of one table may stand between.
#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"
#include "converter/permutation.h"

namespace qrt::convert {

std::vector<int> fully_connected_behind(const Graph& graph, const DefUse& def_use, size_t index) {
  const Node& node = graph.nodes[index];
  if (!node.options.AsReshape()) return {};
  const Shape& in = graph.values[node.inputs[0]].type.shape;
  const Shape& out = graph.values[node.outputs[0]].type.shape;
  if (in.rank() < 2 || out.rank() != 2 || in[0] != out[0] || out.elements() <= 0) return {};
  std::vector<int> found;
  std::vector<ValueId> rows = {node.outputs[0]};
  while (!rows.empty()) {
    const ValueId value = rows.back();
    rows.pop_back();
    if (def_use.is_output[value] || def_use.consumers[value].empty()) return {};
    for (int i : def_use.consumers[value]) {
      const Node& consumer = graph.nodes[static_cast<size_t>(i)];
      const auto* lut = consumer.options.AsLut();
      if (lut && !lut->per_channel)
        rows.push_back(consumer.outputs[0]);
      else if (consumer.options.AsFullyConnected())
        found.push_back(i);
      else
        return {};
    }
  }
  return found;
}

void fold_flatten(Graph* graph) {
  const DefUse def_use(*graph);
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const std::vector<int> behind = fully_connected_behind(*graph, def_use, i);
    if (behind.empty()) continue;
    Node& reshape = graph->nodes[i];
    const int before = def_use.producer[reshape.inputs[0]];
    if (before < 0) continue;
    const Node& producer = graph->nodes[static_cast<size_t>(before)];
    const auto* transpose = producer.options.AsTranspose();
    if (!transpose || transpose->perm[0] != 0) continue;
    // A weights row [out dims...] in the order of the flattened row becomes [in dims...].
    const Perm back = inverse(transpose->perm);
    const Shape flattened = graph->values[reshape.inputs[0]].type.shape;
    for (int fc : behind) {
      Node& node = graph->nodes[static_cast<size_t>(fc)];
      Value weights = graph->values[node.inputs[1]];
      const Shape logical = weights.type.shape;
      weights.type.shape = {logical[0]};
      for (int d = 1; d < flattened.rank(); ++d) weights.type.shape.push_back(flattened[d]);
      weights = transposed_constant(weights, back);
      weights.type.shape = logical;
      node.inputs[1] = graph->add_value(std::move(weights));
    }
    reshape.inputs[0] = producer.inputs[0];
  }
  drop_dead(graph);
}

}  // namespace qrt::convert
