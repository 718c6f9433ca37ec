// Pass: merges Reshapes that follow each other and equal ones, drops those that keep the shape.
#include <map>
#include <string>
#include <utility>

#include "converter/passes/links.h"
#include "converter/passes/passes.h"

namespace qrt::convert {

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
    if (graph->values[in].type.shape == shape && joiner.join(i)) continue;
    const auto [twin, is_first] = made.try_emplace({in, shape.to_string()}, out);
    if (is_first || joiner.is_output(out)) continue;
    node.inputs[0] = twin->second;
    joiner.join(i);
  }
  joiner.finish();
  drop_dead(graph);
}

}  // namespace qrt::convert
