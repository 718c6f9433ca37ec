// Pass: Transpose + flattening Reshape + FullyConnected. The rows that reach FullyConnected hold a
// permutation of the elements before the Transpose, so its weights take their columns in that order
// and the Transpose goes. Lut of one table may stand between.
#include "converter/passes/passes.h"
#include "converter/passes/permutation.h"

namespace qrt::convert {
namespace {

// The FullyConnected nodes that `value` reaches; false if it reaches anything else.
bool reaches_only_fully_connected(const Graph& graph, ValueId value, std::vector<int>* found) {
  if (graph.is_output(value)) return false;
  const std::vector<int> consumers = graph.consumers(value);
  for (int i : consumers) {
    const Node& node = graph.nodes[static_cast<size_t>(i)];
    if (const auto* lut = node.options.AsLut()) {
      if (lut->per_channel || !reaches_only_fully_connected(graph, node.outputs[0], found))
        return false;
    } else if (node.options.AsFullyConnected() && node.inputs[0] == value) {
      found->push_back(i);
    } else {
      return false;
    }
  }
  return !consumers.empty();
}

// The nodes behind the Reshape at `index` if a permutation of its input can go into them.
std::vector<int> fully_connected_behind(const Graph& graph, size_t index) {
  const Node& node = graph.nodes[index];
  if (!node.options.AsReshape()) return {};
  const Shape& in = graph.values[node.inputs[0]].type.shape;
  const Shape& out = graph.values[node.outputs[0]].type.shape;
  std::vector<int> found;
  if (in.rank() < 2 || out.rank() != 2 || in[0] != out[0] || out.elements() <= 0 ||
      !reaches_only_fully_connected(graph, node.outputs[0], &found))
    return {};
  return found;
}

}  // namespace

bool is_foldable_flatten(const Graph& graph, size_t index) {
  return !fully_connected_behind(graph, index).empty();
}

void fold_flatten(Graph* graph) {
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const std::vector<int> behind = fully_connected_behind(*graph, i);
    if (behind.empty()) continue;
    Node& reshape = graph->nodes[i];
    const int before = graph->producer(reshape.inputs[0]);
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
