// SPDX-License-Identifier: Apache-2.0
// import_onnx(): parse, import, report.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "converter/convert.h"
#include "converter/import/onnx/batch.h"
#include "converter/import/onnx/folding/conditions.h"
#include "converter/import/onnx/import_open.h"
#include "converter/import/onnx/importer.h"
#include "converter/import/onnx/quantized_in_runs.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert {
namespace {

// Returns the report with another thing to do at every refusal that `then` lacks: a report on the same model
// after that was done.
Report with_offer(const Report& report, const std::string& what, const Report& then) {
  std::set<std::pair<std::string, std::string>> refused_still;
  for (const Finding& f : then.findings())
    if (f.outcome == Outcome::kRefused) refused_still.emplace(f.node, f.op);
  Report offering;
  for (const ScaleNote& note : report.scale_notes()) offering.note_scale(note);
  for (const Finding& f : report.findings()) {
    const bool helps = refused_still.count({f.node, f.op}) == 0;
    const std::string remedy = helps ? f.remedy + "; or " + what : f.remedy;
    if (f.outcome == Outcome::kConverted)
      offering.converted(f.node, f.op, f.result, f.level);
    else if (f.outcome == Outcome::kNotAssessed)
      offering.not_assessed(f.node, f.op, f.rule);
    else if (f.is_node)
      offering.refused(f.node, f.op, f.rule, f.tensor, remedy);
    else
      offering.refused_in_file(f.node, f.op, f.rule, remedy);
  }
  return offering;
}

}  // namespace

Status import_onnx(const std::string& path, Graph* graph, Report* report, bool allow_float,
                   const SourceEdges& edges, Blocks blocks) {
  const auto shared = std::make_shared<from_onnx::Model>();
  from_onnx::Model& model = *shared;
  Status loaded = from_onnx::Model::load(path, &model, edges);
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported)
      report->refused_in_file("(model)", "onnx", loaded.message(),
                              from_onnx::remedy_for_file(model));
    return loaded;
  }
  model.set_blocks(blocks);
  // A graph that quantises in runs is float between its products by design, so that needs no permission.
  allow_float |= from_onnx::is_quantized_in_runs(model.graph());
  std::vector<from_onnx::OpenDimension> open = from_onnx::find_open_dimensions(model.graph());
  QRT_TRY(from_onnx::set_limits(edges.open, &open));
  if (Status settled = from_onnx::settle_branches(allow_float, open, &model); !settled.ok()) {
    if (settled.code() == Code::kUnsupported)
      report->refused_in_file("(model)", "onnx", settled.message(),
                              "export the model with loops of fewer steps, or of fewer nodes");
    return settled;
  }
  if (std::any_of(open.begin(), open.end(),
                  [](const auto& d) { return d.is_other || d.is_wanted; }))
    return from_onnx::import_open(shared, open, allow_float, graph, report);
  const auto import = [&](int64_t batch, Graph* to, Report* findings) {
    return from_onnx::Importer(model, allow_float, batch, to, findings).run();
  };
  Graph at_one;
  Report findings;
  from_onnx::Importer first(model, allow_float, 1, &at_one, &findings);
  Status imported = first.run();
  const auto& needed = first.needed_batch();
  if (imported.code() == Code::kInvalidModel && needed.batch > 1) {
    at_one = Graph();
    findings = Report();
    const std::string why =
        "node " + needed.node + " needs a batch of " + std::to_string(needed.batch);
    imported = import(needed.batch, &at_one, &findings);
    at_one.batch_closed = why;
    if (imported.code() == Code::kInvalidModel) {
      imported = error(Code::kUnsupported, "the first dimension of its inputs is open, but %s: %s",
                       why.c_str(), imported.message());
      findings.refused_in_file("(model)", "onnx", imported.message(),
                               "give the inputs' shapes by --input-shape NAME=1x3x224x224");
    }
  }
  if (!imported.ok() &&
      std::any_of(open.begin(), open.end(), [](const auto& d) { return d.is_length; })) {
    Graph at_sizes;
    Report then;
    if (from_onnx::import_open(shared, open, allow_float, &at_sizes, &then).ok()) {
      *graph = std::move(at_sizes);
      *report = std::move(then);
      return Status();
    }
  }
  if (imported.code() == Code::kUnsupported && findings.has_refusals() && !allow_float) {
    Graph unused;
    Report then;
    const Status in_float =
        from_onnx::Importer(model, true, std::max<int64_t>(needed.batch, 1), &unused, &then).run();
    if (in_float.ok() || (in_float.code() == Code::kUnsupported && then.has_refusals()))
      findings = with_offer(findings, "let it run in float: --allow-float", then);
  }
  *graph = std::move(at_one);
  *report = std::move(findings);
  QRT_TRY(std::move(imported));
  if (!graph->batch_is_symbolic || needed.batch > 1) return Status();
  if (graph->batch_closed.empty())
    QRT_TRY(from_onnx::find_why_batch_is_closed(*graph, import, &graph->batch_closed));
  // A batch whose images are not apart is a dimension like any other.
  from_onnx::set_symbols(shared, open, allow_float, graph);
  return Status();
}

}  // namespace qrt::convert
