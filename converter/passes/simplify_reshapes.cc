// SPDX-License-Identifier: Apache-2.0
// Pass: merges Reshapes that follow each other and equal ones, drops those that keep the shape. One
// that gives its bytes another zero point stays: a FullyConnected takes that of what it reads.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {

namespace {

bool same_zero_points(const Value& a, const Value& b) {
  const std::vector<int32_t>&p = a.quantization.zero_point, &q = b.quantization.zero_point;
  return p.empty() || q.empty() || p == q;
}

}  // namespace

void simplify_reshapes(Graph* graph) {
  Joiner joiner(graph);
  std::map<std::pair<ValueId, std::string>, ValueId> made;  // (input, shape) -> output
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    Node& node = graph->nodes[i];
    if (!node.options.AsReshape()) continue;
    ValueId in = joiner.resolve(node.inputs[0]);
    const int before = joiner.producer(in);
    if (before >= 0 && graph->nodes[static_cast<size_t>(before)].options.AsReshape())
      in = joiner.resolve(graph->nodes[static_cast<size_t>(before)].inputs[0]);
    node.inputs[0] = in;
    const ValueId out = node.outputs[0];
    const Shape& shape = graph->values[out].type.shape;
    const auto is_as = [&](ValueId other) {
      return same_zero_points(graph->values[other], graph->values[out]);
    };
    if (graph->values[in].type.shape == shape && is_as(in) && joiner.join(i)) continue;
    const auto [twin, is_first] = made.try_emplace({in, shape.to_string()}, out);
    if (is_first || joiner.is_output(out) || !is_as(twin->second)) continue;
    node.inputs[0] = twin->second;
    joiner.join(i);
  }
  joiner.finish();
  drop_dead(graph);
}

}  // namespace qrt::convert
