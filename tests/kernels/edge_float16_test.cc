// SPDX-License-Identifier: Apache-2.0
// Every row of edge.inc on float16, against the numbers its bits stand for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/edge/edge.h"
#include "tests/support/edge_rows.h"
#include "tests/support/guarded.h"

namespace qrt::edge_float16_test {
namespace {

using testing::bits;
using testing::dequantized;
using testing::EdgeRowTest;
using testing::from_bits;
using testing::Guarded;
using testing::kInf;
using testing::kInt8;
using testing::kNan;
using testing::kUint8;
using testing::Limits;
using testing::nearest_half;

using EdgeFloat16Test = EdgeRowTest;

// Value of a finite or infinite float16; NaN: not called.
double half_value(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double magnitude = exponent == 31 ? HUGE_VAL
                           : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                          : std::ldexp(fraction, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}

bool is_half_nan(uint16_t h) { return (h & 0x7fff) > 0x7c00; }

TEST_P(EdgeFloat16Test, WidensEveryFloat16) {
  Guarded<uint16_t> x(65535);  // odd: a tail
  Guarded<float> y(65535);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
  kernel_.widen_half(x.data(), x.size(), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (is_half_nan(x[i])) {
      ASSERT_TRUE(std::isnan(y[i])) << i;
      ASSERT_EQ(std::signbit(y[i]), (i & 0x8000) != 0);
    } else {
      ASSERT_EQ(bits(y[i]), bits(static_cast<float>(half_value(x[i])))) << i;
    }
  }
}

TEST_P(EdgeFloat16Test, NarrowsToTheNearestFloat16) {
  SCOPED_TRACE(random_.trace());
  std::vector<float> x = {kInf,   -kInf, 65504.0f, 65519.0f,     65520.0f,      1e30f,
                          -1e30f, 0.0f,  -0.0f,    FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MAX};
  for (int i = 0; i < 300; ++i) {
    const auto h = static_cast<uint16_t>(random_.integer(0, 0x7bfe));
    const float between = static_cast<float>((half_value(h) + half_value(h + 1)) / 2);
    x.insert(x.end(), {between, std::nextafterf(between, kInf), -std::nextafterf(between, -kInf)});
  }
  for (int i = 0; i < 300; ++i) {
    const float v = from_bits(static_cast<uint32_t>(random_.integer(0, UINT32_MAX)));
    if (!std::isnan(v)) x.push_back(v);
  }
  std::vector<uint16_t> y(x.size());
  kernel_.narrow_half(x.data(), x.size(), y.data());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], nearest_half(x[i])) << x[i];
  const float nan[] = {kNan, from_bits(0xffc00000), from_bits(0x7f800001), from_bits(0x7fabcdef)};
  uint16_t narrow[4];
  kernel_.narrow_half(nan, 4, narrow);
  for (size_t i = 0; i < 4; ++i) ASSERT_EQ(narrow[i], float_to_half(nan[i])) << i;
}

// Every float16 is quantised right, also one whose quotient no int32 holds.
TEST_P(EdgeFloat16Test, QuantizesFloat16WithTheWrappedSumOfWhatHasNoInt32) {
  Guarded<uint16_t> x(65535);
  Guarded<uint8_t> y(65535);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
  for (const float scale : {1.0f, 0.00390625f, 1e-5f, 0.3f, 2.5e-8f, 1e-20f, 1e19f}) {
    for (const Limits& t : {kUint8, kInt8}) {
      for (const int32_t zp : {t.lo, 0, 3, -5 * (t.lo < 0), t.hi}) {
        kernel_.quantize_half(x.data(), x.size(), scale, zp, t.lo, t.hi, 7, y.data());
        for (size_t i = 0; i < x.size(); ++i) {
          const float v = static_cast<float>(is_half_nan(x[i]) ? NAN : half_value(x[i])) / scale;
          const bool fits = v >= -2147483648.0f && v < 2147483648.0f;
          const int64_t q =
              fits ? static_cast<int64_t>(std::nearbyint(double{v})) : int64_t{INT32_MIN};
          const auto sum = static_cast<int32_t>(static_cast<uint32_t>(q + zp));
          const int32_t want = (sum < t.lo ? t.lo : sum > t.hi ? t.hi : sum) + 7;
          ASSERT_EQ(int{y[i]}, want & 255) << v << ", zero point " << zp;
        }
      }
    }
  }
}

// Both ends at guard pages.
TEST_P(EdgeFloat16Test, ConvertsFloat16OfEveryLength) {
  for (size_t n = 1; n <= 140; ++n) {
    Guarded<uint16_t> x(n), back(n);
    Guarded<uint8_t> y(n);
    for (size_t i = 0; i < n; ++i) x[i] = float_to_half(static_cast<float>(i) - 60.0f);
    kernel_.quantize_half(x.data(), n, 0.5f, 3, -128, 127, 128, y.data());
    for (size_t i = 0; i < n; ++i) {
      const int q = 2 * static_cast<int>(i) - 120 + 3;
      ASSERT_EQ(int{y[i]}, (q > 127 ? 127 : q) + 128) << n;
    }
    kernel_.dequantize_half(y.data(), false, n, 0.5f, 131, back.data());
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(back[i], nearest_half((static_cast<float>(y[i]) - 131.0f) * 0.5f)) << n;
  }
}

// Long runs, which are read in several places and written past the caches, are converted as short ones.
TEST_P(EdgeFloat16Test, ConvertsLongRunsOfFloat16AsShortOnes) {
  constexpr size_t kLong = (size_t{1} << 21) + 1043, kShort = 1000;
  std::vector<uint16_t> x(kLong + 32), back(kLong + 32), part(kShort);
  std::vector<uint8_t> y(kLong + 64), bytes(kShort);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i * 40503);
  kernel_.quantize_half(x.data(), kLong, 0.03f, 120, 0, 255, 0, y.data());
  // An output that starts between the lines of the cache.
  kernel_.dequantize_half(y.data(), true, kLong, 0.03f, 7, back.data() + 5);
  for (size_t at = 0; at < kLong; at += kShort) {
    const size_t n = std::min(kShort, kLong - at);
    kernel_.quantize_half(x.data() + at, n, 0.03f, 120, 0, 255, 0, bytes.data());
    ASSERT_EQ(memcmp(bytes.data(), y.data() + at, n), 0) << at;
    kernel_.dequantize_half(y.data() + at, true, n, 0.03f, 7, part.data());
    ASSERT_EQ(memcmp(part.data(), back.data() + 5 + at, n * 2), 0) << at;
  }
}

TEST_P(EdgeFloat16Test, DequantizesToFloat16) {
  SCOPED_TRACE(random_.trace());
  Guarded<uint8_t> x(255);
  Guarded<uint16_t> y(255);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i);
  for (const bool is_signed : {false, true}) {
    for (const float scale : {1.0f, 0.1f, 1e-7f, 700.0f, random_.scale(-4)}) {
      kernel_.dequantize_half(x.data(), is_signed, x.size(), scale, -3, y.data());
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i], nearest_half(dequantized(x[i], is_signed, scale, -3))) << i;
    }
  }
}

QRT_FOR_EDGE_ROWS(EdgeFloat16Test);

}  // namespace
}  // namespace qrt::edge_float16_test
