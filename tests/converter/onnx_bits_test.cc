// SPDX-License-Identifier: Apache-2.0
// The models of onnx_bits/ give ONNX Runtime's own results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "converter/levels.h"
#include "converter/passes/passes.h"
#include "kernels/integer_build.h"
#include "runtime/traits.h"
#include "tests/converter/onnx_bits/case.h"
#include "tests/converter/onnx_bits/numbers.h"

namespace qrt::testing::onnx_bits_test {
namespace {

// Returns every output's numbers in turn: floats, or what a QuantizeLinear or QLinear operator makes.
std::vector<float> results(const BitsModel& m, const std::vector<Bytes>& outputs) {
  std::vector<float> all;
  const auto& graph = m.b.model.graph();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.output(static_cast<int>(i)).name();
    const bool is_stored =
        std::any_of(graph.node().begin(), graph.node().end(), [&](const onnx::NodeProto& node) {
          return node.output(0) == name && node.op_type().rfind("Q", 0) == 0;
        });
    if (is_stored) {
      all.insert(all.end(), outputs[i].begin(), outputs[i].end());
    } else {
      const std::vector<float> floats = from_bytes<float>(outputs[i]);
      all.insert(all.end(), floats.begin(), floats.end());
    }
  }
  return all;
}

class OnnxBits : public ::testing::TestWithParam<BitsCase> {};

TEST_P(OnnxBits, EqualOnnxRuntime) {
  BitsModel m;
  GetParam().build(m);
  if (is_integer_build() && m.b.import().count(fb::OpOptions::Float) > 0)
    GTEST_SKIP() << "this build adds no floats";
  const auto want = onnxruntime_numbers().find(GetParam().name);
  ASSERT_NE(want, onnxruntime_numbers().end()) << "tests/onnxruntime/numbers.mjs was not run";
  const std::vector<float> got = results(m, m.b.run(m.inputs()));
  if (GetParam().tolerance == 0) {
    EXPECT_EQ(got, want->second);
    return;
  }
  ASSERT_EQ(got.size(), want->second.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const float expected = want->second[i];
    EXPECT_NEAR(got[i], expected, GetParam().tolerance * std::max(1.0f, std::fabs(expected)));
  }
}

// The report, --require-level and the reference agree on the levels of the written operators.
TEST_P(OnnxBits, LevelsAreThoseOfTheFile) {
  BitsModel m;
  GetParam().build(m);
  if (is_integer_build() && m.b.import().count(fb::OpOptions::Float) > 0)
    GTEST_SKIP() << "this build adds no floats";
  Imported imported = m.b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_TRUE(convert::run_passes(&imported.graph, {}).ok());
  std::vector<uint8_t> file;
  ASSERT_TRUE(convert::write_model(imported.graph, &file).ok());
  convert::set_levels(file, &imported.report);
  size_t floats = 0, above_integers = 0, told_floats = 0, told_above = 0;
  for (const fb::Operator* op : *fb::GetModel(file.data())->operators()) {
    floats += arithmetic_level(*op) == kFloatLevel;
    above_integers += arithmetic_level(*op) > 0;
  }
  for (const convert::Finding& f : imported.report.findings()) {
    told_floats += f.level == "F";
    told_above += f.level == "F" || f.level == "I1";
  }
  EXPECT_EQ(told_floats > 0, floats > 0);
  EXPECT_EQ(told_above > 0, above_integers > 0);
  EXPECT_EQ(convert::operators_above(file, 1).size(), floats);
  EXPECT_EQ(convert::operators_above(file, 0).size(), above_integers);
  EXPECT_EQ(fb::GetModel(file.data())->reference()->str(),
            floats > 0 ? "ort-x64-fma+float" : "ort-x64-fma");
}

INSTANTIATE_TEST_SUITE_P(, OnnxBits, ::testing::ValuesIn(all_bits_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::testing::onnx_bits_test
