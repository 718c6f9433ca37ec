// SPDX-License-Identifier: Apache-2.0
// Pass: a Gather behind a Gather becomes one; a Gather without maps goes.
#include <algorithm>

#include "converter/import/common/index_maps.h"
#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

IndexMaps maps_of(const Graph& graph, const Node& node) {
  return IndexMaps(graph.values[node.inputs[0]].type.shape, options<fb::GatherOptionsT>(node));
}

// second after first
IndexMaps composed(const IndexMaps& first, const IndexMaps& second) {
  IndexMaps maps(first.from());
  for (int d = 0; d < first.from().rank(); ++d) {
    Indices indices = second.has(d) ? second.at(d) : stepped(0, second.to()[d], 1);
    if (first.has(d))
      for (int32_t& i : indices) i = i < 0 ? -1 : first.at(d)[static_cast<size_t>(i)];
    if ((first.has(d) && first.is_kept(d)) || (second.has(d) && second.is_kept(d)))
      maps.keep(d, std::move(indices));
    else
      maps.set(d, std::move(indices));
  }
  return maps;
}

// Returns whether both are Pads: where sizes are open, each pads to a multiple of its own, and no rule gives the sum.
bool are_pads(const Node& first, const Node& second) {
  return first.source_op == "Pad" && second.source_op == "Pad";
}

// Returns whether the second maps read no axis whose indices the first maps repeat or turn.
bool keeps_order(const IndexMaps& first, const IndexMaps& second) {
  for (int d = 0; d < first.from().rank(); ++d) {
    if (!first.has(d) || !second.has(d)) continue;
    int32_t last = -1;
    for (const int32_t i : first.at(d)) {
      if (i >= 0 && i <= last) return false;
      last = std::max(last, i);
    }
  }
  return true;
}

void simplify(Graph* graph, bool has_open_sizes) {
  Joiner joiner(graph);
  auto& nodes = graph->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].options.AsGather()) continue;
    const ValueId in = joiner.resolve(nodes[i].inputs[0]);
    nodes[i].inputs[0] = in;
    const int before = joiner.producer(in);
    if (before >= 0 && nodes[static_cast<size_t>(before)].options.AsGather() &&
        joiner.readers(in) == 1 && !joiner.is_output(in)) {
      const Node& first = nodes[static_cast<size_t>(before)];
      Node& second = nodes[i];
      const IndexMaps first_maps(graph->values[joiner.resolve(first.inputs[0])].type.shape,
                                 options<fb::GatherOptionsT>(first));
      const IndexMaps second_maps = maps_of(*graph, second);
      const int64_t first_fill = options<fb::GatherOptionsT>(first).fill;
      const int64_t second_fill = options<fb::GatherOptionsT>(second).fill;
      const bool has_one_fill =
          !first_maps.fills() || !second_maps.fills() || first_fill == second_fill;
      const bool may_join =
          !has_open_sizes || (!are_pads(first, second) && keeps_order(first_maps, second_maps));
      if (has_one_fill && may_join) {
        const IndexMaps both = composed(first_maps, second_maps);
        second.options.Set(both.options(second_maps.fills() ? second_fill : first_fill));
        if (first.source_op != second.source_op)
          second.source_op = joined_ops(first.source_op, second.source_op);
        joiner.replace(static_cast<size_t>(before), i);
      }
    }
    if (options<fb::GatherOptionsT>(nodes[i]).axes.empty()) joiner.join(i);
  }
  joiner.finish();
}

}  // namespace

void simplify_gathers(Graph* graph) { simplify(graph, false); }
void simplify_open_gathers(Graph* graph) { simplify(graph, true); }

}  // namespace qrt::convert
