// SPDX-License-Identifier: Apache-2.0
// Every row of lut.inc against y = table[x].
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/lut/channel_lut.h"
#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::lut_test {
namespace {

using testing::Guarded;
using testing::Random;

class LutTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    size_t count;
    kernel_ = lut_kernels(&count)[GetParam()];
    if (!has(detected_isas(), kernel_.isa)) GTEST_SKIP() << "this CPU lacks " << kernel_.name;
  }

  LutKernel kernel_{};
  Random random_;
};

TEST_P(LutTest, MapsEveryByteAtEveryPosition) {
  SCOPED_TRACE(random_.trace());
  for (int round = 0; round < 8; ++round) {
    Guarded<uint8_t> table(256), x(256 * 67), y(256 * 67);
    random_.fill(table, 0, 255);
    // 67 is odd: every value meets every lane.
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 67 + i / 256);
    kernel_.map(table.data(), x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(int{y[i]}, int{table[x[i]]}) << i;
  }
}

// Every length is handled: input and output end at guard pages, and the bytes in front of the output stay.
TEST_P(LutTest, HandlesEveryLength) {
  SCOPED_TRACE(random_.trace());
  Guarded<uint8_t> table(256);
  for (auto& t : table) t = static_cast<uint8_t>(random_.integer(0, 255));
  for (size_t n = 0; n <= 330; ++n) {
    Guarded<uint8_t> x(n), y(n + 64);
    random_.fill(x, 0, 255);
    kernel_.map(table.data(), x.data(), y.data() + 64, n);
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(int{y[i]}, 0xA5) << "n " << n;
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(int{y[64 + i]}, int{table[x[i]]}) << "n " << n;
  }
}

TEST_P(LutTest, LeavesTheBytesAfterTheOutputAlone) {
  Guarded<uint8_t> table(256), x(300);
  for (size_t n = 0; n <= 260; ++n) {
    std::vector<uint8_t> y(400, 0xEE);
    kernel_.map(table.data(), x.data(), y.data(), n);
    for (size_t i = n; i < y.size(); ++i) ASSERT_EQ(int{y[i]}, 0xEE) << "n " << n << ", byte " << i;
  }
}

TEST_P(LutTest, MapsInPlace) {
  SCOPED_TRACE(random_.trace());
  Guarded<uint8_t> table(256);
  for (auto& t : table) t = static_cast<uint8_t>(random_.integer(0, 255));
  for (const size_t n : {1, 31, 64, 65, 129, 1009}) {
    Guarded<uint8_t> x(n);
    random_.fill(x, 0, 255);
    const std::vector<uint8_t> before(x.begin(), x.end());
    kernel_.map(table.data(), x.data(), x.data(), n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(int{x[i]}, int{table[before[i]]}) << "n " << n;
  }
}

// Each channel is mapped by its table: rows of `channels` bytes, byte by byte and by planes, in
// memory without slack behind it.
TEST_P(LutTest, MapsEachChannelByItsTable) {
  SCOPED_TRACE(random_.trace());
  const IsaSet isas = capped(~0u, kernel_.isa);
  for (const size_t channels : {1, 2, 3, 16, 31, 63, 64, 65, 128, 131, 600}) {
    for (const size_t rows : {0, 1, 2, 7, 31, 32, 49, 63, 64, 67, 300}) {
      Guarded<uint8_t> tables(256 * channels), x(rows * channels), y(rows * channels);
      for (auto& t : tables) t = static_cast<uint8_t>(random_.integer(0, 255));
      for (auto& v : x) v = static_cast<uint8_t>(random_.integer(0, 255));
      const auto check = [&] {
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(int{y[i]}, int{tables[256 * (i % channels) + x[i]]})
              << rows << " rows of " << channels << ", element " << i;
      };
      map_channels(tables.data(), x.data(), y.data(), rows, channels);
      check();
      const ChannelPlanes planes = plan_channel_planes(isas, rows, channels);
      const size_t least = kernel_.isa == Isa::kAvx512Vbmi ? 32 : 64;
      EXPECT_EQ(planes.rows > 0, rows >= least && kernel_.isa != Isa::kScalar);
      Guarded<uint8_t> memory(planes.bytes());
      random_.fill(y, 0, 255);
      for (size_t r = 0; planes.rows > 0 && r < rows; r += planes.rows)
        planes.map(tables.data(), x.data() + r * channels, y.data() + r * channels,
                   std::min(planes.rows, rows - r), memory.data());
      if (planes.rows > 0) check();
    }
  }
}

size_t row_count() {
  size_t count;
  lut_kernels(&count);
  return count;
}

INSTANTIATE_TEST_SUITE_P(Rows, LutTest, ::testing::Range(size_t{0}, row_count()),
                         [](const auto& info) {
                           size_t count;
                           return std::string(lut_kernels(&count)[info.param].name);
                         });

TEST(LutSelectTest, TakesTheFirstRowAllowed) {
  size_t count;
  const LutKernel* rows = lut_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(select_lut(capped(~0u, rows[i].isa))->name, rows[i].name);
  EXPECT_EQ(select_lut(static_cast<IsaSet>(Isa::kScalar))->isa, Isa::kScalar);
}

}  // namespace
}  // namespace qrt::lut_test
