// SPDX-License-Identifier: Apache-2.0
// MRT/CVM models: what they are read as, what they compute, and what is refused with which words.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <regex>

#include "converter/convert.h"
#include "converter/import/cvm/fused_ops.h"
#include "converter/import/cvm/infer.h"
#include "converter/lint.h"
#include "tests/support/cvm_runner.h"

namespace qrt::convert::cvm_test {
namespace {

using from_cvm::ElementOp;
using from_cvm::Form;
using from_cvm::Model;
using from_cvm::Range;
using testing::CvmBuilder;
using testing::CvmModel;

// Returns the message of a model that is refused; empty: it is not.
std::string refusal(const CvmModel& model) {
  Model read;
  Status status = Model::parse(model.symbol, model.params, &read);
  std::vector<Form> forms;
  if (status.ok()) status = from_cvm::infer(read, &forms);
  EXPECT_TRUE(status.ok() || status.code() == Code::kInvalidModel);
  return status.message();
}

CvmModel one_op(const std::string& function, const std::string& attributes,
                const CvmBuilder::Dims& out, int precision = 8) {
  CvmBuilder b;
  const int x = b.data({1, 2, 4, 4}, precision);
  return b.build({b.op(function, {x}, out, attributes)});
}

void replace(const std::string& from, const std::string& to, std::string* text) {
  const size_t at = text->find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text->replace(at, from.size(), to);
}

TEST(Cvm, TheSampleIsReadAndConverted) {
  EXPECT_EQ(refusal(testing::sample_cvm_model()), "");
  const std::string stem = ::testing::TempDir() + "qrt_cvm_test_" + std::to_string(getpid());
  const CvmModel model = testing::sample_cvm_model();
  std::ofstream(stem + ".json", std::ios::binary) << model.symbol;
  std::ofstream(stem + ".params", std::ios::binary)
      .write(reinterpret_cast<const char*>(model.params.data()),
             static_cast<std::streamsize>(model.params.size()));
  Graph graph;
  Report report;
  Status status = import_cvm(stem + ".json", find_cvm_params(stem + ".json"), &graph, &report);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(graph.reference, "cvm-formal");
  status = run_passes(&graph, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<uint8_t> bytes;
  status = write_model(graph, &bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  std::remove((stem + ".json").c_str());
  std::remove((stem + ".params").c_str());
}

TEST(Cvm, FindsTheParamsBesideTheSymbol) {
  EXPECT_EQ(find_cvm_params("a/symbol"), "a/params");
  EXPECT_EQ(find_cvm_params("symbol"), "params");
  EXPECT_EQ(find_cvm_params("a.b/net.json"), "a.b/net.params");
  EXPECT_EQ(find_cvm_params("a.b/net"), "a.b/net.params");
}

TEST(Cvm, ErrorsNameNodeAttributeAndWhatIsAccepted) {
  const auto expect = [](const CvmModel& model, const std::string& part) {
    EXPECT_NE(refusal(model).find(part), std::string::npos) << refusal(model);
  };
  const CvmBuilder::Dims same = {1, 2, 4, 4};
  expect(
      one_op("cvm_right_shift", "\"precision\": \"8\", \"shift_bit\": \"33\"", same),
      "node 1 (cvm_right_shift 'cvm_right_shift1'): attribute 'shift_bit' is 33, expected 1 to 32");
  expect(one_op("relu", "\"axis\": \"1\"", same), "has no attribute 'axis'");
  expect(one_op("relu", "", {1, 2, 4, 5}), "the shape [1, 2, 4, 4], the file says [1, 2, 4, 5]");
  expect(one_op("cvm_left_shift", "\"precision\": \"9\", \"shift_bit\": \"13\"", same, 20),
         "shifts precision 20 left by 13");
  expect(one_op("gelu", "", same), "no CVM operator has the name 'gelu'");
}

TEST(Cvm, SpellingsOfAttributes) {
  for (const char* axes : {"(0, 2, 3, 1)", "[0,2,3,1]", "(0L, 2, 3, -3,)"})
    EXPECT_EQ(refusal(one_op("transpose", std::string("\"axes\": \"") + axes + "\"", {1, 4, 4, 2})),
              "");
  for (const char* axes : {"(0, 2, 3.0, 1)", "(0, 2, 3, 1", "0 2 3 1", ""})
    EXPECT_NE(refusal(one_op("transpose", std::string("\"axes\": \"") + axes + "\"", {1, 4, 4, 2})),
              "");
  // A number behind the function's name counts for nothing.
  EXPECT_EQ(refusal(one_op("relu_28", "", {1, 2, 4, 4})), "");
}

// Files of compilers of 2019 are read: operators with numbers behind their names, type codes
// instead of type names, no version, precisions within the nodes, memory that entries share, the
// tail of a longer file behind the params.
TEST(Cvm, FilesOf2019) {
  const CvmModel model = testing::sample_cvm_model();
  CvmModel old = model;
  const auto change = [&](const char* pattern, const std::string& to) {
    const std::string changed = std::regex_replace(old.symbol, std::regex(pattern), to);
    EXPECT_NE(changed, old.symbol) << pattern;
    old.symbol = changed;
  };
  change(R"re("func_name": "([a-z_0-9]+)")re",
         "\"func_name\": \"$1_28\", \"num_inputs\": \"1\", \"num_outputs\": \"1\", "
         "\"flatten_data\": \"0\"");
  change(R"re(\["list_str", \[("int32"(, )?)+\]\])re", "[\"list_int\", [0, 0, 0]]");
  change("dltype", "dtype");
  change(R"re(, "version": "cvm_1.0.0")re", "");
  change(R"re("name": "relu)re", "\"precision\": 17, \"name\": \"relu");
  change(R"re(("storage_id": \["list_int", )\[[^\]]*\])re",
         "$1[0, 1, 2, 3, 3, 3, 4, 5, 3, 6, 3, 3, 7, 3, 8, 9]");
  old.params.insert(old.params.end(), {9, 8, 7});
  std::vector<int32_t> data(144);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int32_t>(i * 71 % 256) - 128;
  const auto expected = testing::run_cvm(model, data, 8);
  ASSERT_EQ(expected.size(), 1u);
  EXPECT_EQ(testing::run_cvm(old, data, 8), expected);
}

TEST(Cvm, TextThatIsNoJsonIsRefused) {
  const auto refused = [](const std::string& symbol) {
    return refusal({symbol, testing::sample_cvm_model().params});
  };
  EXPECT_EQ(refused("{"), "the graph: no JSON at byte 2");
  EXPECT_EQ(refused("1e9999"), "the graph: a number beyond a double's range");
  EXPECT_EQ(refused(std::string(100, '[')), "byte 16: brackets nest more than 16 deep");
}

TEST(Cvm, DamagedFilesAreRefused) {
  const CvmModel good = testing::sample_cvm_model();
  for (size_t n = 0; n < good.params.size(); n += 3) {
    CvmModel cut = good;
    cut.params.resize(n);
    EXPECT_NE(refusal(cut), "") << n;
  }
  for (size_t n = 0; n < good.symbol.size(); n += 17) {
    CvmModel cut = good;
    cut.symbol.resize(n);
    EXPECT_NE(refusal(cut), "") << n;
  }
  CvmModel longer = good;
  longer.params.push_back(1);  // what a longer file before it left behind
  EXPECT_EQ(refusal(longer), "");
  CvmModel deep = good;
  deep.symbol = std::string(1000000, '[');
  EXPECT_NE(refusal(deep).find("nest more than 16 deep"), std::string::npos);
  CvmModel huge = good;
  replace("\"list_int\", [8,", "\"list_int\", [99999999999999999999,", &huge.symbol);
  EXPECT_NE(refusal(huge), "");
}

// A chain of links and the requantisation that stands for it give equal results for every value.
TEST(Cvm, AChainAndItsRequantisationAreTheSame) {
  ElementOp shift, factor;
  shift.function = fb::FormulaFunction::SHIFT_RIGHT;
  shift.value = 3;
  factor.function = fb::FormulaFunction::MULTIPLY;
  factor.value = 1777;
  ElementOp last = shift;
  last.value = 11;
  const std::vector<ElementOp> ops = {from_cvm::clamp_to(-30000, 30000),
                                      shift,
                                      from_cvm::clamp_to(-2000, 1500),
                                      factor,
                                      last,
                                      from_cvm::clamp_to(-127, 127),
                                      from_cvm::clamp_to(0, INT32_MAX)};
  const Range range{-40000, 40000};
  for (size_t count = 0; count <= ops.size(); ++count) {
    const auto requant = from_cvm::requantization(ops, count, range);
    ASSERT_TRUE(requant) << count;
    ASSERT_LE(requant->stages.size(), 2u);
    for (int32_t x = -40000; x <= 40000; ++x) {
      int32_t expected = x;
      for (size_t i = 0; i < count; ++i) expected = from_cvm::apply(ops[i], expected);
      int64_t v = x;
      for (const auto& s : requant->stages) {
        const int64_t half = s.shift > 0 ? int64_t{1} << (s.shift - 1) : 0;
        v = (v * s.multiplier[0] + half) >> s.shift;
      }
      v = std::min(std::max(v, requant->range.lo), requant->range.hi);
      ASSERT_EQ(v, expected) << x << ", " << count << " links";
    }
  }
}

TEST(Cvm, MoreRoundingsThanTwoAreNoRequantisation) {
  ElementOp shift;
  shift.function = fb::FormulaFunction::SHIFT_RIGHT;
  shift.value = 2;
  EXPECT_TRUE(from_cvm::requantization({shift, shift}, 2, {-100, 100}));
  EXPECT_FALSE(from_cvm::requantization({shift, shift, shift}, 3, {-100, 100}));
  ElementOp negative;
  negative.function = fb::FormulaFunction::MULTIPLY;
  negative.value = -3;
  EXPECT_FALSE(from_cvm::requantization({negative}, 1, {-100, 100}));
}

// Returns a convolution of one position and what MRT puts behind it: to 8 bits, or as sums with `sums`.
CvmModel one_layer(const std::vector<int32_t>& weights, bool sums) {
  CvmBuilder b;
  const int x = b.data({1, 2, 4, 4}, 8), w = b.param("w", {2, 2, 1, 1}, 8, weights);
  const int y = b.op("conv2d", {x, w}, {1, 2, 4, 4},
                     "\"channels\": \"2\", \"kernel_size\": \"(1, 1)\", \"use_bias\": \"False\"");
  return b.build({sums ? y
                       : b.op("cvm_right_shift", {y}, {1, 2, 4, 4},
                              "\"precision\": \"8\", \"shift_bit\": \"5\"")});
}

TEST(Cvm, TheReportSaysHowEveryTensorIsStored) {
  const testing::Imported narrow = testing::import_cvm_model(one_layer({3, -2, 1, 4}, false));
  ASSERT_TRUE(narrow.status.ok()) << narrow.status.message();
  // 127 * 5 / 32, rounded half up.
  EXPECT_EQ(narrow.outcomes(),
            (std::vector<std::string>{"conv2d: Conv2D, uint8 (+128), values -20 to 20",
                                      "cvm_right_shift: Conv2D, uint8 (+128), values -20 to 20"}));
  const testing::Imported wide = testing::import_cvm_model(one_layer({3, -2, 1, 4}, true));
  ASSERT_TRUE(wide.status.ok()) << wide.status.message();
  ASSERT_EQ(wide.outcomes().size(), 1u);
  EXPECT_NE(wide.outcomes()[0].find("int32"), std::string::npos) << wide.outcomes()[0];
  EXPECT_NE(wide.outcomes()[0].find("values -635 to 635"), std::string::npos) << wide.outcomes()[0];
}

std::string shifted(const std::string& precision, const std::string& bits) {
  return "\"precision\": \"" + precision + "\", \"shift_bit\": \"" + bits + "\"";
}

// Returns the Formulas of a graph: dtypes of their operands, "int32", "int16 + int32".
std::vector<std::string> formulas(const Graph& graph) {
  std::vector<std::string> found;
  for (const Node& node : graph.nodes) {
    if (node.options.AsFormula() == nullptr) continue;
    std::string text;
    for (ValueId v : node.inputs)
      text += (text.empty() ? "" : " + ") + std::string(dtype_name(graph.values[v].type.dtype));
    found.push_back(text);
  }
  return found;
}

// Where two sums are added, the runtime adds within the second convolution, and the sums of the
// first, which would stay in memory, are narrowed.
TEST(Cvm, OfTwoSumsThatAreJoinedTheFirstIsNarrowed) {
  CvmBuilder b;
  const CvmBuilder::Dims shape = {1, 2, 4, 4};
  const int x = b.data(shape, 8);
  const auto layer = [&](const char* name, int32_t factor) {
    const int w = b.param(name, {2, 2, 1, 1}, 8, {factor, 3, -2, factor});
    const int y = b.op("conv2d", {x, w}, shape,
                       "\"channels\": \"2\", \"kernel_size\": \"(1, 1)\", \"use_bias\": \"False\"");
    return b.op("cvm_right_shift", {y}, shape, shifted("15", "1"));
  };
  const int first = layer("v", 100), second = layer("w", 90);
  const CvmModel model = b.build({b.op("elemwise_add", {first, second}, shape)});
  const testing::Imported imported = testing::import_cvm_model(model);
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(formulas(imported.graph), (std::vector<std::string>{"int32", "int16 + int32"}));
  std::vector<int32_t> data(32), expected;
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int32_t>(i * 37 % 255) - 127;
  const auto half = [](int32_t v) { return (v + 1) >> 1; };
  for (size_t i = 0; i < 32; ++i) {
    const int32_t own = data[i], other = data[(i + 16) % 32], k = i < 16 ? 3 : -2;
    expected.push_back(half(100 * own + k * other) + half(90 * own + k * other));
  }
  EXPECT_EQ(testing::run_cvm(model, data, 8)[0], expected);
}

TEST(Cvm, LimitsThatHoldAreNoSteps) {
  CvmBuilder b;
  const CvmBuilder::Dims shape = {1, 2, 4, 4};
  int x = b.data(shape, 16);
  x = b.op("cvm_clip", {x}, shape, "\"precision\": \"12\"");
  x = b.op("relu", {x}, shape);
  x = b.op("cvm_clip", {x}, shape, "\"precision\": \"14\"");
  const testing::Imported imported = testing::import_cvm_model(b.build({x}));
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_EQ(imported.graph.nodes.size(), 1u);
  const auto& steps = imported.graph.nodes[0].options.AsFormula()->a_steps;
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0]->value, 0);
  EXPECT_EQ(steps[0]->high, 2047);
}

TEST(Cvm, LintFindsChannelsWithoutUse) {
  testing::Imported sound = testing::import_cvm_model(one_layer({3, -2, 1, 40}, false));
  lint(sound.graph, &sound.report);
  EXPECT_TRUE(sound.report.warnings().empty()) << sound.report.warnings_text();
  // The second channel has no weights.
  testing::Imported dead = testing::import_cvm_model(one_layer({30, -20, 0, 0}, false));
  lint(dead.graph, &dead.report);
  ASSERT_EQ(dead.report.warnings().size(), 1u) << dead.report.warnings_text();
  EXPECT_EQ(dead.report.warnings()[0].rule, "dead-channels");
  EXPECT_EQ(dead.report.warnings()[0].node, "conv2d2");
  EXPECT_NE(dead.report.warnings()[0].what.find("1 of 2 channels"), std::string::npos);
}

TEST(Cvm, LayersWithComputedWeightsAreRefused) {
  CvmBuilder b;
  const int x = b.data({2, 4}, 8);
  const int w = b.op("relu", {x}, {2, 4});
  const testing::Imported imported = testing::import_cvm_model(
      b.build({b.op("dense", {x, w}, {2, 2}, "\"units\": \"2\", \"use_bias\": \"False\"")}));
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_EQ(imported.rule(), "its weights or bias are computed by the model");
}

}  // namespace
}  // namespace qrt::convert::cvm_test
