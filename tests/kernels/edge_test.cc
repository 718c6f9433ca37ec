// SPDX-License-Identifier: Apache-2.0
// Every row of edge.inc against scalar formulas written here from the contract: bytes, int16 and int32.
// Other files: edge_float16_test.cc, edge_small_floats_test.cc.
#include "kernels/edge/edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "tests/support/edge_rows.h"
#include "tests/support/guarded.h"

namespace qrt::edge_test {
namespace {

using testing::all_rows;
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
using testing::Random;

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

// Checks that the bits are equal, or that both are NaN, whose bits are not defined.
void expect_same(float got, float want, size_t i) {
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(got)) << "element " << i;
  } else {
    ASSERT_EQ(bits(got), bits(want)) << "element " << i << ": " << got << ", not " << want;
  }
}

// Returns inputs around every step and tie of the scale, and all special values that a caller can
// pass.
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

class EdgeTest : public EdgeRowTest {
 protected:
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

  // Calls f(quantize, whether it rounds half away from zero)
  template <class F>
  void for_roundings(const F& f) {
    f(kernel_.quantize, false);
    f(kernel_.quantize_away, true);
  }
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

// Quotients computed by products instead of a division are right beside every tie. Errors are
// likeliest where the scale's significand is near a multiple of 2^16.
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

// NaN and infinity are quantised correctly in every lane of block and tail.
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

// Every length is handled: both buffers end at guard pages, and the elements in front of the output stay.
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

// Runs larger than the caches, which are read in several places at a time and written past the
// caches, have correct results.
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

// The whole range of int32 is dequantised: the conversion rounds to nearest even beyond 2^24.
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

QRT_FOR_EDGE_ROWS(EdgeTest);

// Returns a code by the formula of kernels/hybrid.h, written with the C library's rounding.
uint8_t hybrid_byte(float x, const HybridScale& s) {
  const float product = x * s.factor;
  const float v = static_cast<float>(s.zero_point) + product;
  if (std::isnan(v) || v < static_cast<float>(s.lo)) return static_cast<uint8_t>(128 + s.lo);
  return static_cast<uint8_t>(128 + (v > 127 ? 127 : rounded(v, true)));
}

TEST_P(EdgeTest, QuantizesByAFactor) {
  SCOPED_TRACE(random_.trace());
  if (kernel_.quantize_by == nullptr) GTEST_SKIP() << "not built";
  std::vector<HybridScale> scales = {hybrid_symmetric(0, 0),     hybrid_symmetric(-1, 127),
                                     hybrid_symmetric(-kInf, 0), hybrid_symmetric(0, FLT_TRUE_MIN),
                                     hybrid_asymmetric(0, 0),    hybrid_asymmetric(-128, 127),
                                     hybrid_asymmetric(0, kInf), hybrid_asymmetric(-FLT_MAX, 1)};
  for (int i = 0; i < 20; ++i) {
    const float least = -random_.real(0, 3), most = random_.real(0, 300);
    scales.push_back(hybrid_symmetric(least, most));
    scales.push_back(hybrid_asymmetric(least, most));
  }
  for (const HybridScale& s : scales) {
    const std::vector<float> x = inputs(random_, s.scale);
    for (const size_t n : {x.size(), size_t{1}, size_t{15}, size_t{67}}) {
      Guarded<float> from(n);
      Guarded<uint8_t> to(n);
      std::copy_n(x.begin(), n, from.begin());
      kernel_.quantize_by(from.data(), n, s, to.data());
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(to[i], hybrid_byte(x[i], s)) << x[i] << " by " << s.factor;
    }
  }
}

TEST_P(EdgeTest, StoresSumsAsFloats) {
  SCOPED_TRACE(random_.trace());
  if (kernel_.store_sums == nullptr) GTEST_SKIP() << "not built";
  for (int round = 0; round < 60; ++round) {
    const auto rows = static_cast<size_t>(random_.integer(1, 4));
    const auto channels = static_cast<size_t>(random_.integer(1, 70));
    std::vector<int32_t> sums(rows * channels), weight_sum(channels);
    std::vector<float> x_scale(rows), w_scale(channels), addend(channels);
    std::vector<uint8_t> zero(rows);
    random_.fill(sums, INT32_MIN, INT32_MAX);
    random_.fill(weight_sum, INT32_MIN, INT32_MAX);
    random_.fill(zero, 0, 255);
    for (float& s : x_scale) s = random_.integer(0, 9) == 0 ? kNan : random_.scale(-4);
    for (float& s : w_scale) s = random_.integer(0, 9) == 0 ? FLT_MAX : random_.scale(-9);
    for (float& s : addend) s = random_.coin() ? -0.0f : random_.real(-9, 9);
    SumStore s{};
    s.rows = rows, s.channels = channels;
    s.x_scale = x_scale.data(), s.x_step = random_.coin() ? 1 : 0;
    s.zero_point = random_.coin() ? zero.data() : nullptr;
    s.weight_sum = weight_sum.data(), s.w_scale = w_scale.data(), s.addend = addend.data();
    s.weights_first = random_.coin();
    s.lo = random_.coin() ? -kInf : 0.0f, s.hi = random_.coin() ? kInf : 6.0f;
    Guarded<float> y(sums.size());
    memcpy(y.data(), sums.data(), sums.size() * sizeof(float));
    s.y = y.data();
    s.sums = reinterpret_cast<const int32_t*>(y.data());
    kernel_.store_sums(s);
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t r = i / channels, c = i % channels;
      const uint32_t z = s.zero_point ? zero[r] : 0;
      const auto acc = static_cast<float>(static_cast<int32_t>(
          static_cast<uint32_t>(sums[i]) - z * static_cast<uint32_t>(weight_sum[c])));
      const float xs = x_scale[r * s.x_step];
      const float first = s.weights_first ? acc * w_scale[c] : xs * w_scale[c];
      const float product = s.weights_first ? first * xs : acc * first;
      const float v = product + addend[c];
      const float limited = v < s.lo ? s.lo : v > s.hi ? s.hi : v;
      const float want = std::isnan(v) ? from_bits(0x7fc00000) : limited;
      ASSERT_EQ(bits(s.y[i]), bits(want)) << "element " << i << ": " << s.y[i] << ", " << want;
    }
  }
}

TEST(EdgeSelectTest, TakesTheFirstRowAllowed) {
  for (const EdgeKernel& row : all_rows(edge_kernels))
    EXPECT_EQ(select_edge(capped(~0u, row.isa))->name, row.name);
  EXPECT_EQ(select_edge(static_cast<IsaSet>(Isa::kScalar))->isa, Isa::kScalar);
}

}  // namespace
}  // namespace qrt::edge_test
