// SPDX-License-Identifier: Apache-2.0
// The sums that add_in_float() accepts, against the definition of the integer add, over all pairs of bytes.
#include "runtime/ops/add_in_float.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/integer_build.h"
#include "tests/support/random.h"

namespace qrt::add_in_float_test {
namespace {

// TFLite's add of two scales: each term by its share of twice the larger one, then the sum.
struct TfliteAdd {
  TfliteAdd(double a_scale, double b_scale, double y_scale, int32_t a_zero, int32_t b_zero,
            int32_t y_zero) {
    const double twice = 2 * std::max(a_scale, b_scale);
    p.a_zero_point = a_zero;
    p.b_zero_point = b_zero;
    p.left_shift = 20;
    p.a_stage_count = p.b_stage_count = 2;
    set(a_scale / twice, 0, p.a_stages);
    set(b_scale / twice, 1, p.b_stages);
    p.requant.kind = RequantKind::kInt;
    p.requant.zero_point = y_zero;
    p.requant.hi = 255;
    p.requant.stage_count = 2;
    set(twice / std::ldexp(y_scale, 20), 2, p.requant.stages);
  }
  TfliteAdd(const TfliteAdd&) = delete;

  void set(double factor, int i, RequantStage* stages) {
    int exponent;
    multiplier[i] = static_cast<int32_t>(std::lround(std::frexp(factor, &exponent) * 0x1p31 - 1));
    shift[i] = static_cast<uint8_t>(-exponent);
    stages[0] = {&multiplier[i], &k31, Round::kHalfUp, INT32_MIN, INT32_MAX};
    stages[1] = {&kOne, &shift[i], Round::kHalfAway, INT32_MIN, INT32_MAX};
  }

  static constexpr int32_t kOne = 1;
  static constexpr uint8_t k31 = 31;
  AddIntParams p = {};
  int32_t multiplier[3];
  uint8_t shift[3];
};

// Returns whether it was accepted; if so it is checked.
bool check(const AddIntParams& p, const ElementwiseKernel& kernel) {
  AddParams add;
  if (!add_in_float(p, kernel, &add)) return false;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const auto x = static_cast<uint8_t>(a), y = static_cast<uint8_t>(b);
      EXPECT_EQ(add_f32(add, x, y), add_int(p, a, b)) << a << " + " << b;
    }
  }
  return true;
}

class AddInFloatTest : public ::testing::Test {
 protected:
  testing::Random random_;
  const ElementwiseKernel& kernel_ = *select_elementwise(detected_isas());
};

TEST_F(AddInFloatTest, IsExactWhereAccepted) {
  int accepted = 0;
  constexpr int kCases = 60;
  for (int i = 0; i < kCases; ++i) {
    const auto zero = [&] { return static_cast<int32_t>(random_.integer(0, 255)); };
    const TfliteAdd add(random_.real(0.01f, 0.2f), random_.real(0.01f, 0.2f),
                        random_.real(0.02f, 0.3f), zero(), zero(), zero());
    AddIntParams p = add.p;
    p.subtract = i % 3 == 2;
    if (i % 4 == 3) p.requant.lo = p.requant.zero_point;
    accepted += check(p, kernel_);
  }
  EXPECT_GT(accepted, is_integer_build() ? -1 : kCases / 3);
}

// Sums of which half are ties, which go away from zero, have no form in float: no float addition
// rounds so on both sides.
TEST_F(AddInFloatTest, RefusesTies) {
  const TfliteAdd add(0.1, 0.1, 0.2, 100, 90, 120);
  AddParams in_float;
  EXPECT_FALSE(add_in_float(add.p, kernel_, &in_float));
}

TEST_F(AddInFloatTest, RefusesOtherRoundings) {
  TfliteAdd add(0.0731, 0.0517, 0.093, 100, 90, 120);
  add.p.requant.stages[1].round = Round::kFloor;
  AddParams in_float;
  EXPECT_FALSE(add_in_float(add.p, kernel_, &in_float));
}

}  // namespace
}  // namespace qrt::add_in_float_test
