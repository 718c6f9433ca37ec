// shift_in_float(): a power-of-two requantisation in float32 gives the bytes of the shift, for
// every int32 near a step, a tie or a limit.
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
  builder->Finish(fb::Requant::Pack(*builder, &r));
  return make_requant(*flatbuffers::GetRoot<fb::Requant>(builder->GetBufferPointer()), 1);
}

void check(const Case& c) {
  flatbuffers::FlatBufferBuilder builder;
  const RequantParams exact = make(c, &builder);
  RequantParams fast = make(c, &builder);
  shift_in_float(1, &fast);
  if (is_integer_build()) {
    ASSERT_EQ(fast.requant.kind, RequantKind::kInt);
    return;
  }
  ASSERT_EQ(fast.requant.kind, RequantKind::kF32);
  const auto same = [&](int64_t acc) {
    if (acc < INT32_MIN || acc > INT32_MAX) return;
    const auto v = static_cast<int32_t>(acc);
    ASSERT_EQ(requantize(fast.requant, v, 0), requantize(exact.requant, v, 0))
        << v << " >> " << c.shift << " * " << c.multiplier;
  };
  for (int64_t step = -260; step <= 260; ++step)
    for (int64_t half = 0; half <= 1; ++half)
      for (int64_t around = -1; around <= 1; ++around)
        same(((step * 2 + half) << c.shift) / 2 + around);
  Random random;
  for (int i = 0; i < 20000; ++i)
    same(random.integer(INT32_MIN, INT32_MAX) >> random.integer(0, 31));
  for (const int64_t acc : {int64_t{INT32_MIN}, int64_t{INT32_MAX}, int64_t{1} << 24}) {
    same(acc);
    same(acc + 1);
    same(-acc - 1);
  }
}

TEST(ShiftInFloat, EveryShiftThatItTakes) {
  for (int shift = 0; shift <= 15; ++shift) {
    check({shift, 1, 128, 0, 255});
    check({shift, 1, 0, 0, 255});
    check({shift, 1, 128, 128, 255});
    check({shift, 1, 255, 7, 200});
  }
  for (int k : {1, 5, 30}) check({0, 1 << k, 128, 0, 255});
}

TEST(ShiftInFloat, LeavesWhatItCannotDo) {
  for (const Case& c :
       {Case{16}, Case{3, 3}, Case{3, 2}, Case{8, 1, 128, 0, 255, fb::Rounding::HALF_UP}}) {
    flatbuffers::FlatBufferBuilder builder;
    RequantParams params = make(c, &builder);
    shift_in_float(1, &params);
    ASSERT_EQ(params.requant.kind, RequantKind::kInt);
  }
}

}  // namespace
}  // namespace qrt::testing
