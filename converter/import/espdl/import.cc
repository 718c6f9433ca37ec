// SPDX-License-Identifier: Apache-2.0
// import_espdl(): read, choose the target, import, report.
#include "converter/convert.h"
#include "converter/import/common/choice.h"
#include "converter/import/espdl/importer.h"

namespace qrt::convert {

Status import_espdl(const std::string& path, const EspdlOptions& options, Graph* graph,
                    Report* report) {
  from_espdl::Model model;
  Status loaded = from_espdl::Model::load(path, options.model, &model);
  if (!loaded.ok()) {
    if (loaded.code() == Code::kUnsupported)
      report->refused("(model)", "espdl", loaded.message(), "",
                      "export the model without encryption");
    return loaded;
  }
  from_espdl::Target target;
  Status chosen = from_espdl::choose_target(model, options.target, &target);
  if (!chosen.ok()) return std::move(chosen).at(path);
  return from_espdl::Importer(model, target, graph, report).run(options.float_io);
}

Status list_espdl(const std::string& path, std::vector<std::string>* models) {
  std::vector<from_espdl::Entry> entries;
  QRT_TRY(from_espdl::Model::list(path, &entries));
  *models = listed(from_espdl::names_of(entries));
  return Status();
}

namespace {

DType type_of(from_espdl::DataType type) {
  switch (type) {
    case from_espdl::DataType::INT16: return DType::kInt16;
    case from_espdl::DataType::FLOAT: return DType::kFloat32;
    case from_espdl::DataType::BOOL: return DType::kBool;
    default: return DType::kInt8;
  }
}

}  // namespace

Status read_espdl_tests(const std::string& path, const EspdlOptions& options, TestValues* values) {
  from_espdl::Model model;
  QRT_TRY(from_espdl::Model::load(path, options.model, &model));
  const auto copy = [](const std::vector<from_espdl::Tensor>& from, std::vector<TestTensor>* to) {
    for (const from_espdl::Tensor& t : from)
      if (t.bytes > 0)
        to->push_back({t.name, type_of(t.type), t.shape, {t.data, t.data + t.bytes}});
  };
  copy(model.test_inputs(), &values->inputs);
  copy(model.test_outputs(), &values->outputs);
  return Status();
}

}  // namespace qrt::convert
