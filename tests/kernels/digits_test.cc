// SPDX-License-Identifier: Apache-2.0
// Every row of digits.h against its formula: all tails, both kinds of accumulators, extremes, ties,
// and memory that ends at a guard page.
#include "kernels/gemm/digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/int_stages.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/random.h"

namespace qrt::digits_test {
namespace {

using testing::Guarded;
using testing::IntStages;
using testing::make_stages;
using testing::Random;
using testing::rounded;

class DigitsTest : public ::testing::TestWithParam<DigitsKernel> {
 protected:
  void SetUp() override {
    if (!has(detected_isas(), GetParam().isa)) GTEST_SKIP() << "this CPU lacks " << GetParam().name;
  }
  Random random_;
};

TEST_P(DigitsTest, SplitsEveryValueIntoBytes) {
  for (size_t n :
       std::initializer_list<size_t>{1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 129, 65536}) {
    Guarded<int16_t> x(n);
    Guarded<uint8_t> high(n), low(n);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<int16_t>(i * 257 + (n == 65536 ? i : 0));
    GetParam().split(x.data(), n, high.data(), low.data());
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(256 * high[i] + low[i] - 32768, x[i]);
    }
  }
}

TEST_P(DigitsTest, CombinesPlanesExactly) {
  for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
    for (int count : {1, 2}) {
      for (bool is_narrow : {false, true}) {
        for (size_t n : std::initializer_list<size_t>{1, 3, 7, 8, 9, 15, 16, 17, 33}) {
          const size_t rows = 3, channel = 16, stride = n + 2, y_stride = n + 5;
          const size_t digits = static_cast<size_t>(random_.integer(1, kMaxWeightDigits));
          const size_t digit_stride = rows * stride + 3;
          IntStages s;
          make_stages(random_, channel + n, is_narrow, count, round, &s);
          Guarded<int32_t> high((digits - 1) * digit_stride + rows * stride), low(high.size());
          Guarded<int64_t> bias(channel + n);
          Guarded<int16_t> y((rows - 1) * y_stride + n);
          const int unused_bits = digits > 1 ? 8 : 0;  // accumulators as large as of one digit
          random_.fill(high, INT32_MIN >> unused_bits, INT32_MAX >> unused_bits);
          random_.fill(low, INT32_MIN >> unused_bits, INT32_MAX >> unused_bits);
          random_.fill(bias, -(int64_t{1} << 45), int64_t{1} << 45);
          // Ties of the first stage.
          for (size_t j = 0; j < n; ++j) bias[channel + j] -= random_.integer(0, 2);
          CombineArgs args{};
          args.high = random_.integer(0, 3) == 0 ? nullptr : high.data();
          args.low = low.data();
          args.digits = digits;
          args.digit_stride = digit_stride;
          args.rows = rows;
          args.n = n;
          args.stride = stride;
          args.channel = channel;
          args.bias = bias.data();
          args.is_narrow = is_narrow;
          args.requant = s.requant;
          args.y = y.data();
          args.y_stride = y_stride;
          GetParam().combine(args);
          std::vector<int32_t> accumulators((rows - 1) * y_stride + n);
          combine_accumulators(args, accumulators.data());
          for (size_t i = 0; i < rows; ++i) {
            for (size_t j = 0; j < n; ++j) {
              int64_t acc = bias[channel + j];
              for (size_t d = 0; d < digits; ++d) {
                const size_t at = d * digit_stride + i * stride + j;
                acc += (int64_t{low[at]} + (args.high ? int64_t{256} * high[at] : 0)) *
                       (d > 0 ? 256 : 1);
              }
              ASSERT_EQ(accumulators[i * y_stride + j], static_cast<int32_t>(acc));
              if (is_narrow) acc = static_cast<int32_t>(static_cast<uint32_t>(acc));
              ASSERT_EQ(y[i * y_stride + j], s.apply(acc, channel + j))
                  << "acc " << acc << " n " << n << " stages " << count << " narrow " << is_narrow
                  << " " << random_.trace();
            }
            for (size_t j = n; i + 1 < rows && j < y_stride; ++j)
              ASSERT_EQ(y[i * y_stride + j], static_cast<int16_t>(0xA5A5)) << "wrote past row";
          }
        }
      }
    }
  }
}

// Ties are rounded as the rounding's name says: accumulators on both sides of a tie, multiplier 1, shift s.
TEST_P(DigitsTest, RoundsTiesAsNamed) {
  for (Round round : {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor}) {
    for (int shift : {0, 1, 5, 15, 31, 46}) {
      const std::vector<int32_t> one(80, 1);
      const std::vector<uint8_t> shifts(80, static_cast<uint8_t>(shift));
      std::vector<int64_t> bias;
      for (int64_t y = -4; y <= 4; ++y)
        for (int64_t d = -1; d <= 1; ++d)
          bias.push_back(y * (int64_t{1} << shift) + (shift > 0 ? int64_t{1} << (shift - 1) : 0) +
                         d);
      const size_t n = bias.size();
      const std::vector<int32_t> low(n);
      std::vector<int16_t> y(n);
      CombineArgs args{};
      args.low = low.data();
      args.rows = 1;
      args.n = args.stride = args.y_stride = n;
      args.bias = bias.data();
      args.requant.kind = RequantKind::kInt;
      args.requant.lo = INT16_MIN;
      args.requant.hi = INT16_MAX;
      args.requant.stage_count = 1;
      args.requant.stages[0] = {one.data(), shifts.data(), round, INT32_MIN, INT32_MAX};
      args.y = y.data();
      GetParam().combine(args);
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(y[i], rounded(bias[i], shift, round)) << bias[i] << " >> " << shift;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, DigitsTest,
                         ::testing::ValuesIn(testing::all_rows(digits_kernels)),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::digits_test
