// SPDX-License-Identifier: Apache-2.0
// import_onnx() and import_onnx_as_espdl() with the options of the command line.
#include "converter/import/frontend.h"

#include "converter/convert.h"

namespace qrt::convert {
namespace {

Blocks blocks_of(const ImportOptions& options) {
  const auto blocks = options.find("blocks");
  if (blocks == options.end()) return Blocks::kAsSource;
  return blocks->second == "int8" ? Blocks::kInt8 : Blocks::kFloat;
}

Status import(const std::string& path, const ImportOptions& options, Graph* graph, Report* report) {
  const auto reference = options.find("reference");
  const bool allows_float = options.count("allow-float") != 0;
  const SourceEdges edges = {list_of(options, "outputs"), list_of(options, "input-shape"),
                             list_of(options, "open"), list_of(options, "constant")};
  if (reference == options.end() || reference->second == "ort")
    return import_onnx(path, graph, report, allows_float, edges, blocks_of(options));
  if (allows_float)
    return error(Code::kInvalidArgument, "--allow-float does not go with --reference %s",
                 reference->second.c_str());
  return import_onnx_as_espdl(path, reference->second, graph, report, edges);
}

}  // namespace

const Import kImportOnnx = import;

}  // namespace qrt::convert
