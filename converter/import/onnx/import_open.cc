#include "converter/import/onnx/import_open.h"

#include <algorithm>

#include "converter/sizes/probes.h"

namespace qrt::convert::from_onnx {
namespace {

Status import_at(const Model& model, const std::vector<OpenDimension>& open, bool allow_float,
                 const Sizes& sizes, Graph* graph, Report* report) {
  OpenSizes by_name;
  int64_t batch = 1;
  for (size_t i = open.size(); i-- > 0;) {
    by_name[open[i].name] = sizes[i];
    if (open[i].is_first) batch = sizes[i];
  }
  QRT_TRY(Importer(model, allow_float, batch, graph, report, by_name).run());
  graph->batch_closed = "its dimensions are open by their names";
  return Status();
}

size_t count_refusals(const Report& report) {
  return static_cast<size_t>(std::count_if(
      report.findings().begin(), report.findings().end(),
      [](const Finding& f) { return f.outcome == convert::Outcome::kRefused; }));
}

}  // namespace

void set_symbols(const std::shared_ptr<const Model>& model, const std::vector<OpenDimension>& open,
                 bool allow_float, Graph* graph) {
  for (const OpenDimension& d : open) {
    Symbol symbol;
    symbol.name = d.name;
    symbol.is_first = d.is_first;
    symbol.is_other = d.is_other;
    graph->symbols.push_back(symbol);
  }
  graph->import_at = [model, open, allow_float](const Sizes& sizes, Graph* to) {
    Report unused;
    return import_at(*model, open, allow_float, sizes, to, &unused);
  };
}

Status import_open(const std::shared_ptr<const Model>& model,
                   const std::vector<OpenDimension>& open, bool allow_float, Graph* graph,
                   Report* report) {
  std::vector<SymbolHint> hints;
  for (const OpenDimension& d : open) hints.push_back({d.name, d.is_first});
  Status status, fewest_status;
  Report fewest;
  for (const ProbeFamily& family : probe_families(hints)) {
    Graph imported;
    Report findings;
    status = import_at(*model, open, allow_float, family.sizes[0], &imported, &findings);
    if (status.ok()) {
      *graph = std::move(imported);
      *report = std::move(findings);
      set_symbols(model, open, allow_float, graph);
      return Status();
    }
    if (status.code() != Code::kUnsupported && status.code() != Code::kInvalidModel) return status;
    const bool says_more = status.code() == Code::kUnsupported && findings.has_refusals();
    if (fewest_status.ok() || (says_more && (!fewest.has_refusals() ||
                                             count_refusals(findings) < count_refusals(fewest)))) {
      fewest_status = std::move(status);
      fewest = std::move(findings);
    }
  }
  *report = std::move(fewest);
  return fewest_status;
}

}  // namespace qrt::convert::from_onnx
