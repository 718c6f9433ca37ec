// Pass: a Gather behind a Gather becomes one; a Gather without maps goes.
#include "converter/import/common/index_maps.h"
#include "converter/passes/links.h"
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

}  // namespace

void simplify_gathers(Graph* graph) {
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
      if (!first_maps.fills() || !second_maps.fills() || first_fill == second_fill) {
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

}  // namespace qrt::convert
