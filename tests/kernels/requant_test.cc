// SPDX-License-Identifier: Apache-2.0
// The normative requantisation: its binary32 in integers against the hardware's, and its formulas
// at every tie, output step and limit against independent ones.
#include "kernels/requant.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#ifdef __wasi__
#include "kernels/float_fallback/fused.h"
#endif
#include "tests/support/random.h"

namespace qrt::requant_test {
namespace {

using testing::Random;

static_assert(FLT_EVAL_METHOD == 0, "the oracle needs binary32 evaluation");

// Numbers tried: an emulator computes floats in software, the oracle's as ours.
#ifdef QRT_TEST_EMULATED
constexpr int kFewer = 10;
#else
constexpr int kFewer = 1;
#endif

uint32_t bits(float f) { return soft::bits_of(f); }

float real(uint32_t b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}

// Returns the bits of f, with a single zero as the soft form has.
uint32_t canonical(float f) { return f == 0 ? 0 : bits(f); }

// Returns a * b + c with one rounding, by other means than the soft form's.
float fused_reference(float a, float b, float c) {
#ifdef __wasi__
  // wasi-libc's fmaf needs rounding modes, which WebAssembly lacks: it is wrong near ties.
  return fused(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

// Numbers where rounding changes: random significands, all-ones, single bits, and near each other.
float interesting(Random& random, int lo_exponent, int hi_exponent) {
  uint32_t m = static_cast<uint32_t>(random.integer(0, 0x7fffff));
  switch (random.integer(0, 4)) {
    case 0: m = 0; break;
    case 1: m = 0x7fffff; break;
    case 2: m = 1u << random.integer(0, 22); break;
    case 3: m &= 0x7ff000; break;
    default: break;
  }
  const uint32_t e = static_cast<uint32_t>(random.integer(lo_exponent, hi_exponent) + 127);
  return real((random.coin() ? 0x80000000u : 0) | e << 23 | m);
}

TEST(SoftFloatTest, ConvertsEveryKindOfIntegerAsTheHardware) {
  Random random;
  std::vector<int64_t> values = {0, 1, -1, INT32_MAX, INT32_MIN};
  for (int s = 0; s < 31; ++s) {
    for (int64_t d = -3; d <= 3; ++d) {
      values.push_back((int64_t{1} << s) + d);
      values.push_back(-(int64_t{1} << s) + d);
    }
  }
  for (int64_t v = (1 << 24) - 300; v < (1 << 24) + 300; ++v) values.push_back(v);
  for (int64_t v = (1 << 25) - 300; v < (1 << 25) + 300; ++v) values.push_back(-v);
  for (int i = 0; i < 200000 / kFewer; ++i) values.push_back(random.integer(INT32_MIN, INT32_MAX));
  for (int64_t v : values) {
    ASSERT_EQ(soft::from_int(v), bits(static_cast<float>(static_cast<int32_t>(v)))) << v;
  }
}

TEST(SoftFloatTest, MultipliesAsTheHardware) {
  Random random;
  for (int i = 0; i < 2000000 / kFewer; ++i) {
    const bool wide = i % 4 == 0;
    const float a = interesting(random, wide ? -126 : -20, wide ? 127 : 31);
    const float b = interesting(random, wide ? -126 : -32, wide ? 127 : 8);
    ASSERT_EQ(soft::mul(bits(a), bits(b)), canonical(a * b))
        << a << " * " << b << " " << random.trace();
  }
}

TEST(SoftFloatTest, AddsAsTheHardware) {
  Random random;
  for (int i = 0; i < 1000000 / kFewer; ++i) {
    const float a = interesting(random, -40, 40);
    float b = interesting(random, -40, 40);
    if (i % 3 == 0) b = -a + interesting(random, -60, -20);
    ASSERT_EQ(soft::add(bits(a), bits(b)), canonical(a + b)) << a << " + " << b;
  }
}

TEST(SoftFloatTest, FusesMultiplyAndAddAsTheHardware) {
  Random random;
  for (int i = 0; i < 2000000 / kFewer; ++i) {
    const bool wide = i % 4 == 0;
    const float a = interesting(random, wide ? -126 : -10, wide ? 127 : 16);
    const float b = interesting(random, wide ? -126 : -20, wide ? 127 : 8);
    float c = interesting(random, wide ? -126 : -30, wide ? 127 : 20);
    // Near cancellation, where a second rounding would show.
    if (i % 3 == 0 && std::isnormal(a * b)) c = -(a * b);
    if (!std::isfinite(c)) continue;
    ASSERT_EQ(soft::fma(bits(a), bits(b), bits(c)), canonical(fused_reference(a, b, c)))
        << a << " * " << b << " + " << c << " " << random.trace();
  }
}

TEST(SoftFloatTest, FusesOperandsOfAnyDistance) {
  Random random;
  for (int distance = -200; distance <= 200; ++distance) {
    for (int i = 0; i < 200; ++i) {
      const int e = static_cast<int>(random.integer(-20, 20));
      if (e + distance < -126 || e + distance > 120) continue;
      const float a = interesting(random, e, e), b = interesting(random, 0, 0);
      const float c = interesting(random, e + distance, e + distance);
      ASSERT_EQ(soft::fma(bits(a), bits(b), bits(c)), canonical(fused_reference(a, b, c)))
          << a << " * " << b << " + " << c;
    }
  }
}

TEST(SoftFloatTest, KeepsSubnormalsAndOverflowsToInfinity) {
  const float tiny = FLT_MIN, big = FLT_MAX;
  ASSERT_EQ(soft::mul(bits(tiny), bits(0.5f)), bits(tiny * 0.5f));
  ASSERT_EQ(soft::mul(bits(tiny), bits(1.1920929e-7f)), bits(tiny * 1.1920929e-7f));
  ASSERT_EQ(soft::mul(bits(tiny), bits(5.9604645e-8f)), canonical(tiny * 5.9604645e-8f));
  ASSERT_EQ(soft::mul(bits(tiny), bits(tiny)), 0u);
  ASSERT_EQ(soft::mul(bits(big), bits(2.0f)), soft::kInfinity);
  ASSERT_EQ(soft::mul(bits(-big), bits(2.0f)), soft::kInfinity | 0x80000000u);
  ASSERT_EQ(soft::add(bits(big), bits(big)), soft::kInfinity);
}

TEST(SoftFloatTest, ConvertsToIntegersAsTheHardware) {
  ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  Random random;
  for (int i = 0; i < 1000000 / kFewer; ++i) {
    const float f = interesting(random, -30, 30);
    ASSERT_EQ(soft::to_int(bits(f)), static_cast<int64_t>(std::nearbyint(f))) << f;
    ASSERT_EQ(soft::to_int(bits(f), true), static_cast<int64_t>(std::floor(double{f} + 0.5))) << f;
  }
  for (int i = -2000; i <= 2000; ++i) {  // every half
    const float f = static_cast<float>(i) / 2;
    ASSERT_EQ(soft::to_int(bits(f)), static_cast<int64_t>(std::nearbyint(f)));
    ASSERT_EQ(soft::to_int(bits(f), true), static_cast<int64_t>(std::floor(f + 0.5f)));
    for (float near : {std::nextafter(f, 1e9f), std::nextafter(f, -1e9f)}) {
      ASSERT_EQ(soft::to_int(bits(near)), static_cast<int64_t>(std::nearbyint(near)));
      ASSERT_EQ(soft::to_int(bits(near), true),
                static_cast<int64_t>(std::floor(double{near} + 0.5)));
    }
  }
  ASSERT_EQ(soft::to_int(soft::kInfinity), int64_t{1} << 40);
  ASSERT_EQ(soft::to_int(soft::kInfinity | 0x80000000u), -(int64_t{1} << 40));
  ASSERT_EQ(soft::to_int(bits(FLT_MAX)), int64_t{1} << 40);
  ASSERT_EQ(soft::to_int(bits(FLT_MIN)), 0);
}

TEST(RoundingShiftTest, EqualsTheDefinitionOfEachRounding) {
  Random random;
  for (int s = 0; s <= 62; ++s) {
    const int64_t one = int64_t{1} << s;
    std::vector<int64_t> values;
    for (int64_t q = -5; q <= 5; ++q) {
      if (s > 58) continue;
      for (int64_t r : {int64_t{0}, int64_t{1}, one / 2 - 1, one / 2, one / 2 + 1, one - 1})
        values.push_back(q * one + r);
    }
    for (int i = 0; i < 200; ++i)
      values.push_back(random.integer(-(int64_t{1} << 61), int64_t{1} << 61));
    for (int64_t v : values) {
      const int64_t floor = v >> s, rest = v - floor * one, twice = 2 * rest;
      const int64_t low = static_cast<int64_t>(floor);
      const int64_t up = low + (twice >= one), tie = twice == one;
      const int64_t even = tie ? low + (low & 1) : up, away = tie ? low + (v > 0) : up;
      ASSERT_EQ(rounding_shift(v, s, Round::kFloor), low);
      ASSERT_EQ(rounding_shift(v, s, Round::kHalfUp), up);
      ASSERT_EQ(rounding_shift(v, s, Round::kHalfEven), even) << v << " >> " << s;
      ASSERT_EQ(rounding_shift(v, s, Round::kHalfAway), away) << v << " >> " << s;
    }
  }
}

// Returns RQ_F32 in hardware floats, as the formula is written: y = zp + HE(clamp(fl32(f(acc) * S))).
int32_t requantize_hardware(const Requant& r, int32_t acc) {
  float v = static_cast<float>(acc) * r.scale[0];
  if (!r.zero_point_before) {
    const float lo = static_cast<float>(r.lo - r.zero_point);
    const float hi = static_cast<float>(r.hi - r.zero_point);
    v = v < lo ? lo : v > hi ? hi : v;
    const double rounded = r.round == Round::kHalfUp ? std::floor(double{v} + 0.5)
                                                     : static_cast<double>(std::nearbyint(v));
    return static_cast<int32_t>(rounded) + r.zero_point;
  }
  const float zp = static_cast<float>(r.zero_point);
  v = r.fused ? std::fma(static_cast<float>(acc), r.scale[0], zp) : v + zp;
  double rounded = r.round == Round::kHalfUp ? std::floor(double{v} + 0.5)
                                             : static_cast<double>(std::nearbyint(v));
  rounded += r.offset;
  return rounded < r.lo ? r.lo : rounded > r.hi ? r.hi : static_cast<int32_t>(rounded);
}

// Accumulators around every output step of `scale`, and the special ones.
std::vector<int32_t> adversarial(float scale, int zero_point) {
  std::vector<int32_t> values = {0, 1, -1, INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1};
  for (int d = -2; d <= 2; ++d) {
    values.push_back((1 << 24) + d);
    values.push_back(-(1 << 24) + d);
  }
  for (int y = -2; y <= 257; ++y) {
    const double step = (y - zero_point + 0.5) / double{scale};
    if (std::fabs(step) > 2147483000.0) continue;
    for (int d = -2; d <= 2; ++d) values.push_back(static_cast<int32_t>(std::floor(step)) + d);
  }
  return values;
}

TEST(RequantizeTest, FloatKindEqualsHardwareAtEveryStepTieAndLimit) {
  Random random;
  for (int i = 0; i < 3000 / kFewer; ++i) {
    float scale = random.scale(static_cast<int>(random.integer(-32, 8)));
    if (i % 50 == 0) scale = random.scale(static_cast<int>(random.integer(-126, 127)));
    Requant r = {};
    r.kind = RequantKind::kF32;
    r.round = i % 5 == 0 ? Round::kHalfUp : Round::kHalfEven;
    r.scale = &scale;
    r.zero_point = static_cast<int32_t>(random.integer(0, 255));
    r.lo = i % 3 == 0 ? static_cast<int32_t>(random.integer(0, 128)) : 0;
    r.hi = i % 3 == 0 ? static_cast<int32_t>(random.integer(128, 255)) : 255;
    for (int32_t acc : adversarial(scale, r.zero_point))
      ASSERT_EQ(requantize(r, acc, 0), requantize_hardware(r, acc))
          << "acc " << acc << " scale " << scale << " zero point " << r.zero_point;
  }
}

TEST(RequantizeTest, ZeroPointBeforeRoundingEqualsHardware) {
  Random random;
  for (int i = 0; i < 3000 / kFewer; ++i) {
    const float scale = random.scale(static_cast<int>(random.integer(-32, 8)));
    Requant r = {};
    r.kind = RequantKind::kF32;
    r.round = i % 5 == 0 ? Round::kHalfUp : Round::kHalfEven;
    r.zero_point_before = true;
    r.fused = i % 2 == 0;
    r.offset = i % 3 == 0 ? 128 : 0;
    r.scale = &scale;
    r.zero_point =
        static_cast<int32_t>(r.offset ? random.integer(-128, 127) : random.integer(0, 255));
    r.lo = 0;
    r.hi = 255;
    for (int32_t acc : adversarial(scale, r.zero_point + r.offset))
      ASSERT_EQ(requantize(r, acc, 0), requantize_hardware(r, acc))
          << "acc " << acc << " scale " << scale << " zero point " << r.zero_point;
  }
}

// Computes gemmlowp's double rounding as its authors state it: a saturating rounding doubling high
// multiply, then a rounding division by a power of two, ties away from zero.
int32_t double_rounding(int32_t acc, int32_t multiplier, int shift) {
  const int64_t product = int64_t{acc} * multiplier;
  const int64_t high = (product + (int64_t{1} << 30)) >> 31;
  const int64_t mask = (int64_t{1} << shift) - 1, remainder = high & mask;
  const int64_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return static_cast<int32_t>((high >> shift) + (remainder > threshold ? 1 : 0));
}

TEST(RequantizeTest, TwoIntegerStagesAreTheDoubleRoundingOfTfLite) {
  Random random;
  for (int i = 0; i < 300000 / kFewer; ++i) {
    const int32_t multiplier = static_cast<int32_t>(random.integer(1 << 30, INT32_MAX));
    const uint8_t first = 31, second = static_cast<uint8_t>(random.integer(0, 20));
    const int32_t one = 1;
    Requant r = {};
    r.kind = RequantKind::kInt;
    r.zero_point = static_cast<int32_t>(random.integer(0, 255));
    r.lo = 0;
    r.hi = 255;
    r.stage_count = 2;
    r.stages[0] = {&multiplier, &first, Round::kHalfUp, INT32_MIN, INT32_MAX};
    r.stages[1] = {&one, &second, Round::kHalfAway, INT32_MIN, INT32_MAX};
    const int32_t range = 1 << random.integer(4, 30);
    const int32_t acc = static_cast<int32_t>(random.integer(-range, range));
    const int64_t y = int64_t{double_rounding(acc, multiplier, second)} + r.zero_point;
    ASSERT_EQ(requantize(r, acc, 0), y < 0 ? 0 : y > 255 ? 255 : y);
  }
}

TEST(RequantizeTest, StagesClipAndPowersOfTwoShift) {
  const int32_t one = 1;
  const uint8_t shift = 4, none = 0;
  Requant r = {};
  r.kind = RequantKind::kInt;
  r.zero_point = 100;
  r.lo = 0;
  r.hi = 255;
  r.stage_count = 1;
  r.stages[0] = {&one, &shift, Round::kHalfEven, -50, 60};
  ASSERT_EQ(requantize(r, 24, 0), 102);     // 1.5 -> 2
  ASSERT_EQ(requantize(r, 40, 0), 102);     // 2.5 -> 2
  ASSERT_EQ(requantize(r, -24, 0), 98);     // -1.5 -> -2
  ASSERT_EQ(requantize(r, 10000, 0), 160);  // clipped to 60
  ASSERT_EQ(requantize(r, -10000, 0), 50);
  r.stage_count = 2;
  r.stages[1] = {&one, &none, Round::kFloor, -10, 10};
  ASSERT_EQ(requantize(r, 10000, 0), 110);
  r.stages[0].round = Round::kHalfAway;
  ASSERT_EQ(requantize(r, -24, 0), 98);
  ASSERT_EQ(requantize(r, -40, 0), 97);
  ASSERT_EQ(requantize(r, 40, 0), 103);
}

TEST(RequantizeTest, ReadsTheParametersOfItsChannel) {
  const float scales[3] = {1.0f, 0.5f, 0.25f};
  Requant r = {};
  r.kind = RequantKind::kF32;
  r.scale = scales;
  r.hi = 255;
  ASSERT_EQ(requantize(r, 100, 0), 100);
  ASSERT_EQ(requantize(r, 100, 1), 50);
  ASSERT_EQ(requantize(r, 100, 2), 25);
  ASSERT_EQ(requantize(r.at(1), 100, 1), 25);
}

// The sum equals hardware floats for every pair of bytes: x86 with FMA is one compiler option away
// from a contraction.
TEST(AddF32Test, EqualsHardwareForEveryPairOfBytes) {
  Random random;
  for (int i = 0; i < 40 / kFewer; ++i) {
    AddParams p = {};
    p.a_scale = random.scale(static_cast<int>(random.integer(-4, 1)));
    p.b_scale = random.scale(static_cast<int>(random.integer(-4, 1)));
    p.constant = random.real(-300, 300);
    p.multiply_add = i % 3 == 0;
    p.a_is_inner = i % 2 == 0;
    const bool is_signed = i % 4 == 3;
    p.a_offset = p.b_offset = is_signed ? -128 : 0;
    p.output_offset = is_signed ? 128 : 0;
    p.lo = i % 5 == 0 ? 10 : 0;
    p.hi = i % 5 == 0 ? 240 : 255;
    for (int a = 0; a < 256; ++a) {
      for (int b = 0; b < 256; ++b) {
        const float x = static_cast<float>(a + p.a_offset), y = static_cast<float>(b + p.b_offset);
        float v;
        if (p.multiply_add) {
          const float first = p.constant + x * p.a_scale;
          v = first + y * p.b_scale;
        } else if (p.a_is_inner) {
          v = std::fma(y, p.b_scale, std::fma(x, p.a_scale, p.constant));
        } else {
          v = std::fma(x, p.a_scale, std::fma(y, p.b_scale, p.constant));
        }
        const int64_t want =
            clamp_int(static_cast<int64_t>(std::nearbyint(v)) + p.output_offset, p.lo, p.hi);
        ASSERT_EQ(add_f32(p, static_cast<uint8_t>(a), static_cast<uint8_t>(b)), want)
            << a << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace qrt::requant_test
