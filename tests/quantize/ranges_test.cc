// SPDX-License-Identifier: Apache-2.0
// Histograms and the rules that read ranges from them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "converter/quantize/ranges/rules.h"

namespace qrt::quantize::ranges_test {
namespace {

const Scheme& scheme(const char* name) { return *find_scheme(name); }

Histogram known(const std::vector<float>& values) {
  Histogram h;
  h.add(values.data(), values.size());
  return h;
}

const RangeChoice* find(const std::vector<RangeChoice>& choices, Rule rule) {
  for (const RangeChoice& c : choices)
    if (c.rule == rule) return &c;
  return nullptr;
}

// Returns n normally distributed values with an outlier.
std::vector<float> normal_with_outliers(size_t n, float outlier) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& v : values) v = normal(random);
  values[n / 2] = outlier;
  return values;
}

double mean_square_error(const std::vector<float>& values, const Coding& c) {
  double sum = 0;
  for (const float v : values) sum += std::pow(static_cast<double>(c.rounded(v) - v), 2);
  return sum / static_cast<double>(values.size());
}

TEST(Extents, AreOfFiniteValuesAndCountTheOthers) {
  const float infinity = std::numeric_limits<float>::infinity();
  Extent e;
  const std::vector<float> first = {NAN, 3, -infinity}, second = {2, infinity, 5};
  e.add(first.data(), first.size());
  EXPECT_EQ(e.least, 3);
  e.add(second.data(), second.size());
  EXPECT_EQ(e.bad, 3u);
  EXPECT_EQ(e.count, 6u);
  EXPECT_EQ(e.least, 2);
  EXPECT_EQ(e.lo, 0);  // ranges hold zero
  EXPECT_EQ(e.hi, 5);
}

// Samples that are observed in separate parts count as if they were observed together.
TEST(Histograms, AddUp) {
  const std::vector<float> near = normal_with_outliers(5000, 3),
                           far = normal_with_outliers(300, 90);
  for (const auto& [first, second] : {std::pair{near, far}, std::pair{far, near}}) {
    Histogram sum = known(first), together = known(first);
    sum.add(known(second));
    together.add(second.data(), second.size());
    EXPECT_EQ(sum.counts(), together.counts());
    EXPECT_EQ(sum.width(), together.width());
    EXPECT_EQ(sum.edge(0), together.edge(0));
    EXPECT_EQ(sum.total(), together.total());
    EXPECT_EQ(sum.extent().least, together.extent().least);
    EXPECT_EQ(sum.hi(), together.hi());
  }
  Histogram empty, zeros = known({0, 0});
  empty.add(known(near));
  EXPECT_EQ(empty.counts(), known(near).counts());
  zeros.add(known(near));
  EXPECT_EQ(zeros.zeros(), 2 + known(near).zeros());
}

TEST(Histograms, CountZerosApart) {
  const Histogram h = known({0, 0, 1, -1, 0.5f, NAN});
  EXPECT_EQ(h.zeros(), 2u);
  EXPECT_EQ(h.total(), 5u);
  EXPECT_EQ(h.counts().front(), 1u);
  EXPECT_EQ(h.counts().back(), 1u);
}

// Histograms of parts in any order add up to that of the whole. Values grow from 1 to 1,000 times
// that, and below zero, so that the first bins are merged.
TEST(Histograms, PartsInAnyOrderAddUpToTheWhole) {
  std::vector<float> values = normal_with_outliers(1000, -1000);
  values[300] = 700;
  const Histogram whole = known(values);
  for (const std::vector<size_t>& ends :
       {std::vector<size_t>{0, 300, 499, 501, 1000}, {0, 1, 2, 1000}}) {
    for (const bool backwards : {false, true}) {
      Histogram parts;
      for (size_t i = 0; i + 1 < ends.size(); ++i) {
        const size_t k = backwards ? ends.size() - 2 - i : i;
        parts.add(values.data() + ends[k], ends[k + 1] - ends[k]);
      }
      EXPECT_EQ(parts.counts(), whole.counts());
      EXPECT_EQ(parts.width(), whole.width());
      EXPECT_EQ(parts.edge(0), -1000);
      EXPECT_EQ(parts.edge(parts.bins()), 700);
    }
  }
}

// Each value is counted in the bin floor(value / width).
TEST(Histograms, BinsAreWhatTheySay) {
  for (const float outlier : {3.0f, -17.0f, 5e8f, 1e-3f}) {
    const std::vector<float> values = normal_with_outliers(5000, outlier);
    const Histogram h = known(values);
    ASSERT_GT(h.bins(), Histogram::kMostBins / 2);
    ASSERT_LE(h.bins(), Histogram::kMostBins);
    std::vector<uint64_t> wanted(h.bins());
    const double first = std::floor(static_cast<double>(h.lo()) / h.width());
    for (const float v : values)
      ++wanted[static_cast<size_t>(std::floor(static_cast<double>(v) / h.width()) - first)];
    EXPECT_EQ(h.counts(), wanted) << outlier;
  }
}

TEST(Rules, ErrorOfAHistogramIsThatOfItsValues) {
  const std::vector<float> values = normal_with_outliers(20000, 9);
  const Histogram h = known(values);
  for (const float end : {2.0f, 4.0f, 9.0f}) {
    const Coding c = coding_for(scheme("ort-u8"), 8, {-end, end});
    const double wanted = mean_square_error(values, c);
    EXPECT_NEAR(coding_error(h, c) / wanted, 1, 0.05) << end;
  }
}

TEST(Rules, MinMaxCoversEverything) {
  const Histogram h = known({-1, 3, 0.25f});
  const auto choices = range_choices(h, scheme("ort-u8"), 8);
  const RangeChoice* c = find(choices, Rule::kMinMax);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(clipped_fraction(h, c->coding), 0);
}

TEST(Rules, SquaresClipAnOutlierThatCostsLessThanCoarseSteps) {
  // An outlier among two million values: clipping it costs less than steps that are eight times as
  // wide.
  const std::vector<float> values = normal_with_outliers(2000000, 40);
  const auto choices = range_choices(known(values), scheme("ort-u8"), 8);
  const RangeChoice *squares = find(choices, Rule::kSquares), *all = find(choices, Rule::kMinMax);
  ASSERT_NE(squares, nullptr);
  ASSERT_NE(all, nullptr);
  EXPECT_LT(squares->coding.high(), 12);
  EXPECT_LT(mean_square_error(values, squares->coding),
            0.5 * mean_square_error(values, all->coding));
  EXPECT_EQ(choices.front().error,
            std::min_element(choices.begin(), choices.end(), [](auto& a, auto& b) {
              return a.error < b.error;
            })->error);
}

TEST(Rules, SquaresKeepAHeavyTail) {
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 10 ? 0.1 : 10);
  const auto choices = range_choices(known(values), scheme("ort-u8"), 8);
  EXPECT_GT(choices.front().coding.high(), 9.9f);
}

TEST(Rules, PercentilesLeaveTheirShareOutside) {
  std::vector<float> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 100000;
  const Histogram h = known(values);
  const auto choices = range_choices(h, scheme("ort-u8"), 8);
  const RangeChoice* c = find(choices, Rule::kPercentile999);
  ASSERT_NE(c, nullptr);
  EXPECT_NEAR(static_cast<double>(c->coding.high()), 0.999, 0.002);
}

// A range that clips one value in a thousand samples costs more than all roundings of 16 bits.
TEST(Rules, SixteenBitsReachBeyondTheSamples) {
  const Histogram h = known(normal_with_outliers(20000, 3.9f));
  for (const char* name : {"ort-u8", "espdl-s16"}) {
    const auto choices = range_choices(h, scheme(name), 16);
    ASSERT_EQ(choices.size(), 1u) << name;
    EXPECT_GE(choices[0].coding.high(), 1.24f * h.hi()) << name;
    EXPECT_LE(choices[0].coding.low(), 1.24f * h.lo()) << name;
  }
}

TEST(Rules, ATensorOfZerosHasOneChoice) {
  const auto choices = range_choices(known({0, 0, 0}), scheme("ort-u8"), 8);
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].coding.rounded(0), 0);
}

TEST(Codings, OfPositiveValuesUseAllCodes) {
  const Coding c = coding_for(scheme("ort-u8"), 8, {0, 6});
  EXPECT_EQ(c.zero_point, 0);
  EXPECT_EQ(c.code(6), 255);
  const Coding s = coding_for(scheme("ort-s8"), 8, {0, 6});
  EXPECT_EQ(s.zero_point, -128);
  EXPECT_EQ(s.code(6), 127);
}

TEST(Codings, ZeroIsExact) {
  for (const Scheme& s : schemes())
    for (const Range r : {Range{-1, 2}, Range{-0.3f, 7}, Range{-5, 0}, Range{0, 0}})
      EXPECT_EQ(coding_for(s, s.bits, r).rounded(0), 0) << s.name;
}

TEST(Codings, OfEspDlArePowersOfTwoWithoutZeroPoint) {
  for (const char* name : {"espdl-s8", "espdl-s16"})
    for (const float most : {0.7f, 1.0f, 3.0f, 127.0f}) {
      const Coding c = coding_for(scheme(name), scheme(name).bits, {-most, most / 2});
      int exponent;
      EXPECT_EQ(std::frexp(c.scale, &exponent), 0.5f) << name << " " << most;
      EXPECT_EQ(c.zero_point, 0);
      EXPECT_GE(c.high(), most - c.scale);
    }
}

TEST(Codings, RoundHalfToEvenAndClip) {
  Coding c;
  c.scale = 0.5f;
  c.zero_point = 10;
  EXPECT_EQ(c.code(0.25f), 10);
  EXPECT_EQ(c.code(0.75f), 12);
  EXPECT_EQ(c.code(1e9f), 255);
  EXPECT_EQ(c.code(-1e9f), 0);
  EXPECT_EQ(c.code(NAN), 0);
}

}  // namespace
}  // namespace qrt::quantize::ranges_test
