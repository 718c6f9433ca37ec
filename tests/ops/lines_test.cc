// SPDX-License-Identifier: Apache-2.0
// Every row of lines.inc, by ChannelLines, against y = table[x], for tables that are lines.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "runtime/ops/channel_lines.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::lines_test {
namespace {

using testing::Guarded;
using testing::Random;

using Table = std::vector<uint8_t>;

// Returns the table rounded half to even, as ONNX Runtime computes layers in float.
Table table_of(const std::function<double(double)>& f, int lo = 0, int hi = 255) {
  Table table(256);
  for (int x = 0; x < 256; ++x) {
    const float y = std::nearbyint(static_cast<float>(f(x)));
    table[static_cast<size_t>(x)] = static_cast<uint8_t>(
        std::fmin(std::fmax(y, static_cast<float>(lo)), static_cast<float>(hi)));
  }
  return table;
}

class LinesTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    size_t count;
    const LinesKernel& kernel = lines_kernels(&count)[GetParam()];
    if (!has(detected_isas(), kernel.isa)) GTEST_SKIP() << "this CPU lacks " << kernel.name;
    isas_ = capped(detected_isas(), kernel.isa);
    name_ = kernel.name;
  }

  std::unique_ptr<const ChannelLines> fit(const std::vector<Table>& tables) {
    all_.clear();
    for (const Table& t : tables) all_.insert(all_.end(), t.begin(), t.end());
    return ChannelLines::fit(isas_, all_.data(), tables.size(), /*searches=*/32);
  }

  // Checks tables. The output, and what may be read behind the input, end at guard pages; the bytes
  // before the output stay as they were, and so do those behind one that is mapped in place.
  void expect_tables(const std::vector<Table>& tables, size_t n) {
    SCOPED_TRACE(std::to_string(tables.size()) + " channels, " + std::to_string(n) + " bytes");
    const std::unique_ptr<const ChannelLines> lines = fit(tables);
    ASSERT_NE(lines, nullptr);
    EXPECT_EQ(lines->name(), name_);
    Guarded<uint8_t> x(n + 64), y(n + 64);
    random_.fill(x, 0, 255);
    const std::vector<uint8_t> before(x.begin(), x.end());
    const auto check = [&](const uint8_t* got) {
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(int{got[i]}, int{tables[i % tables.size()][before[i]]})
            << "byte " << i << " of x = " << int{before[i]};
    };
    lines->map(x.data(), y.data() + 64, n);
    check(y.data() + 64);
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(int{y[i]}, 0xA5);
    lines->map(x.data(), x.data(), n);
    check(x.data());
    for (size_t i = n; i < n + 64; ++i) ASSERT_EQ(int{x[i]}, int{before[i]});
  }

  // Returns the table of a BatchNormalization of either sign, steep or nearly constant, with or without Relu.
  Table normalisation() {
    const double slope = random_.real(-1, 1) * std::exp2(random_.integer(-8, 8));
    const double at = random_.real(-20, 275), offset = random_.real(-20, 275);
    return table_of([=](double x) { return slope * (x - at) + offset; },
                    random_.integer(0, 1) * random_.integer(0, 255));
  }

  Table prelu(double slope, double alpha, int zero) {
    return table_of([=](double x) { return zero + slope * (x - zero) * (x < zero ? alpha : 1); });
  }

  Random random_;
  IsaSet isas_ = 0;
  std::string name_;
  std::vector<uint8_t> all_;
};

TEST_P(LinesTest, Normalisations) {
  SCOPED_TRACE(random_.trace());
  for (const size_t channels : {1, 2, 3, 12, 16, 31, 56, 63, 64, 65, 128, 131, 600, 2049}) {
    std::vector<Table> tables;
    for (size_t c = 0; c < channels; ++c) tables.push_back(normalisation());
    for (const size_t rows : {1, 2, 7, 67}) expect_tables(tables, rows * channels);
  }
}

TEST_P(LinesTest, EveryLength) {
  SCOPED_TRACE(random_.trace());
  const std::vector<Table> tables = {normalisation(), prelu(0.7, 0.3, 99), normalisation()};
  for (size_t n = 0; n <= 500; ++n) expect_tables(tables, n);
}

TEST_P(LinesTest, TwoLines) {
  SCOPED_TRACE(random_.trace());
  for (const int zero : {0, 1, 100, 128, 254, 255}) {
    std::vector<Table> tables;
    // Slopes of either sign, with a fall on one side, and bent downwards.
    for (int c = 0; c < 37; ++c)
      tables.push_back(prelu(random_.real(-1.5, 1.5), random_.real(-1, 3), zero));
    expect_tables(tables, 37 * 300);
  }
  // Every channel has a bend of its own.
  std::vector<Table> tables;
  for (int c = 0; c < 20; ++c) tables.push_back(prelu(0.8, 0.1, 20 + 11 * c));
  expect_tables(tables, 20 * 300);
}

// Bends are searched for some channels only, not for all of a file's.
TEST_P(LinesTest, KinksOfTooManyPlaces) {
  std::vector<Table> tables;
  for (int c = 0; c < 40; ++c) tables.push_back(prelu(0.8, 0.1, 20 + 5 * c));
  EXPECT_EQ(fit(tables), nullptr);
}

TEST_P(LinesTest, LimitsAndSteps) {
  std::vector<Table> tables;
  for (const int constant : {0, 1, 128, 255}) tables.push_back(Table(256, uint8_t(constant)));
  for (const size_t step : {1, 17, 128, 255}) {
    for (const auto& [lo, hi] : {std::pair<int, int>{0, 255}, {255, 0}, {7, 8}, {200, 3}}) {
      Table table(256, static_cast<uint8_t>(lo));
      std::fill(table.begin() + static_cast<ptrdiff_t>(step), table.end(),
                static_cast<uint8_t>(hi));
      tables.push_back(table);
    }
  }
  tables.push_back(table_of([](double x) { return x; }));
  tables.push_back(table_of([](double x) { return 255 - x; }));
  expect_tables(tables, tables.size() * 300);
}

// Values halfway between two bytes go to even, and up to two of them the other way, as sequences of
// roundings do.
TEST_P(LinesTest, Ties) {
  std::vector<Table> tables;
  for (const double slope : {0.5, 0.25, 1.5, -0.5, -0.25, 2.5, 0.125}) {
    const auto line = [=](double x) { return slope * (x - 128) + 128; };
    Table table = table_of(line);
    tables.push_back(table);
    for (int x = 255, moved = 0; x > 0 && moved < 2; x -= 3) {
      const double y = line(x);
      if (y < 1 || y > 254 || y - std::floor(y) != 0.5) continue;
      uint8_t& entry = table[static_cast<size_t>(x)];
      entry = static_cast<uint8_t>(entry > y ? entry - 1 : entry + 1);
      tables.push_back(table);
      ++moved;
    }
  }
  ASSERT_EQ(tables.size(), 21);
  expect_tables(tables, tables.size() * 300);
}

TEST_P(LinesTest, NoLines) {
  SCOPED_TRACE(random_.trace());
  Table random(256);
  for (uint8_t& v : random) v = static_cast<uint8_t>(random_.integer(0, 255));
  Table three = table_of([](double x) { return 0.5 * x; });  // two can be mended
  for (const size_t x : {21, 101, 221}) three[x] ^= 1;
  const Table curve = table_of([](double x) { return x * x / 255; });
  const Table line = table_of([](double x) { return 0.5 * x; });
  for (const Table& table : {random, three, curve}) {
    EXPECT_EQ(fit({table}), nullptr);
    EXPECT_EQ(fit({line, line, table, line}), nullptr);
  }
  EXPECT_NE(fit({line, line}), nullptr);
}

// Returns the number of rows; the last row says that there is none.
size_t row_count() {
  size_t count;
  lines_kernels(&count);
  return count - 1;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LinesTest);
INSTANTIATE_TEST_SUITE_P(Rows, LinesTest, ::testing::Range(size_t{0}, row_count()),
                         [](const auto& info) {
                           size_t count;
                           return std::string(lines_kernels(&count)[info.param].name);
                         });

TEST(LinesSelectTest, ScalarSetsHaveNone) {
  const uint8_t table[256] = {};
  EXPECT_EQ(ChannelLines::fit(static_cast<IsaSet>(Isa::kScalar), table, 1, 0), nullptr);
}

}  // namespace
}  // namespace qrt::lines_test
