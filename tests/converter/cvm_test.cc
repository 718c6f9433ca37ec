// MRT/CVM models: what they are read as, what they compute, and what is refused with which words.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "converter/convert.h"
#include "converter/import/cvm/chain.h"
#include "converter/import/cvm/infer.h"
#include "converter/lint.h"
#include "tests/support/cvm_runner.h"

namespace qrt::convert {
namespace {

using from_cvm::Form;
using from_cvm::Link;
using from_cvm::Model;
using from_cvm::Range;
using testing::CvmBuilder;
using testing::CvmModel;

// The message of a model that is refused; empty: it is not.
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

// Every value in turn through the links and through the requantisation.
TEST(Cvm, AChainAndItsRequantisationAreTheSame) {
  Link shift, factor;
  shift.function = fb::FormulaFunction::SHIFT_RIGHT;
  shift.value = 3;
  factor.function = fb::FormulaFunction::MULTIPLY;
  factor.value = 1777;
  Link last = shift;
  last.value = 11;
  const std::vector<Link> links = {from_cvm::clamp_to(-30000, 30000),
                                   shift,
                                   from_cvm::clamp_to(-2000, 1500),
                                   factor,
                                   last,
                                   from_cvm::clamp_to(-127, 127),
                                   from_cvm::clamp_to(0, INT32_MAX)};
  const Range range{-40000, 40000};
  for (size_t count = 0; count <= links.size(); ++count) {
    const auto requant = from_cvm::requantization(links, count, range);
    ASSERT_TRUE(requant) << count;
    ASSERT_LE(requant->stages.size(), 2u);
    for (int32_t x = -40000; x <= 40000; ++x) {
      int32_t expected = x;
      for (size_t i = 0; i < count; ++i) expected = from_cvm::apply(links[i], expected);
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
  Link shift;
  shift.function = fb::FormulaFunction::SHIFT_RIGHT;
  shift.value = 2;
  EXPECT_TRUE(from_cvm::requantization({shift, shift}, 2, {-100, 100}));
  EXPECT_FALSE(from_cvm::requantization({shift, shift, shift}, 3, {-100, 100}));
  Link negative;
  negative.function = fb::FormulaFunction::MULTIPLY;
  negative.value = -3;
  EXPECT_FALSE(from_cvm::requantization({negative}, 1, {-100, 100}));
}

// A convolution of one position and what MRT puts behind it: to 8 bits, or as sums with `sums`.
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
}  // namespace qrt::convert
