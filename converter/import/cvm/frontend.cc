// SPDX-License-Identifier: Apache-2.0
// import_cvm() with the options of the command line.
#include "converter/import/frontend.h"

#include "converter/convert.h"

namespace qrt::convert {
namespace {

Status import(const std::string& path, const ImportOptions& options, Graph* graph, Report* report) {
  const auto params = options.find("params");
  return import_cvm(path, params != options.end() ? params->second : find_cvm_params(path), graph,
                    report);
}

}  // namespace

const Import kImportCvm = import;

}  // namespace qrt::convert
