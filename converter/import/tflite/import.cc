// SPDX-License-Identifier: Apache-2.0
// import_tflite(): read, import, report; list_tflite().
#include "converter/convert.h"
#include "converter/import/common/choice.h"
#include "converter/import/tflite/importer.h"

namespace qrt::convert {

Status import_tflite(const std::string& path, TfliteReference reference, Graph* graph,
                     Report* report, const std::vector<std::string>& outputs,
                     const std::string& signature) {
  from_tflite::Model model;
  Status loaded = from_tflite::Model::load(path, &model, outputs, signature);
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported)
      report->refused_in_file("(model)", "tflite", loaded.message(),
                              "convert the model again with a current TFLite converter");
    return loaded;
  }
  graph->source_files = {path};
  const auto rounding = reference == TfliteReference::kSingleRounding
                            ? from_tflite::Rounding::kSingle
                            : from_tflite::Rounding::kDouble;
  return from_tflite::Importer(model, rounding, graph, report).run();
}

Status list_tflite(const std::string& path, std::vector<std::string>* models) {
  std::vector<std::string> names;
  QRT_TRY(from_tflite::Model::list(path, &names));
  *models = listed(names);
  return Status();
}

}  // namespace qrt::convert
