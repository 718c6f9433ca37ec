// SPDX-License-Identifier: Apache-2.0
// The products that mul_in_float() accepts, against the definition, over all pairs of bytes.
#include "runtime/ops/mul_in_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random.h"

namespace qrt::mul_in_float_test {
namespace {

class MulInFloatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cheaper_.run == nullptr) GTEST_SKIP() << "no instruction set of this CPU has it";
  }

  // Returns whether it was accepted; if so it is checked.
  bool check(const MulParams& p) {
    ScaledProduct product;
    if (!mul_in_float(p, kernel_, cheaper_, &product)) return false;
    std::vector<uint8_t> row(256), y(256), plain(256);
    for (size_t b = 0; b < 256; ++b) row[b] = static_cast<uint8_t>(b);
    for (int a = 0; a < 256; ++a) {
      const auto byte = static_cast<uint8_t>(a);
      const std::vector<uint8_t> same(256, byte);
      cheaper_.run(product, {&byte, row.data(), true, false, y.data(), 256, 1, 0, 0, 0});
      cheaper_.run(product, {same.data(), row.data(), false, false, plain.data(), 256, 1, 0, 0, 0});
      for (int b = 0; b < 256; ++b) {
        const int32_t ab = (a - p.a_zero_point) * (b - p.b_zero_point);
        const int32_t want = requantize(p.requant, ab, 0);
        EXPECT_EQ(int32_t{y[static_cast<size_t>(b)]}, want) << a << " * " << b;
        EXPECT_EQ(int32_t{plain[static_cast<size_t>(b)]}, want) << a << " * " << b << ", plain";
      }
    }
    return true;
  }

  testing::Random random_;
  const ElementwiseKernel& kernel_ = *select_elementwise(detected_isas());
  const ScaledProductKernel& cheaper_ = *select_scaled_product(detected_isas());
};

TEST_F(MulInFloatTest, IsExactWhereAccepted) {
  SCOPED_TRACE(random_.trace());
  int accepted = 0;
  constexpr int kCases = 80;
  for (int i = 0; i < kCases; ++i) {
    const float scale = random_.real(0.5f, 1.0f) * std::ldexp(1.0f, -(i % 8) - 2);
    MulParams p{static_cast<int32_t>(random_.integer(0, 255)),
                static_cast<int32_t>(random_.integer(0, 255)), Requant{}};
    Requant& r = p.requant;
    r.kind = RequantKind::kF32;
    r.scale = &scale;
    r.zero_point_before = i % 4 != 0;
    r.fused = i % 4 == 1;
    r.offset = r.zero_point_before && random_.coin() ? 128 : 0;
    r.zero_point = static_cast<int32_t>(random_.integer(0, 255)) - r.offset;
    r.round = i % 5 == 4 ? Round::kHalfUp : Round::kHalfEven;
    r.hi = 255;
    if (i % 7 == 6) r.lo = 100, r.hi = 180;
    accepted += check(p);
  }
  EXPECT_GT(accepted, kCases * 3 / 4);
}

TEST_F(MulInFloatTest, IsExactForIntegers) {
  SCOPED_TRACE(random_.trace());
  const int32_t one = 1;
  int accepted = 0;
  constexpr int kCases = 40;
  for (int i = 0; i < kCases; ++i) {
    const auto multiplier = static_cast<int32_t>(random_.integer(1 << 30, INT32_MAX));
    const uint8_t k31 = 31, more = static_cast<uint8_t>(2 + i % 8),
                  single = static_cast<uint8_t>(31 + more);
    MulParams p{static_cast<int32_t>(random_.integer(0, 255)),
                static_cast<int32_t>(random_.integer(0, 255)), Requant{}};
    Requant& r = p.requant;
    r.kind = RequantKind::kInt;
    r.zero_point = static_cast<int32_t>(random_.integer(0, 255));
    r.hi = 255;
    r.stage_count = i % 2 + 1;
    r.stages[0] = {&multiplier, i % 2 == 0 ? &single : &k31, Round::kHalfUp, INT32_MIN, INT32_MAX};
    r.stages[1] = {&one, &more, Round::kHalfAway, INT32_MIN, INT32_MAX};
    accepted += check(p);
  }
  EXPECT_GT(accepted, kCases / 3);  // two roundings are not near one
}

// Products beyond 16 bits, and ties that go up, have no form in float.
TEST_F(MulInFloatTest, Refuses) {
  float scale = 0.75f;
  MulParams p{3, 250, Requant{}};
  p.requant.kind = RequantKind::kF32;
  p.requant.scale = &scale;
  p.requant.round = Round::kHalfUp;
  p.requant.zero_point = 128;
  p.requant.hi = 255;
  ScaledProduct product;
  EXPECT_FALSE(mul_in_float(p, kernel_, cheaper_, &product));
  scale = 0x1p-6f;
  EXPECT_FALSE(mul_in_float(p, kernel_, cheaper_, &product));
}

}  // namespace
}  // namespace qrt::mul_in_float_test
