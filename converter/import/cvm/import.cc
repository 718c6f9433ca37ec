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

}  // namespace qrt::convert
