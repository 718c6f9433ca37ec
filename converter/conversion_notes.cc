// SPDX-License-Identifier: Apache-2.0
// The findings on a converted graph beside those on nodes: report_sizes() and notes_on().
#include "converter/convert.h"
#include "converter/levels.h"

namespace qrt::convert {

void report_sizes(const Graph& graph, Report* report) {
  if (graph.symbols.empty())
    report->set_batch({graph.batch_is_open, graph.default_batch, graph.batch_closed});
  std::vector<DimensionFinding> dimensions;
  for (const Symbol& s : graph.symbols) {
    const bool is_tied = s.tied_to >= 0;
    dimensions.push_back({s.name, s.value, s.least, s.most, s.step,
                          is_tied ? graph.symbols[static_cast<size_t>(s.tied_to)].name : "",
                          s.limited_by});
  }
  std::vector<SumFinding> sums;
  if (!graph.symbols.empty())
    for (const SizeSum& s : graph.sums) sums.push_back({s.name, s.sum});
  report->set_dimensions(std::move(dimensions), std::move(sums));
}

std::vector<std::string> notes_on(const Graph& graph) {
  std::vector<std::string> notes;
  if (is_wholly_float(graph))
    notes.emplace_back(
        "nothing in this model is quantised: it runs in float (level F). qrt_quantize makes "
        "integers of it, from samples of what it will see");
  if (graph.batch_is_symbolic && !graph.batch_is_open && graph.symbols.empty())
    notes.push_back("the batch is fixed to " + std::to_string(graph.default_batch) + ": " +
                    graph.batch_closed);
  return notes;
}

}  // namespace qrt::convert
