// import_onnx(): parse, import, report.
#include "converter/convert.h"
#include "converter/import/onnx/batch.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert {

Status import_onnx(const std::string& path, Graph* graph, Report* report, bool allow_float,
                   const SourceEdges& edges) {
  from_onnx::Model model;
  Status loaded = from_onnx::Model::load(path, &model, edges);
  if (const int64_t opset = model.opset("");
      loaded.ok() && opset != 0 && opset < from_onnx::kMinOpset)
    loaded = error(Code::kUnsupported, "opset %lld, supported are %lld to %lld",
                   static_cast<long long>(opset), static_cast<long long>(from_onnx::kMinOpset),
                   static_cast<long long>(from_onnx::kMaxOpset));
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported)
      report->refused_part("(model)", "onnx", loaded.message(),
                           "export the model again, with an opset from 10 to 25");
    return loaded;
  }
  const auto import = [&](int64_t batch, Graph* to, Report* findings) {
    return from_onnx::Importer(model, allow_float, batch, to, findings).run();
  };
  QRT_TRY(import(1, graph, report));
  if (graph->batch_is_symbolic && graph->batch_closed.empty())
    return from_onnx::find_why_batch_is_closed(*graph, import, &graph->batch_closed);
  return Status();
}

}  // namespace qrt::convert
