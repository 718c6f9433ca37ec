// Every row of boundary.inc against scalar formulas written here from the contract.
#include "kernels/boundary/boundary.h"

#include <gtest/gtest.h>

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

uint8_t quantized(float x, float scale, int32_t zp, const Limits& t) {
  const float v = x / scale;
  int32_t q;
  if (std::isnan(v) || v < static_cast<float>(t.lo - zp)) {
    q = t.lo;
  } else if (v > static_cast<float>(t.hi - zp)) {
    q = t.hi;
  } else {
    q = static_cast<int32_t>(std::nearbyint(double{v})) + zp;
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

class BoundaryTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    size_t count;
    kernel_ = boundary_kernels(&count)[GetParam()];
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

  BoundaryKernel kernel_{};
  Random random_;
};

TEST_P(BoundaryTest, QuantizesTiesLimitsAndWhatIsNotANumber) {
  SCOPED_TRACE(random_.trace());
  for (const float scale : scales()) {
    const std::vector<float> x = inputs(random_, scale);
    std::vector<uint8_t> y(x.size());
    for (const Limits& t : {kUint8, kInt8}) {
      for (const int32_t zp : zero_points(t)) {
        kernel_.quantize(x.data(), x.size(), scale, zp, t.lo, t.hi, y.data());
        for (size_t i = 0; i < x.size(); ++i)
          ASSERT_EQ(int{y[i]}, int{quantized(x[i], scale, zp, t)})
              << x[i] << " / " << scale << ", zero point " << zp << ", from " << t.lo;
      }
    }
  }
}

// Odd values in every lane of block and tail.
TEST_P(BoundaryTest, QuantizesNanAndInfinityInEveryLane) {
  for (size_t n = 1; n <= 67; ++n) {
    for (size_t at = 0; at < n; ++at) {
      for (const float odd : {kNan, kInf, -kInf}) {
        std::vector<float> x(n, 7.0f);
        std::vector<uint8_t> y(n);
        x[at] = odd;
        kernel_.quantize(x.data(), n, 0.25f, 5, -128, 127, y.data());
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(int{y[i]}, int{quantized(x[i], 0.25f, 5, kInt8)}) << i << " of " << n;
      }
    }
  }
}

TEST_P(BoundaryTest, DequantizesEveryByte) {
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
TEST_P(BoundaryTest, HandlesEveryLength) {
  SCOPED_TRACE(random_.trace());
  for (size_t n = 0; n <= 200; ++n) {
    Guarded<float> real(n), back(n + 16);
    Guarded<uint8_t> q(n + 64);
    for (auto& v : real) v = random_.real(-40.0f, 40.0f);
    kernel_.quantize(real.data(), n, 0.17f, 100, 0, 255, q.data() + 64);
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(int{q[i]}, 0xA5);
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(int{q[64 + i]}, int{quantized(real[i], 0.17f, 100, kUint8)}) << i << " of " << n;
    for (const bool is_signed : {false, true}) {
      kernel_.dequantize(q.data() + 64, is_signed, n, 0.17f, 100, back.data() + 16);
      for (size_t i = 0; i < 16; ++i) ASSERT_EQ(bits(back[i]), 0xA5A5A5A5u);
      for (size_t i = 0; i < n; ++i)
        ASSERT_NO_FATAL_FAILURE(
            expect_same(back[16 + i], dequantized(q[64 + i], is_signed, 0.17f, 100), i));
    }
  }
}

TEST_P(BoundaryTest, LeavesTheBytesAfterTheOutputAlone) {
  for (size_t n = 0; n <= 130; ++n) {
    std::vector<float> real(n, 1.0f), back(n + 80, -1.0f);
    std::vector<uint8_t> q(n + 80, 0xEE);
    kernel_.quantize(real.data(), n, 0.5f, 0, 0, 255, q.data());
    for (size_t i = n; i < q.size(); ++i) ASSERT_EQ(int{q[i]}, 0xEE) << "n " << n;
    kernel_.dequantize(q.data(), false, n, 0.5f, 0, back.data());
    for (size_t i = n; i < back.size(); ++i) ASSERT_EQ(back[i], -1.0f) << "n " << n;
  }
}

TEST_P(BoundaryTest, TakesScaleAndZeroPointOfTheChannel) {
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
TEST_P(BoundaryTest, DequantizesTheWholeRangeOfInt32) {
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

size_t row_count() {
  size_t count;
  boundary_kernels(&count);
  return count;
}

INSTANTIATE_TEST_SUITE_P(Rows, BoundaryTest, ::testing::Range(size_t{0}, row_count()),
                         [](const auto& info) {
                           size_t count;
                           return std::string(boundary_kernels(&count)[info.param].name);
                         });

TEST(BoundarySelectTest, TakesTheFirstRowAllowed) {
  size_t count;
  const BoundaryKernel* rows = boundary_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(select_boundary(capped(~0u, rows[i].isa))->name, rows[i].name);
  EXPECT_EQ(select_boundary(static_cast<IsaSet>(Isa::kScalar))->isa, Isa::kScalar);
}

}  // namespace
}  // namespace qrt
