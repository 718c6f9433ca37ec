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
  QRT_TRY(import(1, graph, report));
  if (graph->batch_is_symbolic && graph->batch_closed.empty())
    return from_onnx::find_why_batch_is_closed(*graph, import, &graph->batch_closed);
  return Status();
}

}  // namespace qrt::convert
