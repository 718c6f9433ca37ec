// SPDX-License-Identifier: Apache-2.0
// Follows the batch through a graph; see batch.h.
#include "converter/batch.h"

namespace qrt::convert {
namespace {

bool has_batch(const Value& value, int64_t batch) {
  return value.type.shape.rank() > 0 && value.type.shape[0] == batch;
}

bool keeps_images_apart(const Graph& graph, const Node& node, int64_t batch,
                        const std::vector<bool>& carries) {
  BatchOperands operands;
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const Value& v = graph.values[node.inputs[slot]];
    if (!v.is_constant && !carries[node.inputs[slot]]) return false;
    if (!input_is_table(node, slot)) operands.inputs.push_back({v.type.shape, v.is_constant});
  }
  for (ValueId id : node.outputs)
    if (!has_batch(graph.values[id], batch)) return false;
  operands.output = graph.values[node.outputs[0]].type.shape;
  return traits(node).keeps_images_apart(StoredForm(node).op(), operands);
}

}  // namespace

std::string label_of(const Node& node) {
  const std::string op =
      node.source_op.empty() ? fb::EnumNameOpOptions(node.options.type) : node.source_op;
  return "node '" + node.name + "' (" + op + ")";
}

std::string follow_batch(const Graph& graph, int64_t batch, std::vector<bool>* carries) {
  carries->assign(graph.values.size(), false);
  if (graph.inputs.empty()) return "the model has no input";
  for (ValueId id : graph.inputs) {
    if (!has_batch(graph.values[id], batch))
      return "input '" + graph.values[id].name + "' has no batch in front";
    (*carries)[id] = true;
  }
  for (const Node& node : graph.nodes) {
    if (!keeps_images_apart(graph, node, batch, *carries))
      return label_of(node) + " runs in a form that does not keep the images of a batch apart";
    for (ValueId id : node.outputs) (*carries)[id] = true;
  }
  for (ValueId id : graph.outputs)
    if (!(*carries)[id]) return "output '" + graph.values[id].name + "' has no batch in front";
  for (ValueId id = 0; id < carries->size(); ++id)
    if ((*carries)[id] && graph.values[id].quantization.axis == 0)
      return "tensor '" + graph.values[id].name + "' has a scale for every image of the batch";
  return "";
}

}  // namespace qrt::convert
