// SPDX-License-Identifier: Apache-2.0
// Pass: Transpose, Reshape and Gather of constants become constants. (Front ends fold everything
// else.)
#include "converter/import/common/index_maps.h"
#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"
#include "converter/permutation.h"
#include "runtime/tools/budget.h"

namespace qrt::convert {
namespace {

constexpr uint64_t kCopies = 4;  // copies of a folded constant that exist until the file is written

// Returns a limit on what is made: many operators may read one constant.
Budget budget_of(const Graph& graph) {
  uint64_t bytes = 0;
  for (const Value& value : graph.values) bytes += value.data.size();
  return Budget(bytes);
}

// Returns whether the Gather makes a grid of indices of a few numbers. Where sizes are open, it stays: the constant would be as
// large as what it indexes, and another one at other sizes.
bool makes_grid(const Value& in, const Value& out) {
  const bool is_wide = in.type.dtype == DType::kInt64 || in.type.dtype == DType::kInt32;
  return is_wide && out.type.shape.rank() >= 3 &&
         out.type.shape.elements() > in.type.shape.elements();
}

void fold(Graph* graph, bool has_open_sizes) {
  Budget budget = budget_of(*graph);
  for (Node& node : graph->nodes) {
    const auto* transpose = node.options.AsTranspose();
    const auto* gather = node.options.AsGather();
    if (!transpose && !gather && !node.options.AsReshape()) continue;
    const Value& in = graph->values[node.inputs[0]];
    Value& out = graph->values[node.outputs[0]];
    if (!in.is_constant || in.packing != fb::Packing::NONE || graph->is_output(node.outputs[0]))
      continue;
    if (is_packed(in.type.dtype) && (gather || transpose)) continue;
    if (has_open_sizes && gather && makes_grid(in, out)) continue;
    if (gather) {
      const IndexMaps maps(in.type.shape, *gather);
      const size_t bytes = dtype_bytes(in.type.dtype);
      if (!maps.check_constant(bytes).ok() ||
          !budget.reserve(kCopies * tensor_bytes(out.type)).ok())
        continue;
      out.data = maps.apply(in.data.data(), bytes, gather->fill);
    } else if (!budget.reserve(kCopies * tensor_bytes(out.type)).ok()) {
      continue;
    } else if (transpose) {
      out.data = transposed_constant(in, transpose->perm).data;
    } else {
      out.data = in.data;
    }
    out.is_constant = true;
    node.outputs.clear();
  }
  erase_removed(graph);
}

}  // namespace

void fold_constants(Graph* graph) { fold(graph, false); }
void fold_open_constants(Graph* graph) { fold(graph, true); }

}  // namespace qrt::convert
