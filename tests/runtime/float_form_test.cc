// SPDX-License-Identifier: Apache-2.0
// find_float_form(): integer requantisations in float32 give the same bytes, for every int32 near a
// step, a tie or a limit.
#include <gtest/gtest.h>

#include "kernels/integer_build.h"
#include "runtime/float_forms.h"
#include "tests/support/random.h"

namespace qrt::testing::float_form_test {
namespace {

struct Case {
  int shift = 0;
  int multiplier = 1;
  int zero_point = 128, lo = 0, hi = 255;
  fb::Rounding rounding = fb::Rounding::HALF_EVEN;
  int clip_lo = INT32_MIN, clip_hi = INT32_MAX;
};

RequantParams make(const Case& c, flatbuffers::FlatBufferBuilder* builder) {
  fb::RequantT r;
  r.kind = fb::RequantKind::INT;
  r.zero_point = c.zero_point;
  r.lo = c.lo;
  r.hi = c.hi;
  r.stages.push_back(std::make_unique<fb::RequantStageT>());
  r.stages[0]->multiplier = {c.multiplier};
  r.stages[0]->shift = {static_cast<uint8_t>(c.shift)};
  r.stages[0]->rounding = c.rounding;
  r.stages[0]->clip_lo = c.clip_lo;
  r.stages[0]->clip_hi = c.clip_hi;
  builder->Finish(fb::Requant::Pack(*builder, &r));
  return make_requant(*flatbuffers::GetRoot<fb::Requant>(builder->GetBufferPointer()), 1);
}

// Calls same(sum) for sums around the ties of all codes, and for random sums.
template <class F>
void around_ties(const Case& c, const F& same) {
  for (int64_t step = -260; step <= 260; ++step)
    for (int64_t half = 0; half <= 1; ++half)
      for (int64_t around = -2; around <= 2; ++around)
        same((step * 2 + half) * (int64_t{1} << c.shift) / 2 / c.multiplier + around);
  Random random;
  for (int i = 0; i < 2000; ++i)
    same(random.integer(INT32_MIN, INT32_MAX) >> random.integer(0, 31));
}

// Returns whether the requantisation became RQ_F32, and expects equal bytes either way.
bool check(const Case& c) {
  flatbuffers::FlatBufferBuilder builder, other;
  const RequantParams exact = make(c, &builder);
  RequantParams fast = make(c, &other);
  find_float_form(1, &fast);
  const auto same = [&](int64_t acc) {
    if (acc < INT32_MIN || acc > INT32_MAX) return;
    const auto v = static_cast<int32_t>(acc);
    EXPECT_EQ(requantize(fast.requant, v, 0), requantize(exact.requant, v, 0))
        << v << " >> " << c.shift << " * " << c.multiplier;
  };
  around_ties(c, same);
  for (const int64_t acc : {int64_t{INT32_MIN}, int64_t{INT32_MAX}, int64_t{1} << 24}) {
    same(acc);
    same(acc + 1);
    same(-acc - 1);
  }
  return fast.requant.kind == RequantKind::kF32;
}

void expect_float(const Case& c) {
  EXPECT_EQ(check(c), !is_integer_build()) << c.shift << " * " << c.multiplier;
}

TEST(FloatForm, EveryShiftHalfToEven) {
  for (int shift = 0; shift <= 15; ++shift) {
    expect_float({shift, 1, 128, 0, 255});
    expect_float({shift, 1, 0, 0, 255});
    expect_float({shift, 1, 128, 128, 255});
    expect_float({shift, 1, 255, 7, 200});
  }
  for (int k : {1, 5, 30}) expect_float({0, 1 << k, 128, 0, 255});
}

// A shift half up becomes float behind a Relu only: ties below 0 go the other way.
TEST(FloatForm, ShiftsHalfUpBehindARelu) {
  for (int shift = 1; shift <= 14; ++shift) {
    expect_float({shift, 1, 128, 128, 255, fb::Rounding::HALF_UP});
    expect_float({shift, 1, 128, 0, 255, fb::Rounding::HALF_UP, 0, 127});
    EXPECT_FALSE(check({shift, 1, 128, 0, 255, fb::Rounding::HALF_UP}));
  }
}

// Checks that the zero point moved into the sums' bias gives the same bytes, also at ties below 0.
// Returns whether it could be moved.
bool check_moved(const Case& c, int32_t bias, size_t terms) {
  flatbuffers::FlatBufferBuilder builder, other;
  const RequantParams exact = make(c, &builder);
  RequantParams fast = make(c, &other);
  PlanVector<int32_t> biases = {bias};
  const Sums sums = {&biases, terms};
  find_float_form(1, &fast, &sums);
  const int64_t addend = int64_t{biases[0]} - bias;
  const int64_t reach = static_cast<int64_t>(terms) * 255 * 128;
  const auto same = [&](int64_t acc) {  // for sums that can occur
    if (acc < bias - reach || acc > bias + reach) return;
    EXPECT_LE(acc + addend, INT32_MAX);
    EXPECT_EQ(requantize(fast.requant, static_cast<int32_t>(acc + addend), 0),
              requantize(exact.requant, static_cast<int32_t>(acc), 0))
        << acc << " >> " << c.shift << " * " << c.multiplier;
  };
  around_ties(c, same);
  for (const int64_t edge : {bias - reach, bias + reach})
    for (int64_t around = -2; around <= 2; ++around) same(edge + around);
  return fast.requant.kind == RequantKind::kF32 && addend != 0;
}

TEST(FloatForm, ShiftsHalfUpWithTheZeroPointInTheBias) {
  const fb::Rounding up = fb::Rounding::HALF_UP;
  for (int shift = 1; shift <= 14; ++shift)
    for (const Case& c : {Case{shift, 1, 128, 0, 255, up}, Case{shift, 1, 255, 0, 255, up},
                          Case{shift, 1, 128, 7, 200, up}, Case{shift, 1, 3, 0, 255, up},
                          Case{shift, 1, 128, 0, 255, up, -100, 90}})
      EXPECT_EQ(check_moved(c, 12345, 65000), !is_integer_build()) << shift;
  // Left shifts and other multipliers work where the zero point is a whole number of sums.
  EXPECT_FALSE(check_moved({0, 4, 128, 0, 255, up}, 0, 9));  // without: nothing is rounded
  EXPECT_EQ(check_moved({5, 4, 128, 0, 255, up}, 7, 9), !is_integer_build());
  EXPECT_FALSE(check_moved({3, 5, 128, 0, 255, up}, 7, 9));
}

// Zero points move into the bias only where sums stay within int32 and a scale serves them.
TEST(FloatForm, ZeroPointsMoveOnlyWithinInt32) {
  const fb::Rounding up = fb::Rounding::HALF_UP;
  const Case c = {10, 1, 128, 0, 255, up};
  const size_t terms = 60000;  // so many that sums have ties on both sides of 0
  const int32_t reach = terms * 255 * 128, room = INT32_MAX - 128 * 1024 - reach;
  EXPECT_EQ(check_moved(c, room, terms), !is_integer_build());
  EXPECT_FALSE(check_moved(c, room + 1, terms));
  EXPECT_EQ(check_moved(c, INT32_MIN + reach, terms), !is_integer_build());
  EXPECT_FALSE(check_moved(c, INT32_MIN + reach - 1, terms));
  EXPECT_FALSE(check_moved(c, 0, size_t{1} << 16));
  EXPECT_FALSE(check_moved({22, 1, 128, 0, 255, up}, 0, 9));
}

// Small factors, as of dead channels, have a scale for their possible sums, if not for all of
// int32: for sums that stay where float32 is exact, or below the first tie.
TEST(FloatForm, SmallFactorsForTheSumsThereCanBe) {
  const auto check_within = [](const Case& c, int32_t bias, size_t terms) {
    flatbuffers::FlatBufferBuilder builder, other;
    const RequantParams exact = make(c, &builder);
    RequantParams fast = make(c, &other);
    PlanVector<int32_t> biases = {bias};
    const Sums sums = {&biases, terms};
    find_float_form(1, &fast, &sums);
    EXPECT_EQ(biases[0], bias);
    const int64_t reach = static_cast<int64_t>(terms) * 255 * 128;
    const auto same = [&](int64_t acc) {
      if (acc < bias - reach || acc > bias + reach) return;
      const auto v = static_cast<int32_t>(acc);
      EXPECT_EQ(requantize(fast.requant, v, 0), requantize(exact.requant, v, 0))
          << v << " >> " << c.shift;
    };
    around_ties(c, same);
    for (const int64_t edge : {bias - reach, bias + reach})
      for (int64_t around = -2; around <= 2; ++around) same(edge + around);
    return fast.requant.kind == RequantKind::kF32;
  };
  for (int shift = 19; shift <= 30; ++shift) {
    const Case c = {shift, 1, 128, 0, 255};
    EXPECT_FALSE(check(c)) << shift;
    EXPECT_EQ(check_within(c, 0, 9), !is_integer_build()) << shift;
    EXPECT_EQ(check_within(c, -70000, 27), !is_integer_build()) << shift;
    EXPECT_EQ(check_within(c, 12345, 513), !is_integer_build()) << shift;
  }
  EXPECT_EQ(check_within({28, 1, 128, 0, 255}, 0, 4000), !is_integer_build());  // no tie is reached
  EXPECT_FALSE(check_within({24, 1, 128, 0, 255}, 0, 4000));
  EXPECT_FALSE(check_within({24, 1, 128, 0, 255}, INT32_MAX - 5, 9));  // sums overflow int32
}

// A requantisation that becomes float is the same function with all roundings and limits.
TEST(FloatForm, RandomMultipliers) {
  Random random;
  SCOPED_TRACE(random.trace());
  int found = 0;
  for (int i = 0; i < 600; ++i) {
    Case c;
    c.multiplier = static_cast<int>(random.integer(1, 1 << random.integer(1, 25)));
    c.shift = static_cast<int>(random.integer(0, 40));
    c.zero_point = static_cast<int>(random.integer(0, 255));
    c.lo = static_cast<int>(random.integer(0, 255));
    c.hi = static_cast<int>(random.integer(c.lo, 255));
    c.rounding = static_cast<fb::Rounding>(random.integer(0, 3));
    if (random.coin()) c.clip_lo = static_cast<int>(random.integer(-300, 10));
    if (random.coin())
      c.clip_hi = static_cast<int>(random.integer(c.clip_lo < 10 ? 10 : c.clip_lo, 400));
    found += check(c);
    if (HasFailure()) return;
  }
  if (!is_integer_build()) {
    EXPECT_GT(found, 100);
  }
}

// Most products of MRT, with multipliers of 16 bits, half up, become float.
TEST(FloatForm, MostProductsOfMrt) {
  Random random;
  SCOPED_TRACE(random.trace());
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    const int m = static_cast<int>(random.integer(1 << 13, (1 << 15) - 1)) | 1;
    found += check({22, m, 128, 1, 255, fb::Rounding::HALF_UP});
  }
  if (!is_integer_build()) {
    EXPECT_GT(found, 180);
  }
}

TEST(FloatForm, LeavesWhatItCannotDo) {
  EXPECT_FALSE(check({3, (1 << 24) + 1}));
  EXPECT_FALSE(check({22, 1, 128, 0, 255, fb::Rounding::HALF_UP}));
  EXPECT_FALSE(check({50, 3}));
}

}  // namespace
}  // namespace qrt::testing::float_form_test
