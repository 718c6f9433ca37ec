// Pass: makes dimension 0 of every value symbolic, so that one file serves any batch. Allowed only
// where every operator treats the indices of dimension 0 independently and alike; one that does not
// keeps all shapes of the model fixed.
#include <algorithm>

#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

// `carries`: by value, whether its dimension 0 is the batch.
bool keeps_batch(const Graph& graph, const Node& node, int64_t batch,
                 const std::vector<bool>& carries) {
  BatchOperands operands;
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const Value& v = graph.values[node.inputs[slot]];
    if (!v.is_constant && !carries[node.inputs[slot]]) return false;
    if (!input_is_table(node, slot)) operands.inputs.push_back({v.type.shape, v.is_constant});
  }
  for (ValueId id : node.outputs) {
    const Shape& s = graph.values[id].type.shape;
    if (s.rank() < 1 || s[0] != batch) return false;
  }
  operands.output = graph.values[node.outputs[0]].type.shape;
  return traits(node).keeps_images_apart(StoredForm(node).op(), operands);
}

}  // namespace

void open_batch(Graph* graph) {
  if (graph->inputs.empty() || graph->batch_is_fixed) return;
  const Shape& first = graph->values[graph->inputs[0]].type.shape;
  const int64_t batch = first.rank() > 0 ? first[0] : 0;
  std::vector<bool> carries(graph->values.size(), false);
  for (ValueId id : graph->inputs) {
    const Shape& s = graph->values[id].type.shape;
    if (s.rank() == 0 || s[0] != batch || batch < 1) return;
    carries[id] = true;
  }
  for (const Node& node : graph->nodes) {
    if (!keeps_batch(*graph, node, batch, carries)) return;
    for (ValueId id : node.outputs) carries[id] = true;
  }
  for (ValueId id : graph->outputs)
    if (!carries[id]) return;
  for (ValueId id = 0; id < carries.size(); ++id)
    if (carries[id] && graph->values[id].quantization.axis == 0) return;
  for (ValueId id = 0; id < carries.size(); ++id)
    if (carries[id]) graph->values[id].type.shape[0] = -1;
  for (Node& node : graph->nodes)
    if (auto* reshape = node.options.AsReshape()) {
      const Shape& out = graph->values[node.outputs[0]].type.shape;
      reshape->shape.assign(out.begin(), out.end());
    }
  graph->default_batch = batch;
  graph->batch_is_open = true;
}

}  // namespace qrt::convert
