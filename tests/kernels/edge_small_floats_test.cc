// SPDX-License-Identifier: Apache-2.0
// Floats of 8 and 4 bits and bfloat16 against the tables in the ONNX documents: the conversions
// alone, and every row of edge.inc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "kernels/edge/edge.h"
#include "tests/support/edge_rows.h"
#include "tests/support/guarded.h"

namespace qrt::edge_small_floats_test {
namespace {

using testing::bits;
using testing::EdgeRowTest;
using testing::from_bits;
using testing::Guarded;
using testing::kInf;
using testing::kNan;
using testing::nearest_half;

using EdgeSmallFloatsTest = EdgeRowTest;

struct Small {
  const char* name;
  SmallFormat format;
  int exponent_bits, mantissa_bits, bias;
  int max, infinity;  // codes; infinity 0: none
  std::vector<int> nans;
};

const std::vector<Small>& small_formats() {
  static const std::vector<Small> all = {
      {"e4m3fn", SmallFormat::kE4M3FN, 4, 3, 7, 0x7e, 0, {0x7f, 0xff}},
      {"e4m3fnuz", SmallFormat::kE4M3FNUZ, 4, 3, 8, 0x7f, 0, {0x80}},
      {"e5m2", SmallFormat::kE5M2, 5, 2, 15, 0x7b, 0x7c, {0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff}},
      {"e5m2fnuz", SmallFormat::kE5M2FNUZ, 5, 2, 16, 0x7f, 0, {0x80}},
      {"e2m1", SmallFormat::kE2M1, 2, 1, 1, 7, 0, {}}};
  return all;
}

double small_value(const Small& f, int magnitude) {
  const int exponent = magnitude >> f.mantissa_bits;
  const int fraction = magnitude & ((1 << f.mantissa_bits) - 1);
  if (exponent == 0) return std::ldexp(fraction, 1 - f.bias - f.mantissa_bits);
  return std::ldexp((1 << f.mantissa_bits) + fraction, exponent - f.bias - f.mantissa_bits);
}

TEST(SmallFloatTest, EveryCodeHasTheValueOfItsTable) {
  for (const Small& f : small_formats()) {
    const int sign = 1 << (f.exponent_bits + f.mantissa_bits);
    for (int code = 0; code < 2 * sign; ++code) {
      const float v = small_to_float(f.format, static_cast<uint8_t>(code));
      const int magnitude = code & (sign - 1);
      if (std::find(f.nans.begin(), f.nans.end(), code) != f.nans.end()) {
        ASSERT_TRUE(std::isnan(v)) << f.name << " " << code;
      } else {
        const double want =
            f.infinity != 0 && magnitude == f.infinity ? HUGE_VAL : small_value(f, magnitude);
        ASSERT_EQ(double{v}, code & sign ? -want : want) << f.name << " " << code;
      }
    }
  }
}

TEST(SmallFloatTest, PowersOfTwo) {
  for (int code = 0; code < 255; ++code)
    ASSERT_EQ(e8m0_to_float(static_cast<uint8_t>(code)), std::ldexp(1.0f, code - 127));
  ASSERT_TRUE(std::isnan(e8m0_to_float(255)));
}

// Returns the nearest magnitude by search, of two equally near ones the even code; one past the
// greatest counts as its neighbour would.
int nearest_small(const Small& f, double magnitude) {
  if (magnitude > 1e6) return f.max + 1;
  int best = 0;
  for (int code = 1; code <= f.max + 1; ++code) {
    const double d = std::fabs(small_value(f, code) - magnitude);
    const double least = std::fabs(small_value(f, best) - magnitude);
    if (d < least || (d == least && code % 2 == 0)) best = code;
  }
  return best;
}

int encoded(const Small& f, bool saturate, float v) {
  const bool four = f.format == SmallFormat::kE2M1;
  const bool unsigned_zero = f.nans == std::vector<int>{0x80};
  const int sign = std::signbit(v) ? 1 << (f.exponent_bits + f.mantissa_bits) : 0;
  if (std::isnan(v)) return four ? 7 : unsigned_zero ? 0x80 : 0x7f | sign;
  const int magnitude = std::isinf(v) ? f.max + 1 : nearest_small(f, std::fabs(double{v}));
  if (magnitude <= f.max) return magnitude == 0 && unsigned_zero ? 0 : magnitude | sign;
  if (saturate || four) return f.max | sign;
  return unsigned_zero ? 0x80 : f.infinity ? f.infinity | sign : 0x7f | sign;
}

TEST_P(EdgeSmallFloatsTest, EncodesSmallFloatsNearestEvenWithAndWithoutSaturation) {
  SCOPED_TRACE(random_.trace());
  for (const Small& f : small_formats()) {
    std::vector<float> x = {kNan,
                            -kNan,
                            from_bits(0x7fffffff),
                            from_bits(0xff800001),
                            kInf,
                            -kInf,
                            0.0f,
                            -0.0f,
                            FLT_TRUE_MIN,
                            -FLT_TRUE_MIN,
                            FLT_MAX,
                            -FLT_MAX,
                            std::nextafterf(kInf, 0.0f),
                            61440.0f,
                            65536.0f,
                            464.0f,
                            465.0f};
    for (int code = 0; code <= f.max; ++code) {
      const auto here = static_cast<float>(small_value(f, code));
      const auto tie = static_cast<float>((small_value(f, code) + small_value(f, code + 1)) / 2);
      x.insert(x.end(), {here, tie, std::nextafterf(tie, kInf), std::nextafterf(tie, 0.0f), -tie});
    }
    for (int i = 0; i < 500; ++i) {
      x.push_back(from_bits(static_cast<uint32_t>(random_.integer(0, UINT32_MAX))));
      x.push_back(random_.real(-8.0f, 8.0f));
    }
    std::vector<uint8_t> y(x.size());
    for (const bool saturate : {false, true}) {
      const SmallFloat format = small_float(f.format, saturate);
      for (const float scale : {1.0f, 0.25f, -0.3f}) {
        kernel_.encode(x.data(), x.size(), {&scale, nullptr, false}, format, y.data());
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(int{y[i]}, encoded(f, saturate, x[i] / scale))
              << f.name << ", saturate " << saturate << ": " << x[i] << " / " << scale;
      }
      std::vector<float> scales(x.size());
      for (float& s : scales) s = random_.scale(static_cast<int>(random_.integer(-9, 9)));
      kernel_.encode(x.data(), x.size(), {scales.data(), nullptr, true}, format, y.data());
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(int{y[i]}, encoded(f, saturate, x[i] / scales[i])) << f.name << " " << x[i];
    }
  }
}

// Both ends at guard pages.
TEST_P(EdgeSmallFloatsTest, EncodesEveryLength) {
  const SmallFloat format = small_float(SmallFormat::kE4M3FN, true);
  const float scale = 0.5f;
  for (size_t n = 1; n <= 70; ++n) {
    Guarded<float> x(n);
    Guarded<uint8_t> y(n);
    Guarded<uint16_t> half(n);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
    kernel_.encode(x.data(), n, {&scale, nullptr, false}, format, y.data());
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], float_to_small(format, x[i] / scale));
    kernel_.narrow_half(x.data(), n, half.data());
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(half[i], nearest_half(x[i]));
  }
}

TEST(SmallFloatTest, BFloat16RoundsToNearestEven) {
  ASSERT_EQ(float_to_bfloat(1.0f), 0x3f80);
  ASSERT_EQ(float_to_bfloat(from_bits(0x3f808000)), 0x3f80);  // a tie
  ASSERT_EQ(float_to_bfloat(from_bits(0x3f818000)), 0x3f82);
  ASSERT_EQ(float_to_bfloat(from_bits(0x3f808001)), 0x3f81);
  ASSERT_EQ(float_to_bfloat(FLT_MAX), 0x7f80);
  ASSERT_EQ(float_to_bfloat(-kInf), 0xff80);
  ASSERT_EQ(float_to_bfloat(from_bits(0x7f800001)), 0x7fc0);
  ASSERT_EQ(bits(bfloat_to_float(0xc049)), 0xc0490000u);
}

QRT_FOR_EDGE_ROWS(EdgeSmallFloatsTest);

}  // namespace
}  // namespace qrt::edge_small_floats_test
