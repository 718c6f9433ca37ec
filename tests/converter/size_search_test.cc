// SPDX-License-Identifier: Apache-2.0
// The sizes of an open dimension that stay legal after comparisons at some of them.
#include "converter/sizes/size_search.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace qrt::size_line_test {
namespace {

using convert::Distance;
using convert::SizeSearch;
using convert::Symbol;
using convert::Verdict;

constexpr int64_t kOwn = 61;

struct Source {
  std::function<Verdict(int64_t)> verdict;
  std::function<int64_t(int64_t)> distance = [](int64_t) { return 1; };
};

// Tries all sizes, and returns what exclude_wrong() does.
int64_t excluded(const Source& source, Symbol* symbol, std::vector<int64_t>* tried = nullptr) {
  symbol->value = kOwn;
  SizeSearch line(symbol, kOwn, {{0, source.distance(kOwn)}}, false,
                  [&](int64_t size, Verdict* verdict, std::vector<Distance>* distances) {
                    *verdict = source.verdict(size);
                    *distances = {{0, source.distance(size)}};
                    if (tried != nullptr) tried->push_back(size);
                    return Status();
                  });
  EXPECT_TRUE(line.try_usual().ok());
  EXPECT_TRUE(line.find_turns().ok());
  EXPECT_TRUE(line.try_more().ok());
  return line.exclude_wrong();
}

TEST(SizeSearch, KeepsAllSizesThatAreRight) {
  Symbol symbol;
  EXPECT_EQ(excluded({[](int64_t) { return Verdict::kEqual; }}, &symbol), 0);
  EXPECT_EQ(symbol.least, 1);
  EXPECT_EQ(symbol.most, INT32_MAX);
  EXPECT_EQ(symbol.step, 1);
}

TEST(SizeSearch, RaisesTheLeastSizeAboveSmallOnesThatAreWrong) {
  Symbol symbol;
  const Source source{[](int64_t n) { return n < 7 ? Verdict::kWrong : Verdict::kEqual; }};
  EXPECT_EQ(excluded(source, &symbol), 0);
  EXPECT_EQ(symbol.least, 7);
  EXPECT_EQ(symbol.most, INT32_MAX);
}

// Below 44 the source does something else, which a few sizes give the same result for.
TEST(SizeSearch, ExcludesSizesThatAreRightByLuckBesideWrongOnes) {
  Symbol symbol;
  const Source source{[](int64_t n) { return n < 42 ? Verdict::kWrong : Verdict::kEqual; },
                      [](int64_t n) { return n - 44; }};
  EXPECT_EQ(excluded(source, &symbol), 0);
  EXPECT_EQ(symbol.least, 44);
  EXPECT_EQ(symbol.most, INT32_MAX);
}

// Sizes between a wrong one and the next right one are compared, as far as the limit depends on them.
TEST(SizeSearch, FindsTheEdgeOfWrongSizes) {
  Symbol symbol;
  const Source source{[](int64_t n) { return n < 41 ? Verdict::kWrong : Verdict::kEqual; }};
  EXPECT_EQ(excluded(source, &symbol), 0);
  EXPECT_EQ(symbol.least, 41);
}

// Only some multiples of 7 are ever tried, so that none of them may stay.
TEST(SizeSearch, ExcludesNothingWhereWrongSizesComeAgainAndAgain) {
  Symbol symbol;
  const Source source{[](int64_t n) { return n % 7 == 0 ? Verdict::kWrong : Verdict::kEqual; }};
  EXPECT_EQ(excluded(source, &symbol), 7);
}

TEST(SizeSearch, ExcludesASizeAtWhichTheSourceDoesSomethingElse) {
  Symbol symbol;
  const Source source{[](int64_t n) { return n == 7 ? Verdict::kWrong : Verdict::kEqual; },
                      [](int64_t n) { return n == 7 ? 0 : 1; }};
  EXPECT_EQ(excluded(source, &symbol), 0);
  EXPECT_EQ(symbol.least, 8);
}

// The distance is 0 at 200, from where on the file is wrong.
TEST(SizeSearch, FindsATurningPoint) {
  Symbol symbol;
  std::vector<int64_t> tried;
  const Source source{[](int64_t n) { return n >= 200 ? Verdict::kWrong : Verdict::kEqual; },
                      [](int64_t n) { return n - 200; }};
  EXPECT_EQ(excluded(source, &symbol, &tried), 0);
  EXPECT_EQ(symbol.most, 199);
  EXPECT_LT(tried.size(), 40u);
}

TEST(SizeSearch, ExcludesATurningPointThatIsTooCostly) {
  Symbol symbol;
  const Source source{[](int64_t n) { return n >= 150 ? Verdict::kTooCostly : Verdict::kEqual; },
                      [](int64_t n) { return n - 200; }};
  EXPECT_EQ(excluded(source, &symbol), 0);
  EXPECT_GE(symbol.most, kOwn);
  EXPECT_LT(symbol.most, 200);
}

TEST(SizeSearch, TriesNoSizesThatTheSymbolCannotHave) {
  Symbol symbol;
  symbol.least = 5;
  symbol.step = 8;
  symbol.most = 101;
  std::vector<int64_t> tried;
  EXPECT_EQ(excluded({[](int64_t) { return Verdict::kEqual; }}, &symbol, &tried), 0);
  ASSERT_FALSE(tried.empty());
  for (const int64_t size : tried) EXPECT_EQ(size % 8, 5) << size;
}

}  // namespace
}  // namespace qrt::size_line_test
