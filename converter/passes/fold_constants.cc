// Pass: Transpose and Reshape of constants become constants. (Front ends fold everything else.)
#include "converter/passes/links.h"
#include "converter/passes/passes.h"
#include "converter/passes/permutation.h"

namespace qrt::convert {

void fold_constants(Graph* graph) {
  for (Node& node : graph->nodes) {
    const auto* transpose = node.options.AsTranspose();
    if (!transpose && !node.options.AsReshape()) continue;
    const Value& in = graph->values[node.inputs[0]];
    Value& out = graph->values[node.outputs[0]];
    if (!in.is_constant || in.packing != fb::Packing::NONE || graph->is_output(node.outputs[0]))
      continue;
    if (transpose)
      out.data = transposed_constant(in, transpose->perm).data;
    else
      out.data = in.data;
    out.is_constant = true;
    node.outputs.clear();
  }
  erase_removed(graph);
}

}  // namespace qrt::convert
