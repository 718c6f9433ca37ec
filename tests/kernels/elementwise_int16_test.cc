// SPDX-License-Identifier: Apache-2.0
// The int16 operators of every elementwise kernel, and rescaling between types, against their
// formulas in wider integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "tests/support/guarded.h"
#include "tests/support/int_stages.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::elementwise_int16_test {
namespace {

using testing::Guarded;
using testing::IntStages;
using testing::make_stages;
using testing::Random;

class ElementwiseInt16Test : public ::testing::TestWithParam<ElementwiseKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa))
      GTEST_SKIP() << "this CPU lacks " << GetParam().int16_name;
  }
  Random random_;
};

// The sum of AddIntParams from its formula; stages in 128 bits.
TEST_P(ElementwiseInt16Test, AddsAndMultiplies) {
  for (size_t n : std::initializer_list<size_t>{1, 15, 16, 17, 31, 1023, 1024, 1025, 2065}) {
    for (int scalars = 0; scalars < 3; ++scalars) {
      const bool a_scalar = scalars == 1, b_scalar = scalars == 2;
      IntStages sum, a_stage, b_stage;
      make_stages(random_, 0, true, 2, Round::kHalfUp, &sum);
      make_stages(random_, 0, true, 2, Round::kHalfUp, &a_stage);
      make_stages(random_, 0, true, 1, Round::kHalfUp, &b_stage);
      for (IntStages* s : {&sum, &a_stage, &b_stage}) s->shift[0][0] = 31;
      for (IntStages* s : {&a_stage, &b_stage}) {
        s->multiplier[0][0] /= 2;
        s->requant.zero_point = 0;
        s->requant.lo = INT32_MIN, s->requant.hi = INT32_MAX;
      }
      AddIntParams add{};
      add.left_shift = static_cast<int32_t>(random_.integer(0, 16));
      if (add.left_shift < 15)
        add.a_zero_point = static_cast<int32_t>(random_.integer(-1, 1) * 1000);
      add.subtract = random_.coin();
      add.a_stage_count = a_stage.requant.stage_count;
      add.b_stage_count = b_stage.requant.stage_count;
      for (int i = 0; i < kMaxStages; ++i) {
        add.a_stages[i] = a_stage.requant.stages[i];
        add.b_stages[i] = b_stage.requant.stages[i];
      }
      add.requant = sum.requant;
      Guarded<int16_t> a(a_scalar ? 1 : n), b(b_scalar ? 1 : n), y(n);
      random_.fill(a, INT16_MIN, INT16_MAX);
      random_.fill(b, INT16_MIN, INT16_MAX);
      a[0] = INT16_MIN;  // -2^31 with a left shift of 16
      const Int16Args run{a.data(), b.data(), a_scalar, b_scalar, y.data(), n};
      GetParam().add_int16(add, run);
      for (size_t i = 0; i < n; ++i) {
        const int64_t scale = int64_t{1} << add.left_shift;
        const int64_t x = a_stage.apply((a[a_scalar ? 0 : i] - add.a_zero_point) * scale, 0);
        const int64_t z = b_stage.apply(b[b_scalar ? 0 : i] * scale, 0);
        ASSERT_EQ(y[i], sum.apply(add.subtract ? x - z : x + z, 0)) << "n " << n << " i " << i;
      }
      const MulParams mul{3, -2, sum.requant};
      GetParam().mul_int16(mul, run);
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(y[i], sum.apply(int64_t{a[a_scalar ? 0 : i] - 3} * (b[b_scalar ? 0 : i] + 2), 0));
    }
  }
}

template <class From, class To>
void check_rescale(const ElementwiseKernel& kernel, Random& random, DType from, DType to) {
  for (size_t n : std::initializer_list<size_t>{1, 16, 17, 1024, 1025, 2049}) {
    for (int form = 0; form < 4; ++form) {
      const bool is_int32 = from == DType::kInt32;
      const bool slopes_fit = !is_int32 && form == 3;
      IntStages positive, negative;
      make_stages(random, 0, true, 2, Round::kHalfUp, &positive);
      make_stages(random, 0, true, 1, Round::kHalfEven, &negative);
      negative.shift[0][0] = 40;
      negative.requant.zero_point = 0;
      negative.requant.lo = INT32_MIN, negative.requant.hi = INT32_MAX;
      Requant& r = positive.requant;
      r.lo = to == DType::kUInt8 ? 3 : to == DType::kInt16 ? -30000 : INT32_MIN;
      r.hi = to == DType::kUInt8 ? 250 : to == DType::kInt16 ? INT16_MAX : INT32_MAX;
      std::vector<int16_t> slopes = {3, -128, 127, 0, -1};
      RescaleParams p{};
      p.bound = is_int32 ? int64_t{1} << 31 : 65535;
      p.zero_point = is_int32 ? 0 : 7;
      p.requant = r;
      p.has_negative = form > 0;
      p.negate_negative = form == 2;
      p.negative_count = form > 0 ? 1 : 0;
      p.negative[0] = negative.requant.stages[0];
      p.slopes = slopes_fit ? slopes.data() : nullptr;
      Guarded<From> x(n);
      Guarded<To> y(n);
      random.fill(x, std::numeric_limits<From>::min(), std::numeric_limits<From>::max());
      RescaleArgs run{from, to, x.data(), y.data(), n, 2, slopes.size()};
      kernel.rescale(p, run);
      for (size_t i = 0; i < n; ++i) {
        const int64_t v = int64_t{x[i]} - p.zero_point;
        int64_t expected;
        if (v >= 0 || form == 0) {
          expected = positive.apply(v, 0);
        } else {
          expected = negative.apply(p.slopes ? v * slopes[(2 + i) % 5] : v, 0);
          if (form == 2) expected = -expected;
          expected = std::clamp<int64_t>(expected + r.zero_point, r.lo, r.hi);
        }
        ASSERT_EQ(y[i], expected) << "x " << int64_t{x[i]} << " form " << form << " n " << n;
      }
    }
  }
}

TEST_P(ElementwiseInt16Test, RescalesBetweenAllTypes) {
  const auto from = [&](auto x, DType element) {
    using From = decltype(x);
    check_rescale<From, uint8_t>(GetParam(), random_, element, DType::kUInt8);
    check_rescale<From, int16_t>(GetParam(), random_, element, DType::kInt16);
    check_rescale<From, int32_t>(GetParam(), random_, element, DType::kInt32);
  };
  from(uint8_t{}, DType::kUInt8);
  from(int16_t{}, DType::kInt16);
  from(int32_t{}, DType::kInt32);
}

INSTANTIATE_TEST_SUITE_P(Kernels, ElementwiseInt16Test,
                         ::testing::ValuesIn(testing::all_rows(elementwise_kernels)),
                         [](const auto& info) { return std::string(info.param.int16_name); });

}  // namespace
}  // namespace qrt::elementwise_int16_test
