// SPDX-License-Identifier: Apache-2.0
// Lines against the definition on both sides of every step, in exact arithmetic.
#include "kernels/affine/affine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/integer_build.h"
#include "tests/support/random.h"

namespace qrt::affine_test {
namespace {

struct Channel {
  int32_t multiplier;
  uint8_t shift;  // beyond 31
};

class RequantAffineTest : public ::testing::TestWithParam<int> {
 protected:
  // TFLite's two roundings, or one half up.
  Requant requant(const Channel& channel) {
    static constexpr int32_t kOne = 1;
    static constexpr uint8_t k31 = 31;
    whole_shift_ = static_cast<uint8_t>(31 + channel.shift);
    Requant r = {};
    r.kind = RequantKind::kInt;
    r.hi = 255;
    r.stage_count = GetParam();
    const bool two = r.stage_count == 2;
    r.stages[0] = {&channel.multiplier, two ? &k31 : &whole_shift_, Round::kHalfUp, INT32_MIN,
                   INT32_MAX};
    r.stages[1] = {&kOne, &channel.shift, Round::kHalfAway, INT32_MIN, INT32_MAX};
    return r;
  }

  // Returns the least accumulator whose output is y.
  static int32_t step(const Requant& r, int32_t y) {
    int64_t below = -1, at = INT32_MAX;
    while (at - below > 1) {
      const int64_t middle = (below + at) / 2;
      (requantize(r, static_cast<int32_t>(middle), 0) < y ? below : at) = middle;
    }
    return static_cast<int32_t>(at);
  }

  // Checks both sides of every step; 53 bits hold the products.
  static void check(const Requant& r, float slope, float intercept) {
    const auto line = [&](int32_t acc) {
      const double v = std::floor(static_cast<double>(acc) * static_cast<double>(slope) +
                                  static_cast<double>(intercept));
      return static_cast<int32_t>(v < 0 ? 0 : v > 255 ? 255 : v);
    };
    for (int32_t y = 1; y <= 255; ++y) {
      const int32_t at = step(r, y);
      ASSERT_EQ(line(at), y) << "multiplier " << r.stages[0].multiplier[0];
      ASSERT_EQ(line(at - 1), y - 1) << "multiplier " << r.stages[0].multiplier[0];
    }
    for (int32_t acc : {INT32_MIN, -(1 << 24), -1, 0, 1 << 24, INT32_MAX})
      ASSERT_EQ(line(acc), requantize(r, acc, 0)) << acc;
  }

  testing::Random random_;
  uint8_t whole_shift_ = 0;
};

TEST_P(RequantAffineTest, EqualsTheDefinitionAtEveryStep) {
  if (is_integer_build()) GTEST_SKIP() << "lines are float";
  int found = 0, tried = 0;
  for (int s = 1; s <= 10; ++s) {
    for (int i = 0; i < 20; ++i) {
      const int32_t odd[] = {1 << 30, (1 << 30) + 1, 3 << 29, INT32_MAX};
      const Channel channel = {
          i < 4 ? odd[i] : static_cast<int32_t>(random_.integer(1 << 30, INT32_MAX)),
          static_cast<uint8_t>(s)};
      const Requant r = requant(channel);
      float slope, intercept;
      ++tried;
      if (!requant_affine(r, 0, &slope, &intercept)) continue;
      ++found;
      ASSERT_NO_FATAL_FAILURE(check(r, slope, intercept));
    }
  }
  EXPECT_GT(found, tried / 2);
}

TEST_P(RequantAffineTest, IsAlwaysFoundForLargeFactors) {
  if (is_integer_build()) GTEST_SKIP() << "lines are float";
  for (int i = 0; i < 500; ++i) {
    const Channel channel = {static_cast<int32_t>(random_.integer(1 << 30, INT32_MAX)),
                             static_cast<uint8_t>(random_.integer(1, 6))};
    float slope, intercept;
    ASSERT_TRUE(requant_affine(requant(channel), 0, &slope, &intercept))
        << channel.multiplier << " shift " << int{channel.shift};
  }
}

// Every instruction set finds fits of many channels at a time: blocks and their tails, dead and
// repeated channels.
TEST_P(RequantAffineTest, FindsFitsOfAllChannels) {
  if (is_integer_build()) GTEST_SKIP() << "lines are float";
  const bool two = GetParam() == 2;
  for (const size_t channels : {size_t{1}, size_t{15}, size_t{16}, size_t{17}, size_t{200}}) {
    std::vector<int32_t> multiplier(channels), one(channels, 1);
    std::vector<uint8_t> shift(channels), whole(channels), k31(channels, 31);
    for (size_t c = 0; c < channels; ++c) {
      const int kind = static_cast<int>(random_.integer(0, 9));
      multiplier[c] = kind == 0   ? 0
                      : kind == 1 ? 1 << 30
                      : kind == 2 ? INT32_MAX
                                  : static_cast<int32_t>(random_.integer(1 << 30, INT32_MAX));
      shift[c] = static_cast<uint8_t>(random_.integer(1, 6));
      if (c > 0 && kind == 3) multiplier[c] = multiplier[c - 1], shift[c] = shift[c - 1];
      whole[c] = static_cast<uint8_t>(31 + shift[c]);
    }
    Requant r = {};
    r.kind = RequantKind::kInt;
    r.hi = 255;
    r.stage_count = GetParam();
    r.stages[0] = {multiplier.data(), two ? k31.data() : whole.data(), Round::kHalfUp, INT32_MIN,
                   INT32_MAX};
    r.stages[1] = {one.data(), shift.data(), Round::kHalfAway, INT32_MIN, INT32_MAX};
    std::vector<float> slope(channels), intercept(channels);
    ASSERT_TRUE(requant_affine_fits(detected_isas(), r, channels, slope.data(), intercept.data()));
    for (size_t c = 0; c < channels; ++c) {
      if (multiplier[c] == 0) {
        EXPECT_EQ(slope[c], 0.0f);
        EXPECT_EQ(intercept[c], 0.0f);
        continue;
      }
      SCOPED_TRACE(c);
      Requant channel = r;
      for (RequantStage& s : channel.stages) s.multiplier += c, s.shift += c;
      ASSERT_NO_FATAL_FAILURE(check(channel, slope[c], intercept[c]));
    }
    r.stages[0].shift = shift.data();  // too small
    EXPECT_FALSE(requant_affine_fits(detected_isas(), r, channels, slope.data(), intercept.data()));
  }
}

// A kernel finds most fits, at any shift, and what it finds fits.
TEST_P(RequantAffineTest, KernelsFindFits) {
  size_t count;
  const AffineKernel* kernels = affine_kernels(&count);
  for (size_t row = 0; row < count; ++row) {
    if (!has(detected_isas(), kernels[row].isa)) continue;
    SCOPED_TRACE(kernels[row].name);
    int found = 0;
    for (int i = 0; i < 60; ++i) {
      AffineBlock block;
      block.extra = GetParam() == 2 ? 1 << 30 : 0;
      std::vector<Channel> channels(kAffineChannels);
      for (size_t c = 0; c < kAffineChannels; ++c) {
        channels[c] = {static_cast<int32_t>(random_.integer(1 << 30, INT32_MAX)),
                       static_cast<uint8_t>(random_.integer(1, 10))};
        block.multiplier[c] = channels[c].multiplier;
        block.shift[c] = 31 + channels[c].shift;
      }
      float slope[kAffineChannels], intercept[kAffineChannels];
      const uint32_t fits = kernels[row].fn(block, slope, intercept);
      for (size_t c = 0; c < kAffineChannels; ++c) {
        if ((fits >> c & 1) == 0) {
          EXPECT_GT(channels[c].shift, 4);
          continue;
        }
        ++found;
        ASSERT_NO_FATAL_FAILURE(check(requant(channels[c]), slope[c], intercept[c]));
      }
    }
    EXPECT_GT(found, 60 * 16 * 3 / 4);
  }
}

TEST_P(RequantAffineTest, RefusesWhatItDoesNotKnow) {
  const Channel channel = {(1 << 30) + 12345, 4};
  float slope, intercept;
  const auto refuses = [&](const auto& change) {
    Requant r = requant(channel);
    change(&r);
    return !requant_affine(r, 0, &slope, &intercept);
  };
  EXPECT_TRUE(refuses([](Requant* r) { r->zero_point = 1; }));
  EXPECT_TRUE(refuses([](Requant* r) { r->lo = 1; }));
  EXPECT_TRUE(refuses([](Requant* r) { r->hi = 254; }));
  EXPECT_TRUE(refuses([](Requant* r) { r->kind = RequantKind::kF32; }));
  EXPECT_TRUE(refuses([](Requant* r) { r->stages[0].round = Round::kHalfEven; }));
  EXPECT_TRUE(refuses([](Requant* r) { r->stages[0].clip_hi = 1000; }));
  const Channel small = {(1 << 30) - 1, 4}, fine = {1 << 30, 11}, coarse = {1 << 30, 0};
  for (const Channel& other : {small, fine, coarse})
    EXPECT_FALSE(requant_affine(requant(other), 0, &slope, &intercept));
}

TEST_P(RequantAffineTest, TakesDeadChannels) {
  if (is_integer_build()) GTEST_SKIP() << "lines are float";
  const Channel dead = {0, 3};
  float slope, intercept;
  ASSERT_TRUE(requant_affine(requant(dead), 0, &slope, &intercept));
  EXPECT_EQ(slope, 0.0f);
  EXPECT_EQ(intercept, 0.0f);
}

INSTANTIATE_TEST_SUITE_P(Stages, RequantAffineTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace qrt::affine_test
