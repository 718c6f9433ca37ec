// SPDX-License-Identifier: Apache-2.0
// Tables that are lines: every row against fused multiply-adds of doubles, which hold them without a rounding.
#include "kernels/lut/lines.h"

#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::lines_test {
namespace {

struct LineChannel {
  float slope[2], intercept[2];
  bool lesser;
  uint8_t lo, hi, at[2], more[2];
};

// Returns the entry of a line: rounded half to even, then to a byte, then to the channel's limits;
// corrections of wrong entries come last.
uint8_t expected_of_lines(const LineChannel& c, bool two, int mends, uint8_t x) {
  const auto line = [&](int i) {
    return static_cast<float>(static_cast<double>(x) * c.slope[i] + c.intercept[i]);
  };
  float v = line(0);
  if (two) v = c.lesser ? std::min(v, line(1)) : std::max(v, line(1));
  const double rounded = std::nearbyint(double{v});
  const int byte = rounded < 0 ? 0 : rounded > 255 ? 255 : static_cast<int>(rounded);
  uint8_t y = static_cast<uint8_t>(byte < c.lo ? c.lo : byte > c.hi ? c.hi : byte);
  for (int i = 0; i < mends; ++i)
    if (x == c.at[i]) y = static_cast<uint8_t>(y + c.more[i]);
  return y;
}

// Checks `channels` channels and `n` elements: whole rows, and a part of one at the end.
void check_lines(const LinesKernel& kernel, size_t channels, size_t n, bool two, bool with_signs,
                 bool limited, int mends) {
  testing::Random random;
  std::vector<LineChannel> all(channels);
  std::vector<LineBlock> blocks((channels + kLinesBlock - 1) / kLinesBlock);
  memset(static_cast<void*>(blocks.data()), 0, blocks.size() * sizeof(LineBlock));
  for (size_t c = 0; c < channels; ++c) {
    LineChannel& k = all[c];
    k.lesser = with_signs && random.integer(0, 1) != 0;
    k.lo = static_cast<uint8_t>(limited ? random.integer(0, 90) : 0);
    k.hi = static_cast<uint8_t>(limited ? random.integer(160, 255) : 255);
    LineBlock& block = blocks[c / kLinesBlock];
    const size_t i = c % kLinesBlock, lane = line_lane(i, kernel.bytes());
    for (int line = 0; line < 2; ++line) {
      // Multiples of a quarter: ties are frequent, and the doubles of expected_of_lines() hold every sum.
      k.slope[line] = static_cast<float>(random.integer(-12, 12)) / 4;
      k.intercept[line] = static_cast<float>(random.integer(-2000, 2000)) / 4;
      const float sign = k.lesser ? -1 : 1;
      block.slope[line][lane] = sign * k.slope[line];
      block.intercept[line][lane] = sign * k.intercept[line];
      k.at[line] =
          static_cast<uint8_t>(line == 0 ? random.integer(0, 127) : random.integer(128, 255));
      k.more[line] = static_cast<uint8_t>(random.integer(0, 1) ? 1 : 255);
      block.at[line][i] = k.at[line];
      block.more[line][i] = k.more[line];
    }
    block.sign[lane] = k.lesser ? 0x80000000u : 0;
    block.lo[i] = k.lo;
    block.hi[i] = k.hi;
    block.is_limited = limited;
    block.mends = static_cast<uint8_t>(mends);
  }
  testing::Guarded<uint8_t> x(n, 64), y(n);
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<uint8_t>(random.integer(0, 255));
  const auto map = with_signs ? kernel.map_signed : two ? kernel.map_two : kernel.map;
  map({blocks.data(), channels}, x.data(), y.data(), n);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(int{y[i]}, int{expected_of_lines(all[i % channels], two, mends, x[i])})
        << kernel.name << ": " << channels << " channels, element " << i;
}

class LinesKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(LinesKernels, MapsEveryLengthOfAPeriodAndOfItsRest) {
  size_t count;
  const LinesKernel& kernel = lines_kernels(&count)[GetParam()];
  if (kernel.name == nullptr || !has(detected_isas(), kernel.isa)) GTEST_SKIP();
  const size_t bytes = kernel.bytes();
  for (const size_t channels :
       {size_t{1}, bytes - 1, bytes, bytes + 1, 2 * bytes + 3, size_t{64}, size_t{65}, size_t{131}})
    for (const size_t rows : {size_t{1}, size_t{2}, size_t{5}})
      for (const int form : {0, 1, 2})
        for (const int mends : {0, 1, 2})
          check_lines(kernel, channels, rows * channels + channels / 2, form > 0, form > 1,
                      mends != 1, mends);
}

INSTANTIATE_TEST_SUITE_P(All, LinesKernels, ::testing::Range(size_t{0}, [] {
                           size_t count;
                           lines_kernels(&count);
                           return count;
                         }()));

}  // namespace
}  // namespace qrt::lines_test
