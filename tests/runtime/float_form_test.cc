// find_float_form(): integer requantisations in float32 give the same bytes, for every int32 near a
// step, a tie or a limit.
#include <gtest/gtest.h>

#include "kernels/integer_build.h"
#include "runtime/requant_params.h"
#include "tests/support/random.h"

namespace qrt::testing {
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

// Whether it became RQ_F32; the same bytes either way.
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
  for (int64_t step = -260; step <= 260; ++step)
    for (int64_t half = 0; half <= 1; ++half)
      for (int64_t around = -2; around <= 2; ++around)
        same((step * 2 + half) * (int64_t{1} << c.shift) / 2 / c.multiplier + around);
  Random random;
  for (int i = 0; i < 2000; ++i)
    same(random.integer(INT32_MIN, INT32_MAX) >> random.integer(0, 31));
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

// Ties below 0 go the other way, so only without values below 0.
TEST(FloatForm, ShiftsHalfUpBehindARelu) {
  for (int shift = 1; shift <= 14; ++shift) {
    expect_float({shift, 1, 128, 128, 255, fb::Rounding::HALF_UP});
    expect_float({shift, 1, 128, 0, 255, fb::Rounding::HALF_UP, 0, 127});
    EXPECT_FALSE(check({shift, 1, 128, 0, 255, fb::Rounding::HALF_UP}));
  }
}

// Whatever the rounding and the limits, what becomes float is the same function.
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

// The products of MRT: 16 bits of multiplier, half up.
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
}  // namespace qrt::testing
