// SPDX-License-Identifier: Apache-2.0
// When a rung of the ladder stays.
#include "converter/quantize/ladder/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

namespace qrt::quantize::verdict_test {
namespace {

const std::vector<Value> kOutputs = {{"a", {1, 1}}, {"b", {1, 1}}};

// Outputs of size 1 whose errors have these squares, sample by sample.
Judgement judged(const std::vector<std::vector<double>>& squares) {
  Judgement j;
  for (const std::vector<double>& sample : squares) {
    std::map<std::string, Tensor> real, got;
    for (size_t k = 0; k < kOutputs.size(); ++k) {
      real[kOutputs[k].name] = real_tensor({1, 1}, {1});
      got[kOutputs[k].name] = real_tensor({1, 1}, {1 + static_cast<float>(std::sqrt(sample[k]))});
    }
    j.add(kOutputs, real, got, -1);
  }
  return j;
}

std::vector<std::vector<double>> samples(size_t n, double a, double b) {
  std::vector<std::vector<double>> all;
  // No two samples are alike.
  for (size_t i = 0; i < n; ++i) {
    const double factor = 1 + 0.01 * static_cast<double>(i);
    all.push_back({a * factor, b * factor});
  }
  return all;
}

TEST(Verdicts, AGainOfAllSamplesStays) {
  const Verdict v =
      verdict(kOutputs, judged(samples(20, 0.1, 0.1)), judged(samples(20, 0.05, 0.05)));
  EXPECT_TRUE(v.is_kept) << v.why;
  EXPECT_EQ(v.why, "20 of 20 samples gain");
}

TEST(Verdicts, AGainBelowItsStandardErrorIsChance) {
  auto before = samples(20, 0.1, 0.1), after = before;
  after[3][0] = 0.01;  // one sample gains, the others do not
  EXPECT_EQ(verdict(kOutputs, judged(before), judged(after)).is_kept, false);
  const Verdict v = verdict(kOutputs, judged(before), judged(after));
  EXPECT_NE(v.why.find("standard error"), std::string::npos) << v.why;
}

TEST(Verdicts, NoOutputLosesWhatAnotherGains) {
  const Verdict v =
      verdict(kOutputs, judged(samples(20, 0.1, 0.001)), judged(samples(20, 0.05, 0.002)));
  EXPECT_FALSE(v.is_kept);
  EXPECT_EQ(v.why, "output 'b' loses 3.0 dB");
}

TEST(Verdicts, NoTenthOfTheSamplesLoses) {
  auto before = samples(20, 0.1, 0.1), after = samples(20, 0.05, 0.05);
  for (size_t i = 0; i < 2; ++i) after[i] = {0.2, 0.2};  // worse than the worst before
  const Verdict v = verdict(kOutputs, judged(before), judged(after));
  EXPECT_FALSE(v.is_kept);
  EXPECT_NE(v.why.find("part 10 of 10 of the samples"), std::string::npos) << v.why;
}

TEST(Verdicts, OneSampleTellsNothing) {
  EXPECT_FALSE(
      verdict(kOutputs, judged(samples(1, 0.1, 0.1)), judged(samples(1, 0.01, 0.01))).is_kept);
  EXPECT_FALSE(
      verdict(kOutputs, judged(samples(9, 0.1, 0.1)), judged(samples(9, 0.1, 0.1))).is_kept);
}

TEST(Verdicts, AGainMayHaveToBeLarge) {
  const Judgement before = judged(samples(20, 0.1, 0.1)), after = judged(samples(20, 0.09, 0.09));
  EXPECT_TRUE(verdict(kOutputs, before, after).is_kept);
  EXPECT_EQ(verdict(kOutputs, before, after, 0.8).why, "the gain is below 1.0 dB");
}

TEST(Verdicts, AResultIsNoWorseInTheWorstOutputAndInTheMean) {
  const Judgement plain = judged(samples(20, 0.1, 0.01));
  EXPECT_TRUE(is_no_worse(plain, plain));
  EXPECT_TRUE(is_no_worse(judged(samples(20, 0.09, 0.01)), plain));
  EXPECT_FALSE(is_no_worse(judged(samples(20, 0.2, 0.001)), plain));
  EXPECT_FALSE(is_no_worse(judged(samples(20, 0.1, 0.1)), plain));
}

}  // namespace
}  // namespace qrt::quantize::verdict_test
