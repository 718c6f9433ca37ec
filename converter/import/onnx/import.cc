// import_onnx(): parse, import, report.
#include "converter/convert.h"
#include "converter/import/onnx/batch.h"
#include "converter/import/onnx/folding/conditions.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert {

Status import_onnx(const std::string& path, Graph* graph, Report* report, bool allow_float,
                   const SourceEdges& edges) {
  from_onnx::Model model;
  Status loaded = from_onnx::Model::load(path, &model, edges);
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported)
      report->refused_part("(model)", "onnx", loaded.message(),
                           "export the model again, with an opset from 7 to 28");
    return loaded;
  }
  QRT_TRY(from_onnx::settle_branches(allow_float, &model));
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
      findings.refused_part("(model)", "onnx", imported.message(),
                            "give the inputs' shapes by --input-shape NAME=1x3x224x224");
    }
  }
  *graph = std::move(at_one);
  *report = std::move(findings);
  QRT_TRY(std::move(imported));
  if (graph->batch_is_symbolic && graph->batch_closed.empty())
    return from_onnx::find_why_batch_is_closed(*graph, import, &graph->batch_closed);
  return Status();
}

}  // namespace qrt::convert
