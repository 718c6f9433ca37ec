// SPDX-License-Identifier: Apache-2.0
// import_cvm(): read, infer, import.
#include "converter/convert.h"
#include "converter/import/cvm/importer.h"

namespace qrt::convert {

Status import_cvm(const std::string& symbol, const std::string& params, Graph* graph,
                  Report* report) {
  from_cvm::Model model;
  QRT_TRY(from_cvm::Model::load(symbol, params, &model));
  std::vector<from_cvm::Form> forms;
  QRT_TRY(from_cvm::infer(model, &forms));
  return from_cvm::Importer(model, forms, graph, report).run();
}

std::string find_cvm_params(const std::string& symbol) {
  const size_t name = symbol.find_last_of('/') + 1;  // npos + 1 is 0
  if (symbol.substr(name) == "symbol") return symbol.substr(0, name) + "params";
  const size_t dot = symbol.find_last_of('.');
  return symbol.substr(0, dot == std::string::npos || dot < name ? symbol.size() : dot) + ".params";
}

}  // namespace qrt::convert
