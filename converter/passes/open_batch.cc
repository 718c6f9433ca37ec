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
  const auto shape = [&](ValueId id) -> const Shape& { return graph.values[id].type.shape; };
  const ValueId in = node.inputs[0], out = node.outputs[0];
  if (shape(out).rank() < 1 || shape(out)[0] != batch) return false;
  const int rank = shape(out).rank();
  const auto* island = node.options.AsFloat();
  if (broadcasts(node) || (node.options.AsBatchMatMul() && rank >= 3) ||
      (island && island->function >= fb::FloatFunction::ADD &&
       island->function <= fb::FloatFunction::MAXIMUM)) {
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      const Shape& s = shape(id);
      if (graph.values[id].is_constant) return s.rank() < rank || s[0] == 1;
      return carries[id] && s.rank() == rank;
    });
  }
  if (const auto* take = node.options.AsTake()) {
    const ValueId index = node.inputs[1];
    if (graph.values[in].is_constant) return take->axis == 0 && carries[index];
    return carries[in] && take->axis > 0 &&
           (take->batch_dims > 0 ? carries[index] : graph.values[index].is_constant);
  }
  if (const auto* concat = node.options.AsConcat())
    return concat->axis != 0 && std::all_of(node.inputs.begin(), node.inputs.end(),
                                            [&](ValueId id) { return carries[id]; });
  if (!carries[in]) return false;
  if (const auto* arg_max = node.options.AsArgMax()) return arg_max->axis != 0;
  if (const auto* reduce = node.options.AsReduce()) return reduce->axis != 0;
  if (node.options.AsSuppressBoxes()) return carries[node.inputs[1]];
  if (const auto* transpose = node.options.AsTranspose()) return transpose->perm[0] == 0;
  if (const auto* lstm = node.options.AsLstm()) return !lstm->time_major;
  if (const auto* quantize = node.options.AsQuantize())
    return quantize->axis != 0 && quantize->block_size == 0;
  if (const auto* dequantize = node.options.AsDequantize())
    return dequantize->axis != 0 && dequantize->block_size == 0;
  if (node.options.AsDynamicQuantize() || node.options.AsDynamicProduct()) return false;
  if (const auto* gather = node.options.AsGather())
    return gather->axes.empty() || gather->axes[0]->axis != 0;
  if (const auto* lut = node.options.AsLut()) return !lut->per_channel || shape(in).rank() >= 2;
  if (node.options.AsRequantize() && node.inputs.size() == 2 && shape(node.inputs[1])[0] != 1)
    return shape(in).rank() >= 2;
  if (node.options.AsBatchMatMul()) return false;
  if (node.options.AsSoftmax() || node.options.AsFullyConnected() || node.options.AsTopK() ||
      island)
    return shape(in).rank() >= 2;
  return true;  // Reshape keeps dimension 0 (checked above); images have theirs in front
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
