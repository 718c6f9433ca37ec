// SPDX-License-Identifier: Apache-2.0
// import_onnx_as_espdl(): read, write down as an ESP-DL model, import that.
#include "converter/convert.h"
#include "converter/import/espdl/importer.h"
#include "converter/import/espdl/qdq/translator.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert {

Status import_onnx_as_espdl(const std::string& path, const std::string& reference, Graph* graph,
                            Report* report, const SourceEdges& edges) {
  from_onnx::Model model;
  Status loaded = from_onnx::Model::load(path, &model, edges);
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported)
      report->refused_in_file("(model)", "onnx", loaded.message(),
                              "export the model again, with an opset from 7 to 28");
    return loaded;
  }
  from_espdl::Target target;
  if (!from_espdl::parse_reference(reference, &target))
    return error(Code::kInvalidArgument, "'%s' is no reference of ESP-DL", reference.c_str());
  from_qdq::Translator translator(model, target, report);
  std::vector<uint8_t> file;
  QRT_TRY(translator.run(&file));
  from_espdl::Model written;
  Status parsed = from_espdl::Model::parse_plain(std::move(file), &written);
  if (!parsed.ok()) return std::move(parsed).at(path);
  Report of_espdl;
  Status status = from_espdl::Importer(written, target, graph, &of_espdl).run(false);
  translator.conclude(of_espdl);
  graph->source_format = "onnx";
  graph->source_files = model.files();
  graph->source_producer = model.proto().producer_name();
  if (!model.proto().producer_version().empty())
    graph->source_producer += " " + model.proto().producer_version();
  graph->batch_is_symbolic = translator.batch_is_symbolic();
  if (status.code() == Code::kUnsupported)
    return error(Code::kUnsupported, "the model cannot be converted: %s",
                 report->refusals().c_str());
  return status;
}

}  // namespace qrt::convert
