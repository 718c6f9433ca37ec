// SPDX-License-Identifier: Apache-2.0
// Report: text for people, JSON for programs.
#include "converter/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace qrt::convert::report_test {
namespace {

Report sample() {
  Report r;
  r.converted("conv1", "Conv", "Conv2D", "I1");
  r.refused("#7 (Erf)", "Erf", "input 'x' is float32: not quantised", "x", "quantise it");
  return r;
}

TEST(Report, KnowsWhetherAnythingWasRefused) {
  EXPECT_TRUE(sample().has_refusals());
  Report fine;
  fine.converted("a", "Relu", "folded", "I0");
  EXPECT_FALSE(fine.has_refusals());
}

TEST(Report, TextNamesNodeRuleTensorAndRemedy) {
  const std::string text = sample().text(false);
  EXPECT_EQ(text,
            "refused  #7 (Erf): input 'x' is float32: not quantised\n"
            "         tensor: x\n"
            "         remedy: quantise it\n"
            "1 of 2 nodes refused\n");
  EXPECT_NE(sample().text(true).find("ok       conv1 (Conv) -> Conv2D [I1]\n"), std::string::npos);
}

TEST(Report, TextCountsOperatorsAndHidesWhatWasFolded) {
  Report r;
  r.converted("conv1", "Conv", "Conv2D", "I1");
  r.converted("q1", "QuantizeLinear", "folded", "I0");
  r.converted("conv2", "Conv", "Conv2D", "I1");
  r.converted("relu", "Relu", "Lut", "I0");
  EXPECT_EQ(r.text(true),
            "ok       conv1 (Conv) -> Conv2D [I1]\n"
            "ok       conv2 (Conv) -> Conv2D [I1]\n"
            "ok       relu (Relu) -> Lut [I0]\n"
            "count    Conv2D [I1]: 2\n"
            "count    Lut [I0]: 1\n"
            "count    folded into others: 1 (--explain=json lists them)\n"
            "0 of 4 nodes refused\n");
}

TEST(Report, NamesWhatCouldNotBeAssessed) {
  Report r = sample();
  r.not_assessed("conv2", "Conv", "depends on refused node #7 (Erf)");
  const std::string line =
      "unknown  conv2 (Conv): not assessed: depends on refused node #7 (Erf)\n";
  EXPECT_NE(r.text(false).find(line + "1 of 3 nodes refused, 1 not assessed\n"), std::string::npos)
      << r.text(false);
  const auto json = nlohmann::json::parse(r.json());
  EXPECT_EQ(json["not_assessed"], 1);
  EXPECT_EQ(json["nodes"][2]["outcome"], "not assessed");
  EXPECT_EQ(json["nodes"][2]["rule"], "depends on refused node #7 (Erf)");
}

TEST(Report, CountsNodesAndOtherPartsApart) {
  Report r = sample();
  r.refused_in_file("y", "output", "it does not depend on the inputs", "remove it");
  EXPECT_EQ(r.refusals(), "1 of 2 nodes refused and 1 other part of the model");
  r.refused_in_file("x", "input", "has the type string", "");
  EXPECT_NE(r.text(false).find("\n1 of 2 nodes refused and 2 other parts of the model\n"),
            std::string::npos)
      << r.text(false);
}

TEST(Report, SaysOfOpenDimensionsWhichSizesTheyHave) {
  Report r;
  r.set_dimensions({{"batch", 3, 1, INT32_MAX, 1, "", ""},
                    {"n", 64, 32, INT32_MAX - 31, 32, "", "at n = 37: node add"},
                    {"m", 64, 0, 512, 1, "n", ""},
                    {"h", 12, 12, 12, 1, "", "at h = 37: node gemm"}},
                   {{"total", "m + n"}, {"m+1", "m + 1"}, {"n + 1", "n + 1"}});
  const std::string text = r.text(true);
  EXPECT_EQ(text.substr(0, text.rfind("0 of 0 nodes")),
            "open     'batch' 1 or more\n"
            "open     'n' 32 or more in steps of 32\n"
            "         why: at n = 37: node add\n"
            "open     'm' 0 to 512, the size of 'n' or 1\n"
            "fixed    'h' 12\n"
            "         why: at h = 37: node gemm\n"
            "sum      'total' is m + n\n"
            "sum      'm+1' is m + 1\n");
  const auto json = nlohmann::json::parse(r.json());
  EXPECT_EQ(json["dimensions"][2], nlohmann::json({{"name", "m"},
                                                   {"value", 64},
                                                   {"least", 0},
                                                   {"most", 512},
                                                   {"step", 1},
                                                   {"tied_to", "n"},
                                                   {"why", ""}}));
  EXPECT_EQ(json["dimensions"][3]["why"], "at h = 37: node gemm");
  EXPECT_EQ(json["sums"][0], nlohmann::json({{"name", "total"}, {"sum", "m + n"}}));
}

TEST(Report, JsonHoldsEveryFinding) {
  const auto json = nlohmann::json::parse(sample().json());
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["converted"], 1);
  EXPECT_EQ(json["nodes"][0]["outcome"], "converted");
  EXPECT_EQ(json["nodes"][0]["level"], "I1");
  EXPECT_EQ(json["nodes"][1]["outcome"], "refused");
  EXPECT_EQ(json["nodes"][1]["tensor"], "x");
}

TEST(Report, JsonSurvivesNamesThatAreNotUtf8) {
  Report r;
  r.refused("bad\xff", "Op\x80", "rule", "", "");
  EXPECT_EQ(nlohmann::json::parse(r.json())["refused"], 1);
}

}  // namespace
}  // namespace qrt::convert::report_test
