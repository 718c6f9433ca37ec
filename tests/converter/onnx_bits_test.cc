// The models of onnx_bits/ give ONNX Runtime's own results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/integer_build.h"
#include "tests/converter/onnx_bits/case.h"
#include "tests/converter/onnx_bits/numbers.h"

namespace qrt::testing {
namespace {

// Every output's numbers in turn: floats, or what a QuantizeLinear or QLinear operator makes.
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

INSTANTIATE_TEST_SUITE_P(, OnnxBits, ::testing::ValuesIn(all_bits_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::testing
