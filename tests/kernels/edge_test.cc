// Every row of edge.inc against scalar formulas written here from the contract.
#include "kernels/edge/edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt {
namespace {

using testing::Guarded;
using testing::Random;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Limits {
  int32_t lo, hi;
};
constexpr Limits kUint8{0, 255}, kInt8{-128, 127};

using Quantize = decltype(EdgeKernel::quantize);

// Rounds a float half away from zero, or half to even.
int32_t rounded(float v, bool away) {
  return static_cast<int32_t>(away ? std::round(double{v}) : std::nearbyint(double{v}));
}

uint8_t quantized(float x, float scale, int32_t zp, const Limits& t, bool away = false) {
  const float v = x / scale;
  int32_t q;
  if (std::isnan(v) || v < static_cast<float>(t.lo - zp)) {
    q = t.lo;
  } else if (v > static_cast<float>(t.hi - zp)) {
    q = t.hi;
  } else {
    q = rounded(v, away) + zp;
  }
  return static_cast<uint8_t>(q);
}

float dequantized(uint8_t x, bool is_signed, float scale, int32_t zp) {
  const int32_t q = is_signed ? static_cast<int8_t>(x) : x;
  return static_cast<float>(q - zp) * scale;
}

uint32_t bits(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}

float from_bits(uint32_t b) {
  float f;
  memcpy(&f, &b, 4);
  return f;
}

// Numbers, not bit patterns, for results that are not numbers: which NaN is not defined.
void expect_same(float got, float want, size_t i) {
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(got)) << "element " << i;
  } else {
    ASSERT_EQ(bits(got), bits(want)) << "element " << i << ": " << got << ", not " << want;
  }
}

// Around every step and tie of the scale, and everything odd a caller can pass.
std::vector<float> inputs(Random& random, float scale) {
  std::vector<float> x = {0.0f,
                          -0.0f,
                          kInf,
                          -kInf,
                          kNan,
                          -kNan,
                          from_bits(0x7f800001),
                          FLT_MAX,
                          -FLT_MAX,
                          FLT_MIN,
                          -FLT_MIN,
                          FLT_TRUE_MIN,
                          -FLT_TRUE_MIN,
                          2147483648.0f,
                          -2147483648.0f,
                          4294967296.0f,
                          1e20f,
                          -1e20f};
  for (int half = -600; half <= 600; ++half) {
    const float v = static_cast<float>(half) * 0.5f * scale;
    x.insert(x.end(), {v, std::nextafterf(v, kInf), std::nextafterf(v, -kInf)});
  }
  for (int i = 0; i < 1500; ++i) {
    x.push_back(from_bits(static_cast<uint32_t>(random.integer(0, UINT32_MAX))));
    x.push_back(random.real(-300.0f, 300.0f) * scale);
  }
  return x;
}

class EdgeTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    size_t count;
    kernel_ = edge_kernels(&count)[GetParam()];
    if (!has(detected_isas(), kernel_.isa)) GTEST_SKIP() << "this CPU lacks " << kernel_.name;
  }

  std::vector<float> scales() {
    std::vector<float> s = {1.0f,         0.5f,        2.0f,   0.1f,  1.0f / 255, 3.0f,
                            0.0078125f,   0.02352941f, 1e-6f,  1e6f,  FLT_MIN,    FLT_MIN / 8,
                            FLT_TRUE_MIN, FLT_MAX,     1e-30f, 1e30f, 0.0f,       -0.0f,
                            -0.3f,        kInf,        kNan};
    for (int i = 0; i < 10; ++i)
      s.push_back(random_.scale(static_cast<int>(random_.integer(-9, 0))));
    return s;
  }

  // Zero points at and inside the limits.
  std::vector<int32_t> zero_points(const Limits& t) {
    return {
        t.lo, t.lo + 1, 0, 3, t.hi - 1, t.hi, static_cast<int32_t>(random_.integer(t.lo, t.hi))};
  }

  // f(quantize, whether it rounds half away from zero)
  template <class F>
  void for_roundings(const F& f) {
    f(kernel_.quantize, false);
    f(kernel_.quantize_away, true);
  }

  EdgeKernel kernel_{};
  Random random_;
};

TEST_P(EdgeTest, QuantizesTiesLimitsAndWhatIsNotANumber) {
  SCOPED_TRACE(random_.trace());
  for (const float scale : scales()) {
    const std::vector<float> x = inputs(random_, scale);
    std::vector<uint8_t> y(x.size());
    for (const Limits& t : {kUint8, kInt8}) {
      for (const int32_t zp : zero_points(t)) {
        for_roundings([&](Quantize quantize, bool away) {
          quantize(x.data(), x.size(), scale, zp, t.lo, t.hi, y.data());
          for (size_t i = 0; i < x.size(); ++i)
            ASSERT_EQ(int{y[i]}, int{quantized(x[i], scale, zp, t, away)})
                << x[i] << " / " << scale << ", zero point " << zp << ", from " << t.lo;
        });
      }
    }
  }
}

// A quotient made by products instead of a division is nearest to a wrong step where the scale's
// significand is near a multiple of 2^16.
TEST_P(EdgeTest, QuantizesBesideEveryTieOfScalesNearMultiples) {
  SCOPED_TRACE(random_.trace());
  for (int low = -5; low <= 5; ++low) {
    for (int i = 0; i < 12; ++i) {
      const auto high = static_cast<uint32_t>(i == 0 ? 1 : random_.integer(1, 127));
      const auto exponent = static_cast<uint32_t>(random_.integer(127 - 60, 127 + 59));
      const uint32_t significand = i == 1 && low <= 0 ? 1u << 23 : high << 16;
      const float scale = from_bits((exponent << 23) + significand + static_cast<uint32_t>(low));
      std::vector<float> x;
      for (int half = -513; half <= 513; half += 2) {
        const float tie = static_cast<float>(half) * 0.5f * scale;
        for (int d = -4; d <= 4; ++d) x.push_back(from_bits(bits(tie) + static_cast<uint32_t>(d)));
      }
      std::vector<uint8_t> y(x.size());
      const auto zp = static_cast<int32_t>(random_.integer(0, 255));
      for_roundings([&](Quantize quantize, bool away) {
        quantize(x.data(), x.size(), scale, zp, 0, 255, y.data());
        for (size_t k = 0; k < x.size(); ++k)
          ASSERT_EQ(int{y[k]}, int{quantized(x[k], scale, zp, kUint8, away)})
              << std::hexfloat << x[k] << " / " << scale << ", zero point " << zp;
      });
    }
  }
}

// Odd values in every lane of block and tail.
TEST_P(EdgeTest, QuantizesNanAndInfinityInEveryLane) {
  for (size_t n = 1; n <= 67; ++n) {
    for (size_t at = 0; at < n; ++at) {
      for (const float odd : {kNan, kInf, -kInf}) {
        std::vector<float> x(n, 7.0f);
        std::vector<uint8_t> y(n);
        x[at] = odd;
        for_roundings([&](Quantize quantize, bool away) {
          quantize(x.data(), n, 0.25f, 5, -128, 127, y.data());
          for (size_t i = 0; i < n; ++i)
            ASSERT_EQ(int{y[i]}, int{quantized(x[i], 0.25f, 5, kInt8, away)}) << i << " of " << n;
        });
      }
    }
  }
}

TEST_P(EdgeTest, DequantizesEveryByte) {
  SCOPED_TRACE(random_.trace());
  std::vector<uint8_t> x(256);
  std::vector<float> y(256);
  for (size_t i = 0; i < 256; ++i) x[i] = static_cast<uint8_t>(i);
  for (const float scale : scales()) {
    for (const bool is_signed : {false, true}) {
      for (const int32_t zp : zero_points(is_signed ? kInt8 : kUint8)) {
        kernel_.dequantize(x.data(), is_signed, 256, scale, zp, y.data());
        for (size_t i = 0; i < 256; ++i)
          ASSERT_NO_FATAL_FAILURE(expect_same(y[i], dequantized(x[i], is_signed, scale, zp), i));
      }
    }
  }
}

// Both buffers end at guard pages; the elements before the output stay.
TEST_P(EdgeTest, HandlesEveryLength) {
  SCOPED_TRACE(random_.trace());
  for (size_t n = 0; n <= 200; ++n) {
    Guarded<float> real(n), back(n + 16);
    Guarded<uint8_t> q(n + 64);
    for (auto& v : real) v = random_.real(-40.0f, 40.0f);
    for_roundings([&](Quantize quantize, bool away) {
      quantize(real.data(), n, 0.17f, 100, 0, 255, q.data() + 64);
      for (size_t i = 0; i < 64; ++i) ASSERT_EQ(int{q[i]}, 0xA5);
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(int{q[64 + i]}, int{quantized(real[i], 0.17f, 100, kUint8, away)})
            << i << " of " << n;
    });
    for (const bool is_signed : {false, true}) {
      kernel_.dequantize(q.data() + 64, is_signed, n, 0.17f, 100, back.data() + 16);
      for (size_t i = 0; i < 16; ++i) ASSERT_EQ(bits(back[i]), 0xA5A5A5A5u);
      for (size_t i = 0; i < n; ++i)
        ASSERT_NO_FATAL_FAILURE(
            expect_same(back[16 + i], dequantized(q[64 + i], is_signed, 0.17f, 100), i));
    }
  }
}

// Runs beyond the caches are read in several places at a time and written past the caches.
TEST_P(EdgeTest, HandlesLongRuns) {
  SCOPED_TRACE(random_.trace());
  constexpr size_t kLong = (size_t{1} << 21) + 77;
  std::vector<float> real(kLong), back(kLong + 16);
  std::vector<uint8_t> q(kLong);
  for (auto& v : real) v = random_.real(-30.0f, 30.0f);
  for (const size_t n : {kLong, kLong / 4, kLong / 4 + 63}) {
    kernel_.quantize(real.data(), n, 0.17f, 100, 0, 255, q.data());
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(int{q[i]}, int{quantized(real[i], 0.17f, 100, kUint8)}) << i << " of " << n;
  }
  kernel_.quantize(real.data(), kLong, 0.17f, 100, 0, 255, q.data());
  const size_t misaligned = reinterpret_cast<uintptr_t>(back.data()) % 64 / 4;
  for (const size_t shift : {(16 - misaligned) % 16, size_t{1}}) {
    float* y = back.data() + shift;
    kernel_.dequantize(q.data(), false, kLong, 0.17f, 100, y);
    for (size_t i = 0; i < kLong; ++i)
      ASSERT_EQ(bits(y[i]), bits(dequantized(q[i], false, 0.17f, 100))) << i;
  }
}

TEST_P(EdgeTest, LeavesTheBytesAfterTheOutputAlone) {
  for (size_t n = 0; n <= 130; ++n) {
    std::vector<float> real(n, 1.0f), back(n + 80, -1.0f);
    std::vector<uint8_t> q(n + 80, 0xEE);
    kernel_.quantize(real.data(), n, 0.5f, 0, 0, 255, q.data());
    for (size_t i = n; i < q.size(); ++i) ASSERT_EQ(int{q[i]}, 0xEE) << "n " << n;
    kernel_.dequantize(q.data(), false, n, 0.5f, 0, back.data());
    for (size_t i = n; i < back.size(); ++i) ASSERT_EQ(back[i], -1.0f) << "n " << n;
  }
}

TEST_P(EdgeTest, TakesScaleAndZeroPointOfTheChannel) {
  SCOPED_TRACE(random_.trace());
  for (const size_t channels : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 131}) {
    for (const size_t rows : {0, 1, 2, 5, 17, 35}) {
      const size_t n = rows * channels;
      Guarded<float> real(n), back(n), scale(channels);
      Guarded<uint8_t> q(n);
      Guarded<int32_t> zp(channels), acc(n);
      const bool is_signed = random_.coin();
      const Limits t = is_signed ? kInt8 : kUint8;
      for (auto& s : scale) s = random_.scale(static_cast<int>(random_.integer(-4, 0)));
      for (auto& z : zp) z = static_cast<int32_t>(random_.integer(t.lo, t.hi));
      for (auto& v : real) v = random_.integer(0, 9) ? random_.real(-60.0f, 60.0f) : kNan;
      random_.fill(acc, INT32_MIN, INT32_MAX);

      kernel_.quantize_channels(real.data(), rows, channels, scale.data(), zp.data(), t.lo, t.hi,
                                q.data());
      for (size_t i = 0; i < n; ++i) {
        const size_t c = i % channels;
        ASSERT_EQ(int{q[i]}, int{quantized(real[i], scale[c], zp[c], t)})
            << rows << " rows of " << channels << ", element " << i;
      }
      kernel_.dequantize_channels(q.data(), is_signed, rows, channels, scale.data(), zp.data(),
                                  back.data());
      for (size_t i = 0; i < n; ++i) {
        const size_t c = i % channels;
        ASSERT_NO_FATAL_FAILURE(
            expect_same(back[i], dequantized(q[i], is_signed, scale[c], zp[c]), i));
      }
      kernel_.dequantize_i32(acc.data(), rows, channels, scale.data(), back.data());
      for (size_t i = 0; i < n; ++i)
        ASSERT_NO_FATAL_FAILURE(
            expect_same(back[i], static_cast<float>(acc[i]) * scale[i % channels], i));
    }
  }
}

// The conversion of an int32 rounds to nearest even beyond 2^24.
TEST_P(EdgeTest, DequantizesTheWholeRangeOfInt32) {
  SCOPED_TRACE(random_.trace());
  std::vector<int32_t> x = {0, 1, -1, INT32_MAX, INT32_MIN, INT32_MIN + 1};
  for (int bit = 20; bit < 31; ++bit)
    for (int d = -3; d <= 3; ++d) {
      x.push_back((1 << bit) + d);
      x.push_back(-(1 << bit) + d);
    }
  for (int i = 0; i < 500; ++i)
    x.push_back(static_cast<int32_t>(random_.integer(INT32_MIN, INT32_MAX)));
  std::vector<float> y(x.size());
  for (const float scale : scales()) {
    const std::vector<float> repeated(x.size(), scale);
    kernel_.dequantize_i32(x.data(), 1, x.size(), repeated.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expect_same(y[i], static_cast<float>(x[i]) * scale, i));
  }
}

// --- 16 bits

int32_t quantized16(float x, float scale, int32_t zp, const Limits& t, bool away = false) {
  const float v = x / scale;
  if (std::isnan(v) || v < static_cast<float>(t.lo - zp)) return t.lo;
  if (v > static_cast<float>(t.hi - zp)) return t.hi;
  return rounded(v, away) + zp;
}

TEST_P(EdgeTest, QuantizesTo16BitsAndBack) {
  SCOPED_TRACE(random_.trace());
  constexpr Limits kTypes[] = {{0, 65535}, {-32768, 32767}};
  for (const Limits& t : kTypes) {
    for (const bool each : {false, true}) {
      for (const size_t n : {1, 3, 4, 7, 8, 9, 16, 17, 33, 500}) {
        Guarded<float> x(n), back(n), scale(each ? n : 1);
        Guarded<uint16_t> y(n);
        Guarded<int32_t> zp(each ? n : 1);
        for (auto& s : scale) s = random_.scale(static_cast<int>(random_.integer(-12, 0)));
        for (auto& z : zp) z = static_cast<int32_t>(random_.integer(t.lo, t.hi));
        const float odd[] = {kNan, kInf, -kInf, 1e30f, -1e30f, 0.0f};
        for (size_t i = 0; i < n; ++i) {
          const int64_t kind = random_.integer(0, 5);
          const float s = scale[each ? i : 0];
          x[i] = kind == 0   ? odd[random_.integer(0, 5)]
                 : kind <= 2 ? (static_cast<float>(random_.integer(-70000, 70000)) + 0.5f) * s
                             : random_.real(-70000.0f, 70000.0f) * s;
        }
        const EdgeGrid grid = {scale.data(), zp.data(), each};
        kernel_.quantize16(x.data(), n, grid, t.lo, t.hi, y.data());
        kernel_.dequantize16(y.data(), t.lo < 0, n, grid, back.data());
        Guarded<uint16_t> away(n);
        kernel_.quantize16_away(x.data(), n, grid, t.lo, t.hi, away.data());
        for (size_t i = 0; i < n; ++i) {
          const float s = scale[each ? i : 0];
          const int32_t z = zp[each ? i : 0];
          const int32_t q = t.lo < 0 ? static_cast<int16_t>(y[i]) : y[i];
          ASSERT_EQ(q, quantized16(x[i], s, z, t)) << x[i] << " / " << s << ", zero point " << z;
          ASSERT_EQ(bits(back[i]), bits(static_cast<float>(q - z) * s));
          ASSERT_EQ(away[i], static_cast<uint16_t>(quantized16(x[i], s, z, t, true)))
              << x[i] << " / " << s << ", zero point " << z;
        }
      }
    }
  }
}

// --- float16

// Value of a finite or infinite float16; NaN: not called.
double half_value(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double magnitude = exponent == 31 ? HUGE_VAL
                           : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                          : std::ldexp(fraction, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}

bool is_half_nan(uint16_t h) { return (h & 0x7fff) > 0x7c00; }

// Nearest float16, ties to even, by rounding to its own last place.
uint16_t nearest_half(float v) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  const double a = std::fabs(double{v});
  if (a == 0.0) return sign;
  if (a >= 65520.0) return sign | 0x7c00;
  int exponent;
  std::frexp(a, &exponent);
  const int last = std::max(exponent - 11, -24);
  const double rounded = std::nearbyint(std::ldexp(a, -last));  // at most 2048
  return static_cast<uint16_t>(sign | ((last + 24) * 1024 + static_cast<int>(rounded)));
}

TEST_P(EdgeTest, WidensEveryFloat16) {
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

TEST_P(EdgeTest, NarrowsToTheNearestFloat16) {
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

// Every float16, also those whose quotient no int32 holds.
TEST_P(EdgeTest, QuantizesFloat16WithTheWrappedSumOfWhatHasNoInt32) {
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
TEST_P(EdgeTest, ConvertsFloat16OfEveryLength) {
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

// Lengths that are read in several places and written past the caches.
TEST_P(EdgeTest, ConvertsLongRunsOfFloat16AsShortOnes) {
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

TEST_P(EdgeTest, DequantizesToFloat16) {
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

// --- float8 and float4, from their tables in the ONNX documents

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

// The nearest magnitude by search, of two equally near ones the even code; one past the greatest
// counts as its neighbour would.
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

TEST_P(EdgeTest, EncodesSmallFloatsNearestEvenWithAndWithoutSaturation) {
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
TEST_P(EdgeTest, EncodesEveryLength) {
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

TEST_P(EdgeTest, FindsExtremesAndSkipsNaN) {
  SCOPED_TRACE(random_.trace());
  for (size_t n = 1; n <= 70; ++n) {
    Guarded<float> x(n);
    float least = 0.0f, most = 0.0f;
    for (auto& v : x) {
      v = random_.integer(0, 3) ? random_.real(-9.0f, 9.0f) : kNan;
      if (v < least) least = v;
      if (v > most) most = v;
    }
    float lo = 0.0f, hi = 0.0f;
    kernel_.extremes(x.data(), n, &lo, &hi);
    ASSERT_EQ(lo, least);
    ASSERT_EQ(hi, most);
  }
}

size_t row_count() {
  size_t count;
  edge_kernels(&count);
  return count;
}

INSTANTIATE_TEST_SUITE_P(Rows, EdgeTest, ::testing::Range(size_t{0}, row_count()),
                         [](const auto& info) {
                           size_t count;
                           return std::string(edge_kernels(&count)[info.param].name);
                         });

TEST(EdgeSelectTest, TakesTheFirstRowAllowed) {
  size_t count;
  const EdgeKernel* rows = edge_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(select_edge(capped(~0u, rows[i].isa))->name, rows[i].name);
  EXPECT_EQ(select_edge(static_cast<IsaSet>(Isa::kScalar))->isa, Isa::kScalar);
}

}  // namespace
}  // namespace qrt
