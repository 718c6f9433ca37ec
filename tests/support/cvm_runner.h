// SPDX-License-Identifier: Apache-2.0
// Converts MRT/CVM models that tests build and runs them on every instruction set.
#ifndef QRT_TESTS_SUPPORT_CVM_RUNNER_H_
#define QRT_TESTS_SUPPORT_CVM_RUNNER_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/convert.h"
#include "converter/import/cvm/infer.h"
#include "tests/support/cvm_models.h"
#include "tests/support/imported.h"

namespace qrt::testing {

struct CvmTensor {
  CvmBuilder::Dims shape;
  std::vector<int32_t> values;

  bool operator==(const CvmTensor& other) const {
    return shape == other.shape && values == other.values;
  }
};

inline Imported import_cvm_model(const CvmModel& model) {
  const std::string stem = ::testing::TempDir() + "qrt_cvm_" + std::to_string(getpid());
  std::ofstream(stem + ".json", std::ios::binary) << model.symbol;
  std::ofstream(stem + ".params", std::ios::binary)
      .write(reinterpret_cast<const char*>(model.params.data()),
             static_cast<std::streamsize>(model.params.size()));
  Imported result;
  result.status =
      convert::import_cvm(stem + ".json", stem + ".params", &result.graph, &result.report);
  std::remove((stem + ".json").c_str());
  std::remove((stem + ".params").c_str());
  return result;
}

// Records every operator of a model that was converted and run; types are precisions in bits.
inline void record_support(const CvmModel& source, const convert::Report& report) {
  if (!getenv("QRT_SUPPORT_ROWS")) return;
  using convert::from_cvm::Form;
  convert::from_cvm::Model model;
  std::vector<Form> forms;
  if (!convert::from_cvm::Model::parse(source.symbol, source.params, &model).ok() ||
      !convert::from_cvm::infer(model, &forms).ok())
    return;
  std::unordered_map<std::string, const convert::Finding*> findings;
  for (const convert::Finding& f : report.findings()) findings.emplace(f.node, &f);
  const auto storage = [&](uint32_t entry) {
    const int p = forms[entry].precision;
    const std::string bits = p <= 8 ? "8 bits" : p <= 16 ? "16 bits" : "32 bits";
    return bits + (model.nodes()[model.entries()[entry].node].is_variable && entry != model.input()
                       ? " constant"
                       : "");
  };
  for (const convert::from_cvm::Node& node : model.nodes()) {
    const auto f = findings.find(node.name);
    if (node.is_variable || f == findings.end()) continue;
    std::vector<std::string> in;
    for (const auto input : node.inputs) in.push_back(storage(input));
    std::set<std::string> options;
    for (const auto& [name, value] : node.attributes) options.insert(name);
    record_support_row("CVM", node.function, join(in) + " -> " + storage(node.first_output),
                       options, support_result(*f->second));
  }
}

// Returns the outputs of a model for one input, the same on every instruction set; `precision` is the input's.
inline std::vector<std::vector<int32_t>> run_cvm(const CvmModel& model,
                                                 const std::vector<int32_t>& data, int precision) {
  Imported imported = import_cvm_model(model);
  EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
  if (!imported.status.ok()) return {};
  record_support(model, imported.report);
  std::vector<DType> types;
  Status status = convert::run_passes(&imported.graph, nullptr);
  Bytes file;
  if (status.ok()) status = convert::write_model(imported.graph, &file);
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok()) return {};
  for (const auto output : imported.graph.outputs)
    types.push_back(imported.graph.values[output].type.dtype);
  const Bytes input =
      precision <= 8 ? to_bytes(std::vector<int8_t>(data.begin(), data.end())) : to_bytes(data);
  std::vector<std::vector<int32_t>> first;
  for (const char* isa : machine_isas()) {
    RunOptions options;
    options.isa = isa;
    const RunResult result = run_model(file, {input}, options);
    EXPECT_EQ(result.status, QRT_OK) << result.message;
    std::vector<std::vector<int32_t>> outputs;
    for (size_t i = 0; i < result.outputs.size(); ++i) {
      if (types[i] == DType::kInt8) {
        const auto values = from_bytes<int8_t>(result.outputs[i]);
        outputs.emplace_back(values.begin(), values.end());
      } else {
        EXPECT_EQ(types[i], DType::kInt32);
        outputs.push_back(from_bytes<int32_t>(result.outputs[i]));
      }
    }
    if (first.empty()) first = outputs;
    EXPECT_EQ(outputs, first) << isa;
  }
  return first;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_CVM_RUNNER_H_
