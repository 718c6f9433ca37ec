// import_espdl(): read, choose the target, import, report.
#include "converter/convert.h"
#include "converter/import/espdl/importer.h"

namespace qrt::convert {

Status import_espdl(const std::string& path, const EspdlOptions& options, Graph* graph, Report* report) {
  from_espdl::Model model;
  Status loaded = from_espdl::Model::load(path, options.model, &model);
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported) report->refused("(model)", "espdl", loaded.message(), "", "export the model without encryption");
    return loaded;
  }
  from_espdl::Target target;
  Status chosen = from_espdl::choose_target(model, options.target, &target);
  if (!chosen.ok()) return std::move(chosen).at(path);
  return from_espdl::Importer(model, target, graph, report).run(options.float_io);
}

}  // namespace qrt::convert
