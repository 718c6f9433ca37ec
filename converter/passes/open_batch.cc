// SPDX-License-Identifier: Apache-2.0
// Pass: makes dimension 0 of every value symbolic, so that one file serves any batch. Allowed only
// where every operator treats the indices of dimension 0 independently and alike; one that does not
// keeps all shapes of the model fixed.
#include "converter/batch.h"
#include "converter/passes/passes.h"

namespace qrt::convert {

void open_batch(Graph* graph) {
  if (!graph->batch_closed.empty()) return;
  const Shape none;
  const Shape& first = graph->inputs.empty() ? none : graph->values[graph->inputs[0]].type.shape;
  const int64_t batch = first.rank() > 0 ? first[0] : 0;
  std::vector<bool> carries;
  graph->batch_closed = follow_batch(*graph, batch, &carries);
  if (!graph->batch_closed.empty()) return;
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
