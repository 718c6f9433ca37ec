// import_onnx(): parse, import, report.
#include "converter/convert.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert {

Status import_onnx(const std::string& path, Graph* graph, Report* report, bool allow_float) {
  from_onnx::Model model;
  Status loaded = from_onnx::Model::load(path, &model);
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported)
      report->refused("(model)", "onnx", loaded.message(), "",
                      "export the model again, with an opset from 10 to 25");
    return loaded;
  }
  return from_onnx::Importer(model, allow_float, graph, report).run();
}

}  // namespace qrt::convert
