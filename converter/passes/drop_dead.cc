// SPDX-License-Identifier: Apache-2.0
// Pass: removes nodes that no output of the model needs.
#include <algorithm>

#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {

void drop_dead(Graph* graph) {
  std::vector<bool> needed(graph->values.size(), false);
  for (ValueId id : graph->outputs) needed[id] = true;
  auto& nodes = graph->nodes;
  for (size_t i = nodes.size(); i-- > 0;) {
    const auto& out = nodes[i].outputs;
    if (std::any_of(out.begin(), out.end(), [&](ValueId id) { return needed[id]; })) {
      for (ValueId id : nodes[i].inputs) needed[id] = true;
    } else {
      nodes[i].outputs.clear();
    }
  }
  erase_removed(graph);
}

}  // namespace qrt::convert
