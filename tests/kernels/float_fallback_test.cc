// SPDX-License-Identifier: Apache-2.0
// Every row of the float_fallback family: elementwise functions have the bits of the scalar row (whose own
// are pinned by digests, ops/float_test), products, sums and comparisons those of loops; all lengths of a
// tail, with guard pages.
#include "kernels/float_fallback/float_fallback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/guarded.h"
#include "tests/support/random.h"

namespace qrt::float_fallback_test {
namespace {

using testing::Guarded;
using testing::Random;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

uint32_t bits(float f) {
  uint32_t b;
  memcpy(&b, &f, sizeof b);
  return b;
}

float canonical(float f) { return std::isnan(f) ? kNaN : f; }

// The arguments at which the functions change their form or end, and numbers that are not ordinary.
const std::vector<float> kCorners = {
    0.0f,           -0.0f,        kInf,        -kInf,   kNaN,    -kNaN,  1.0f,       -1.0f,
    0.99999994f,    -0.99999994f, 0.625f,      -0.625f, 88.8f,   -88.8f, 88.80001f,  -104.0f,
    -104.00001f,    87.5f,        0.34657359f, 1e-40f,  -1e-40f, 1e-45f, 3.4e38f,    -3.4e38f,
    1.1754944e-38f, 0.5f,         1.5f,        2.5f,    9.3f,    -9.3f,  0.70710677f};

// Fills with a third corner cases, a third random bits, and a third numbers of the size of activations.
void fill(Random& random, Guarded<float>& values) {
  for (float& v : values) {
    const int64_t kind = random.integer(0, 2);
    if (kind == 0) {
      v = kCorners[static_cast<size_t>(
          random.integer(0, static_cast<int64_t>(kCorners.size()) - 1))];
    } else if (kind == 1) {
      const auto any = static_cast<uint32_t>(random.integer(0, UINT32_MAX));
      memcpy(&v, &any, sizeof v);
    } else {
      v = random.real(-8, 8);
    }
  }
}

void fill_ordinary(Random& random, Guarded<float>& values) {
  for (float& v : values) v = random.real(-4, 4);
}

void expect_equal(const Guarded<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(bits(got[i]), bits(want[i])) << "at " << i;
}

class FloatFallbackTest : public ::testing::Test {
 protected:
  // Rows of this machine, the scalar one among them.
  void for_rows(const std::function<void(const FloatKernel&)>& check) {
    size_t count;
    const FloatKernel* kernels = float_kernels(&count);
    for (size_t i = 0; i < count; ++i) {
      SCOPED_TRACE(isa_name(kernels[i].isa));
      if (has(detected_isas() | static_cast<IsaSet>(Isa::kScalar), kernels[i].isa))
        check(kernels[i]);
    }
  }
  const FloatKernel& scalar() { return *select_float(static_cast<IsaSet>(Isa::kScalar)); }

  Random random_;
};

TEST_F(FloatFallbackTest, UnaryHasTheBitsOfTheScalarRow) {
  SCOPED_TRACE(random_.trace());
  for (const FloatUnary f :
       {FloatUnary::kExp,          FloatUnary::kLog,  FloatUnary::kSqrt,  FloatUnary::kErf,
        FloatUnary::kSigmoid,      FloatUnary::kTanh, FloatUnary::kGelu,  FloatUnary::kOrtSigmoid,
        FloatUnary::kOrtTanh,      FloatUnary::kSin,  FloatUnary::kCos,   FloatUnary::kFusedGelu,
        FloatUnary::kFloor,        FloatUnary::kCeil, FloatUnary::kRound, FloatUnary::kFusedErf,
        FloatUnary::kFusedSigmoid, FloatUnary::kTan,  FloatUnary::kAtanh, FloatUnary::kLog1p}) {
    SCOPED_TRACE(static_cast<int>(f));
    for (size_t n = 1; n <= 50; n = n == 49 ? 5000 : n + 1) {
      Guarded<float> x(n);
      fill(random_, x);
      std::vector<float> want(n);
      scalar().unary(f, x.data(), want.data(), n);
      for_rows([&](const FloatKernel& kernel) {
        Guarded<float> y(n);
        kernel.unary(f, x.data(), y.data(), n);
        expect_equal(y, want);
      });
    }
  }
}

TEST_F(FloatFallbackTest, RoundsToIntegersAsTheCLibrary) {
  SCOPED_TRACE(random_.trace());
  Guarded<float> x(4096);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = i < kCorners.size() ? kCorners[i]
           : i % 3 == 0        ? static_cast<float>(random_.integer(-9, 9)) * 0.5f
           : i % 3 == 1        ? random_.real(-2e7f, 2e7f)
                               : random_.real(-2, 2);
  const auto check = [&](FloatUnary f, float (*real)(float)) {
    std::vector<float> want;
    for (size_t i = 0; i < x.size(); ++i) want.push_back(canonical(real(x[i])));
    for_rows([&](const FloatKernel& kernel) {
      Guarded<float> y(x.size());
      kernel.unary(f, x.data(), y.data(), x.size());
      expect_equal(y, want);
    });
  };
  check(FloatUnary::kFloor, [](float v) { return std::floor(v); });
  check(FloatUnary::kCeil, [](float v) { return std::ceil(v); });
  check(FloatUnary::kRound, [](float v) { return std::nearbyint(v); });
}

using Real = long double (*)(long double);

// Returns the greatest distance from the real function, in units in the last place of it, over floats of all sizes and signs, every
// `step`-th one, and over a dense set of ordinary ones. A result is NaN or infinite where the nearest float is, and nowhere else.
double distance_in_ulps(const FloatKernel& kernel, FloatUnary f, Real real, uint32_t step) {
  std::vector<float> x = kCorners;
  for (uint64_t b = 0; b <= UINT32_MAX; b += step) {
    const auto any = static_cast<uint32_t>(b);
    float v;
    memcpy(&v, &any, sizeof v);
    x.push_back(v);
  }
  for (int i = -40000; i <= 40000; ++i) x.push_back(static_cast<float>(i) * 0.00037f);
  std::vector<float> y(x.size());
  kernel.unary(f, x.data(), y.data(), x.size());
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double exact = real(static_cast<long double>(x[i]));
    const auto nearest = static_cast<float>(exact);
    EXPECT_EQ(std::isnan(y[i]), std::isnan(nearest)) << "of " << x[i];
    if (std::isnan(nearest)) continue;
    EXPECT_EQ(std::isinf(y[i]), std::isinf(nearest)) << "of " << x[i];
    if (std::isinf(nearest)) continue;
    int exponent;
    std::frexp(exact, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent - 24, -149));
    const auto distance = std::fabs(static_cast<long double>(y[i]) - exact) / unit;
    worst = std::max(worst, static_cast<double>(distance));
  }
  return worst;
}

long double gelu(long double x) {
  if (std::isinf(x)) return x < 0 ? std::numeric_limits<long double>::quiet_NaN() : x;
  return x * std::erfc(-x * std::sqrt(0.5L)) / 2;
}

// Every function that converters write is here, but kOrtSigmoid and kOrtTanh, whose bits are those of ONNX Runtime, and the roundings,
// which are exact.
TEST_F(FloatFallbackTest, FunctionsAreWithinTwoUnitsInTheLastPlace) {
  const auto check = [&](FloatUnary f, Real real, double most = 2) {
    SCOPED_TRACE(static_cast<int>(f));
    EXPECT_LE(distance_in_ulps(*select_float(detected_isas()), f, real, 65521), most);
  };
  check(FloatUnary::kExp, [](long double x) { return std::exp(x); });
  check(FloatUnary::kLog, [](long double x) { return std::log(x); });
  check(FloatUnary::kLog1p, [](long double x) { return std::log1p(x); });
  check(
      FloatUnary::kSqrt, [](long double x) { return std::sqrt(x); }, 0.5);
  check(FloatUnary::kTanh, [](long double x) { return std::tanh(x); });
  check(
      FloatUnary::kFusedErf, [](long double x) { return std::erf(x); }, 1);
  check(FloatUnary::kFusedGelu, gelu);
  check(FloatUnary::kFusedSigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); });
  constexpr double kNearest = 0.5 + 0x1p-10;
  check(
      FloatUnary::kSin, [](long double x) { return std::sin(x); }, kNearest);
  check(
      FloatUnary::kCos, [](long double x) { return std::cos(x); }, kNearest);
  check(
      FloatUnary::kTan, [](long double x) { return std::tan(x); }, kNearest);
  check(
      FloatUnary::kAsin, [](long double x) { return std::asin(x); }, kNearest);
  check(
      FloatUnary::kAcos, [](long double x) { return std::acos(x); }, kNearest);
  check(
      FloatUnary::kAtan, [](long double x) { return std::atan(x); }, kNearest);
  check(
      FloatUnary::kSinh, [](long double x) { return std::sinh(x); }, kNearest);
  check(
      FloatUnary::kCosh, [](long double x) { return std::cosh(x); }, kNearest);
  check(
      FloatUnary::kAsinh, [](long double x) { return std::asinh(x); }, kNearest);
  check(
      FloatUnary::kAcosh,
      // Below 1, musl's acoshl is a number where it should be NaN.
      [](long double x) {
        return x < 1 ? std::numeric_limits<long double>::quiet_NaN() : std::acosh(x);
      },
      kNearest);
  check(
      FloatUnary::kAtanh, [](long double x) { return std::atanh(x); }, kNearest);
}

TEST_F(FloatFallbackTest, PowersOfAllSizesAreTheNearestFloats) {
  SCOPED_TRACE(random_.trace());
  for (int i = 0; i < 200000; ++i) {
    const float a = std::exp(random_.real(-88, 88)) * (random_.integer(0, 3) == 0 ? -1 : 1);
    const float b = i % 2 == 0 ? static_cast<float>(random_.integer(-9, 9)) : random_.real(-4, 4);
    const double exact = std::pow(static_cast<double>(a), static_cast<double>(b));
    float y;
    scalar().binary(FloatBinary::kPow, &a, 1, &b, 1, &y, 1);
    ASSERT_EQ(bits(y), bits(canonical(static_cast<float>(exact)))) << a << " to the power " << b;
  }
}

// An element's result does not depend on its place. The scalar row takes vectors, too.
TEST_F(FloatFallbackTest, ElementsDoNotDependOnTheirPlace) {
  for (const FloatUnary f :
       {FloatUnary::kExp, FloatUnary::kLog, FloatUnary::kErf, FloatUnary::kSigmoid,
        FloatUnary::kTanh, FloatUnary::kGelu, FloatUnary::kOrtSigmoid, FloatUnary::kOrtTanh,
        FloatUnary::kFusedGelu, FloatUnary::kFusedErf, FloatUnary::kFusedSigmoid,
        FloatUnary::kLog1p}) {
    std::vector<float> all(kCorners.size());
    scalar().unary(f, kCorners.data(), all.data(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      float y;
      scalar().unary(f, &kCorners[i], &y, 1);
      EXPECT_EQ(bits(y), bits(all[i])) << static_cast<int>(f) << " of " << kCorners[i];
    }
  }
}

float apply(FloatBinary f, float a, float b) {
  switch (f) {
    case FloatBinary::kAdd: return a + b;
    case FloatBinary::kSub: return a - b;
    case FloatBinary::kMul: return a * b;
    case FloatBinary::kDiv: return a / b;
    case FloatBinary::kMin: return a < b ? a : b;
    case FloatBinary::kMax: return a > b ? a : b;
    case FloatBinary::kEqual: return a == b ? 1.0f : 0.0f;
    case FloatBinary::kLess: return a < b ? 1.0f : 0.0f;
    case FloatBinary::kLessOrEqual: return a <= b ? 1.0f : 0.0f;
    case FloatBinary::kPow:
      return static_cast<float>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case FloatBinary::kFmod: return std::fmod(a, b);
    case FloatBinary::kNanMin: return a < b || std::isnan(a) ? a : b;
    case FloatBinary::kNanMax: return a > b || std::isnan(a) ? a : b;
    case FloatBinary::kKeepNonzero: return b == 0 ? -0.0f : a;
    case FloatBinary::kKeepZero: return b == 0 ? a : -0.0f;
  }
  return 0;
}

TEST_F(FloatFallbackTest, BinaryIsTheOperation) {
  SCOPED_TRACE(random_.trace());
  for (int f = 0; f <= static_cast<int>(FloatBinary::kKeepZero); ++f) {
    const auto function = static_cast<FloatBinary>(f);
    for (const size_t n : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 400}) {
      for (int scalars = 0; scalars < 4; ++scalars) {
        const size_t a_step = scalars & 1 ? 0 : 1, b_step = scalars & 2 ? 0 : 1;
        Guarded<float> a(a_step ? n : 1), b(b_step ? n : 1);
        fill(random_, a);
        fill(random_, b);
        std::vector<float> want(n);
        for (size_t i = 0; i < n; ++i)
          want[i] = canonical(apply(function, a[i * a_step], b[i * b_step]));
        for_rows([&](const FloatKernel& kernel) {
          Guarded<float> y(n);
          kernel.binary(function, a.data(), a_step, b.data(), b_step, y.data(), n);
          expect_equal(y, want);
        });
      }
    }
  }
}

TEST_F(FloatFallbackTest, ProductAddsInTheOrderOfK) {
  SCOPED_TRACE(random_.trace());
  for (const size_t k : {1, 2, 3, 31}) {
    for (const size_t n : {1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 37, 64, 71}) {
      for (const size_t rows : {1, 2, 3, 4, 5, 6, 7, 13}) {
        Guarded<float> a(rows * k), b(k * n);
        // Infinities and NaNs in a few, so that not every sum is one.
        fill_ordinary(random_, a);
        fill_ordinary(random_, b);
        a[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(rows * k) - 1))] = kInf;
        b[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(k * n) - 1))] = -0.0f;
        if (random_.integer(0, 3) == 0) b[0] = -kNaN;
        std::vector<float> want;
        for (size_t r = 0; r < rows; ++r) {
          for (size_t j = 0; j < n; ++j) {
            float sum = a[r * k] * b[j];
            for (size_t i = 1; i < k; ++i) sum = sum + a[r * k + i] * b[i * n + j];
            want.push_back(canonical(sum));
          }
        }
        for_rows([&](const FloatKernel& kernel) {
          Guarded<float> y(rows * n);
          kernel.product(a.data(), rows, b.data(), k, n, y.data());
          expect_equal(y, want);
        });
      }
    }
  }
}

// A fused product adds in the order of k, with rows of all three matrices apart and guard pages
// behind the last of each.
TEST_F(FloatFallbackTest, FusedProductAddsInTheOrderOfK) {
  SCOPED_TRACE(random_.trace());
  for (const size_t k : {1, 2, 3, 31}) {
    for (const size_t n : {1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 64, 71}) {
      for (const size_t rows : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 18, 19, 25}) {
        const auto stride = [&](size_t least) {
          return least + static_cast<size_t>(random_.integer(0, 5));
        };
        const FusedProduct p = {k, n, stride(k), stride(n), stride(n)};
        const auto floats = [](size_t count, size_t length, size_t apart) {
          return (count - 1) * apart + length;
        };
        Guarded<float> a(floats(rows, k, p.a_stride)), b(floats(k, n, p.b_stride));
        fill_ordinary(random_, a);
        fill_ordinary(random_, b);
        a[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(a.size()) - 1))] = kInf;
        b[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(b.size()) - 1))] = -0.0f;
        if (random_.integer(0, 3) == 0) b[0] = -kNaN;
        std::vector<float> want(floats(rows, n, p.y_stride), 0.5f);
        for (size_t r = 0; r < rows; ++r) {
          for (size_t j = 0; j < n; ++j) {
            float sum = a[r * p.a_stride] * b[j];
            for (size_t i = 1; i < k; ++i)
              sum = std::fma(a[r * p.a_stride + i], b[i * p.b_stride + j], sum);
            want[r * p.y_stride + j] = canonical(sum);
          }
        }
        for_rows([&](const FloatKernel& kernel) {
          Guarded<float> y(want.size());
          for (float& v : y) v = 0.5f;
          kernel.fused_product(p, a.data(), rows, b.data(), y.data());
          expect_equal(y, want);
        });
      }
    }
  }
}

// 2^64 e^x for x <= 0.
float large_exp(float given) {
  const float x = -104.0f > given ? -104.0f : given;
  const float n = std::fma(x, 1.44269504088896341f, 0x1.8p23f) - 0x1.8p23f;
  float r = std::fma(n, -0.693359375f, x);
  r = std::fma(n, 2.12194440e-4f, r);
  float p = 1.3814467e-3f;
  for (const float c : {8.368781e-3f, 4.1668393e-2f, 1.6666520e-1f, 4.9999994e-1f, 1.0f, 1.0f})
    p = std::fma(p, r, c);
  return std::isnan(x) ? x : std::ldexp(p, static_cast<int>(n) + 64);
}

std::vector<float> lane_softmax_of(std::vector<float> x, const LaneSoftmax& p) {
  const size_t n = p.n;
  for (float& v : x) v = p.scaling == FloatBinary::kDiv ? v / p.scale : v * p.scale;
  float most = x[0];
  bool any_nan = false;
  for (size_t i = 0; i < n; ++i) {
    most = std::max(most, x[i]);
    any_nan |= std::isnan(x[i]);
  }
  any_nan |= std::isinf(most);  // less itself it is none
  std::vector<float> y(n, kNaN);
  if (any_nan) return y;
  float lane[16] = {};
  for (size_t i = 0; i < n; ++i) {
    y[i] = large_exp(x[i] - most);
    lane[i % 16] = lane[i % 16] + y[i];
  }
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) lane[i] = lane[i] + lane[i + half];
  const float inverse = 1.0f / lane[0];
  for (float& e : y) {
    const float q = e * inverse;
    e = std::fma(std::fma(-q, lane[0], e), inverse, q);
  }
  return y;
}

TEST_F(FloatFallbackTest, LaneSoftmaxFollowsItsDefinition) {
  SCOPED_TRACE(random_.trace());
  for (const int kind : {0, 1, 2}) {
    for (const size_t n :
         {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 79, 80, 81, 100, 150}) {
      for (const size_t rows : {1, 7, 8, 9, 17}) {
        const size_t stride = n + static_cast<size_t>(random_.integer(0, 3));
        Guarded<float> x((rows - 1) * stride + n);
        kind == 0 ? fill(random_, x) : fill_ordinary(random_, x);
        // Far apart, so that some exponentials are less than any float, and some masked.
        for (float& v : x)
          if (kind == 2) v = random_.integer(0, 9) == 0 ? -kInf : v * 20;
        std::vector<float> want(x.begin(), x.end());
        const LaneSoftmax p = {n, stride, random_.coin() ? FloatBinary::kDiv : FloatBinary::kMul,
                               random_.coin() ? 1.0f : random_.real(0.1f, 6)};
        for (size_t r = 0; r < rows; ++r) {
          const float* const values = x.data() + r * stride;
          const std::vector<float> row = lane_softmax_of({values, values + n}, p);
          std::copy(row.begin(), row.end(), want.begin() + static_cast<ptrdiff_t>(r * stride));
        }
        for_rows([&](const FloatKernel& kernel) {
          Guarded<float> y(x.size());
          std::copy(x.begin(), x.end(), y.begin());
          kernel.lane_softmax(p, x.data(), rows, y.data());
          expect_equal(y, want);
          std::copy(x.begin(), x.end(), y.begin());
          kernel.lane_softmax(p, y.data(), rows, y.data());
          expect_equal(y, want);
        });
      }
    }
  }
}

// Returns one element of OrtGemm's orders; `b` is [k, n], for kEights [n, k].
float ort_gemm_element(const OrtGemm& g, const float* a, const float* b, size_t j, float y) {
  const auto product = [&](size_t i) { return a[i] * b[i * g.n + j]; };
  size_t i = 0;
  switch (g.order) {
    case OrtGemmOrder::kBlocks:
      while (i < g.k) {
        float sum = 0;
        for (const size_t end = std::min(g.k, i + g.block); i < end; ++i)
          sum = std::fma(a[i], b[i * g.n + j], sum);
        y = std::fma(sum, g.alpha, y);
      }
      return y;
    case OrtGemmOrder::kFours:
      for (; i + 4 <= g.k; i += 4)
        y = (((product(i) + product(i + 1)) + product(i + 2)) + product(i + 3)) + y;
      if ((g.k - i) & 2) {
        y = (product(i) + product(i + 1)) + y;
        i += 2;
      }
      return i < g.k ? product(i) + y : y;
    case OrtGemmOrder::kEights: break;
  }
  float s[8] = {};
  for (; i < g.k; ++i) s[i % 8] = s[i % 8] + a[i] * b[j * g.k + i];
  const size_t whole = g.n / 4 * 4;
  float sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  if (j < whole)
    sum = (((s[0] + s[1]) + s[2]) + s[3]) + (((s[4] + s[5]) + s[6]) + s[7]);
  else if (j < g.n / 2 * 2)
    sum = ((s[0] + s[2]) + (s[4] + s[6])) + ((s[1] + s[3]) + (s[5] + s[7]));
  return sum + y;
}

TEST_F(FloatFallbackTest, GemmsAddInTheOrdersOfOnnxRuntime) {
  SCOPED_TRACE(random_.trace());
  for (const OrtGemmOrder order :
       {OrtGemmOrder::kBlocks, OrtGemmOrder::kFours, OrtGemmOrder::kEights}) {
    SCOPED_TRACE(static_cast<int>(order));
    for (const size_t k : {1, 2, 3, 5, 8, 9, 31, 64}) {
      for (const size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 71, 600}) {
        for (const size_t rows : {1, 2, 5, 7, 13}) {
          const size_t bias_step = rows > 1 && random_.coin() ? 0 : n;
          Guarded<float> a(rows * k), b(k * n), bias(bias_step == 0 ? n : rows * n);
          fill_ordinary(random_, a);
          fill_ordinary(random_, b);
          fill_ordinary(random_, bias);
          const auto block = static_cast<size_t>(random_.integer(1, static_cast<int64_t>(k) + 3));
          const OrtGemm g = {order, k, n, block, random_.coin() ? 1.0f : 0.37f};
          std::vector<float> want;
          for (size_t r = 0; r < rows; ++r)
            for (size_t j = 0; j < n; ++j)
              want.push_back(canonical(
                  ort_gemm_element(g, a.data() + r * k, b.data(), j, bias[r * bias_step + j])));
          for_rows([&](const FloatKernel& kernel) {
            Guarded<float> y(rows * n);
            kernel.ort_gemm(g, a.data(), rows, b.data(), bias.data(), bias_step, y.data());
            expect_equal(y, want);
          });
        }
      }
    }
  }
}

// Gemms of some columns of a wider right-hand side, into columns of a wider result, are right.
TEST_F(FloatFallbackTest, GemmsOfSomeColumns) {
  SCOPED_TRACE(random_.trace());
  for (const size_t n : {1, 5, 8, 16, 17, 40, 530}) {
    for (const size_t rows : {1, 4, 7, 13}) {
      const size_t k = 19, b_stride = n + 3, y_stride = n + 5;
      Guarded<float> a(rows * k), b(k * b_stride), bias(rows * y_stride);
      fill_ordinary(random_, a);
      fill_ordinary(random_, b);
      fill_ordinary(random_, bias);
      const OrtGemm g = {OrtGemmOrder::kBlocks, k, n, 7, 1.0f, b_stride, y_stride};
      const OrtGemm dense = {OrtGemmOrder::kBlocks, k, n, 7, 1.0f};
      std::vector<float> columns, want(rows * y_stride, 0.5f);
      for (size_t i = 0; i < k; ++i)
        for (size_t j = 0; j < n; ++j) columns.push_back(b[i * b_stride + j]);
      for (size_t r = 0; r < rows; ++r)
        for (size_t j = 0; j < n; ++j)
          want[r * y_stride + j] = canonical(
              ort_gemm_element(dense, a.data() + r * k, columns.data(), j, bias[r * y_stride + j]));
      for_rows([&](const FloatKernel& kernel) {
        Guarded<float> y(rows * y_stride);
        for (float& v : y) v = 0.5f;
        kernel.ort_gemm(g, a.data(), rows, b.data(), bias.data(), y_stride, y.data());
        expect_equal(y, want);
        // Rows of b that are listed one by one give the same result.
        std::vector<size_t> offsets;
        for (size_t i = 0; i < k; ++i) offsets.push_back(i * b_stride);
        OrtGemm listed = g;
        listed.b_stride = 0;
        listed.b_offsets = offsets.data();
        for (float& v : y) v = 0.5f;
        kernel.ort_gemm(listed, a.data(), rows, b.data(), bias.data(), y_stride, y.data());
        expect_equal(y, want);
      });
    }
  }
}

TEST_F(FloatFallbackTest, TapsAreAddedByFours) {
  SCOPED_TRACE(random_.trace());
  for (const size_t count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 25, 26, 27}) {
    for (const size_t n : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 71, 150}) {
      Guarded<float> x(n + 40), weights(count);
      Guarded<size_t> offsets(count);
      fill_ordinary(random_, x);
      fill_ordinary(random_, weights);
      random_.fill(offsets, 0, 40);
      offsets[count - 1] = 40;  // up to the guard page
      if (random_.integer(0, 2) == 0) x[n / 2] = random_.coin() ? kInf : -kNaN;
      const FloatTaps p = {offsets.data(), weights.data(), count, random_.real(-4, 4)};
      std::vector<float> want;
      for (size_t j = 0; j < n; ++j) {
        std::vector<float> read(count);
        for (size_t t = 0; t < count; ++t) read[t] = x[offsets[t] + j];
        const OrtGemm g = {OrtGemmOrder::kFours, count, 1, 0, 1.0f};
        want.push_back(canonical(ort_gemm_element(g, weights.data(), read.data(), 0, 0) + p.bias));
      }
      for_rows([&](const FloatKernel& kernel) {
        Guarded<float> y(n);
        kernel.sum_taps(p, x.data(), n, y.data());
        expect_equal(y, want);
      });
    }
  }
}

// Recurrent stages have the bits of the scalar row, whose stages are checked in tests/ops/recurrent_test.cc.
TEST_F(FloatFallbackTest, RecurrentStagesHaveTheBitsOfTheScalarRow) {
  SCOPED_TRACE(random_.trace());
  for (const RecurrentStage stage : {RecurrentStage::kLstm, RecurrentStage::kGruReset,
                                     RecurrentStage::kGruOutput, RecurrentStage::kRnn})
    for (size_t n = 1; n <= 40; ++n) {
      Guarded<float> sums(4 * n), bias(4 * n), peepholes(3 * n), x(n), before(n);
      for (Guarded<float>* values : {&sums, &bias, &peepholes, &x, &before}) fill(random_, *values);
      RecurrentGates g{};
      g.cells = n;
      g.bias = bias.data();
      g.peepholes = random_.coin() ? peepholes.data() : nullptr;
      g.clip = random_.coin() ? 2.5f : std::numeric_limits<float>::infinity();
      g.nan_is_clip = random_.coin();
      g.couples_forget = random_.coin();
      g.is_relu = random_.coin();
      std::vector<float> content(before.begin(), before.end()), want(n);
      scalar().recurrent(stage, g, sums.data(), x.data(), content.data(), want.data());
      for_rows([&](const FloatKernel& kernel) {
        Guarded<float> now(n), y(n);
        for (size_t i = 0; i < n; ++i) now[i] = before[i];
        kernel.recurrent(stage, g, sums.data(), x.data(), now.data(), y.data());
        expect_equal(y, want);
        if (stage == RecurrentStage::kLstm) expect_equal(now, content);
      });
    }
}

// Returns one row by the definitions of float_fallback.h; exponentials and logarithms by the scalar row.
std::vector<float> row_of(FloatRows f, const FloatKernel& scalar, const float* x, size_t n,
                          float epsilon) {
  float sum = x[0], most = x[0], least = x[0], product = x[0];
  bool has_nan = std::isnan(x[0]);
  for (size_t i = 1; i < n; ++i) {
    sum = sum + x[i];
    most = most > x[i] ? most : x[i];
    least = least < x[i] ? least : x[i];
    product = product * x[i];
    has_nan = has_nan || std::isnan(x[i]);
  }
  std::vector<float> y(n);
  const auto count = static_cast<float>(n);
  if (f == FloatRows::kSoftmax || f == FloatRows::kLogSoftmax) {
    std::vector<float> e(n);
    for (size_t i = 0; i < n; ++i) y[i] = x[i] - most;
    scalar.unary(FloatUnary::kExp, y.data(), e.data(), n);
    float of_e = 0;
    for (const float v : e) of_e = of_e + v;
    float log_of_e;
    scalar.unary(FloatUnary::kLog, &of_e, &log_of_e, 1);
    for (size_t i = 0; i < n; ++i)
      y[i] = canonical(f == FloatRows::kSoftmax ? e[i] / of_e : y[i] - log_of_e);
    return y;
  }
  if (f == FloatRows::kNormalize) {
    const float mean = sum / count;
    float squares = 0;
    for (size_t i = 0; i < n; ++i) squares = squares + (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i < n; ++i)
      y[i] = canonical((x[i] - mean) / std::sqrt(squares / count + epsilon));
    return y;
  }
  if (f == FloatRows::kNanMax || f == FloatRows::kNanMin) {
    const float extreme = f == FloatRows::kNanMax ? most : least;
    return {canonical(has_nan ? std::numeric_limits<float>::quiet_NaN() : extreme)};
  }
  return {canonical(f == FloatRows::kSum       ? sum
                    : f == FloatRows::kMean    ? sum / count
                    : f == FloatRows::kProduct ? product
                    : f == FloatRows::kMax     ? most
                                               : least)};
}

TEST_F(FloatFallbackTest, RowsFollowTheirDefinition) {
  SCOPED_TRACE(random_.trace());
  for (const FloatRows f : {FloatRows::kSoftmax, FloatRows::kLogSoftmax, FloatRows::kNormalize,
                            FloatRows::kSum, FloatRows::kMean, FloatRows::kMax, FloatRows::kMin,
                            FloatRows::kProduct, FloatRows::kNanMax, FloatRows::kNanMin}) {
    SCOPED_TRACE(static_cast<int>(f));
    for (const bool corners : {false, true}) {
      for (const size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100}) {
        for (const size_t rows : {1, 7, 8, 9, 17}) {
          Guarded<float> x(rows * n);
          corners ? fill(random_, x) : fill_ordinary(random_, x);
          std::vector<float> want;
          for (size_t r = 0; r < rows; ++r)
            for (const float v : row_of(f, scalar(), x.data() + r * n, n, 0.25f)) want.push_back(v);
          for_rows([&](const FloatKernel& kernel) {
            Guarded<float> y(want.size());
            kernel.rows(f, 0.25f, x.data(), y.data(), rows, n);
            expect_equal(y, want);
          });
        }
      }
    }
  }
}

TEST_F(FloatFallbackTest, LayerNormHasTheBitsOfTheScalarRow) {
  SCOPED_TRACE(random_.trace());
  for (const bool has_bias : {false, true}) {
    for (size_t n = 1; n <= 100; n = n == 34 ? 96 : n + 1) {
      // All at once, at the end some once more, fewer than are taken side by side.
      const size_t rows = n % 3 == 0 ? 8 : n % 3 == 1 ? 9 : 3;
      Guarded<float> x(rows * n), scale(n), bias(n);
      fill_ordinary(random_, x);
      fill_ordinary(random_, scale);
      fill_ordinary(random_, bias);
      x[0] = kCorners[static_cast<size_t>(random_.integer(0, 5))];
      const float* b = has_bias ? bias.data() : nullptr;
      std::vector<float> want(rows * n);
      scalar().layer_norm(1e-5f, x.data(), scale.data(), b, want.data(), rows, n);
      for_rows([&](const FloatKernel& kernel) {
        Guarded<float> y(rows * n);
        kernel.layer_norm(1e-5f, x.data(), scale.data(), b, y.data(), rows, n);
        expect_equal(y, want);
      });
    }
  }
}

// Returns the result of the three steps one after the other: dequantised, normalised, quantised.
std::vector<uint8_t> in_three_steps(const FloatKernel& kernel, const LayerNormBytes& p,
                                    const Guarded<uint8_t>& x, size_t rows, size_t n) {
  const EdgeKernel& edge = *select_edge(static_cast<IsaSet>(Isa::kScalar));
  std::vector<float> real(rows * n), normal(rows * n);
  std::vector<uint8_t> y(rows * n);
  edge.dequantize(x.data(), false, rows * n, p.x_scale, p.x_zero_point, real.data());
  kernel.layer_norm(p.epsilon, real.data(), p.scale, p.bias, normal.data(), rows, n);
  edge.quantize(normal.data(), rows * n, p.y_scale, p.y_zero_point, p.lo, p.hi, y.data());
  return y;
}

TEST_F(FloatFallbackTest, LayerNormOfBytesIsThreeSteps) {
  SCOPED_TRACE(random_.trace());
  const auto check = [&](LayerNormBytes p, const Guarded<uint8_t>& x, size_t rows, size_t n) {
    const std::vector<uint8_t> want = in_three_steps(scalar(), p, x, rows, n);
    for_rows([&](const FloatKernel& kernel) {
      if (kernel.layer_norm_bytes == nullptr) return;
      p.edge = select_edge(detected_isas());
      Guarded<uint8_t> y(rows * n);
      Guarded<float> floats(kLayerNormRows * n, 64);
      kernel.layer_norm_bytes(p, x.data(), rows, n, floats.data(), y.data());
      ASSERT_EQ(std::vector<uint8_t>(y.begin(), y.end()), want) << rows << " x " << n;
    });
  };
  for (size_t n = kMinLayerNormBytes; n <= 197; n = n == 70 ? 192 : n + 1) {
    const size_t rows = static_cast<size_t>(random_.integer(1, 20));
    Guarded<uint8_t> x(rows * n);
    random_.fill(x, 0, 255);
    Guarded<float> scale(n), bias(n);
    fill_ordinary(random_, scale);
    fill_ordinary(random_, bias);
    LayerNormBytes p = {};
    p.x_scale = random_.scale(static_cast<int>(random_.integer(-8, 8)));
    p.y_scale = random_.scale(static_cast<int>(random_.integer(-8, 2)));
    p.x_zero_point = static_cast<int32_t>(random_.integer(0, 255));
    p.lo = random_.coin() ? 0 : -128;
    p.hi = p.lo + 255;
    p.y_zero_point = static_cast<int32_t>(random_.integer(p.lo, p.hi));
    p.epsilon = 1e-5f;
    p.scale = scale.data();
    p.bias = random_.coin() ? bias.data() : nullptr;
    ASSERT_NO_FATAL_FAILURE(check(p, x, rows, n));
    // Whatever a file holds.
    fill(random_, scale);
    fill(random_, bias);
    ASSERT_NO_FATAL_FAILURE(check(p, x, rows, n));
    p.x_scale = random_.coin() ? 0x1p-60f : 0x1p60f;
    p.y_scale = random_.coin() ? 0x1p-60f : 0x1p60f;
    p.epsilon = 0;
    ASSERT_NO_FATAL_FAILURE(check(p, x, rows, n));
    // Rows of equal values become their bias: ties of the quotient, and what is next to them.
    for (size_t r = 0; r < rows; ++r)
      for (size_t i = 0; i < n; ++i) x[r * n + i] = static_cast<uint8_t>(7 * r);
    p.y_scale = random_.scale(-3);
    p.epsilon = 1e-5f;
    for (size_t i = 0; i < n; ++i) {
      scale[i] = 1;
      bias[i] = p.y_scale * (static_cast<float>(random_.integer(-300, 300)) + 0.5f);
      const int64_t aside = random_.integer(-1, 1);
      if (aside != 0) bias[i] = std::nextafter(bias[i], aside < 0 ? -kInf : kInf);
    }
    p.bias = bias.data();
    ASSERT_NO_FATAL_FAILURE(check(p, x, rows, n));
  }
}

// A LayerNormalization of bytes has every bit of the floats: a row less its own results leaves
// nothing, unless a bit of its mean or deviation differs.
TEST_F(FloatFallbackTest, LayerNormOfBytesHasEveryBitOfTheFloats) {
  SCOPED_TRACE(random_.trace());
  constexpr float kLarge = 0x1p26f;
  for (size_t n = kMinLayerNormBytes; n <= 4096; n = n == 70 ? 1000 : n == 1000 ? 4096 : n + 1) {
    Guarded<uint8_t> x(n), y(n);
    Guarded<float> scale(n), bias(n), floats(kLayerNormRows * n, 64);
    std::vector<float> real(n);
    random_.fill(x, 0, 255);
    LayerNormBytes p = {};
    p.x_scale = random_.real(1, 2);
    p.x_zero_point = static_cast<int32_t>(random_.integer(0, 255));
    for (size_t i = 0; i < n; ++i) {
      real[i] = static_cast<float>(x[i] - p.x_zero_point) * p.x_scale;
      scale[i] = 1;
    }
    scalar().layer_norm(0, real.data(), scale.data(), nullptr, bias.data(), 1, n);
    for (size_t i = 0; i < n; ++i) {
      scale[i] = kLarge;
      bias[i] = bias[i] * -kLarge;
    }
    p.y_scale = 0.5f;
    p.hi = 255;
    p.y_zero_point = 128;
    p.edge = select_edge(detected_isas());
    p.scale = scale.data();
    p.bias = bias.data();
    const std::vector<uint8_t> want(n, 128);
    ASSERT_EQ(in_three_steps(scalar(), p, x, 1, n), want);
    for_rows([&](const FloatKernel& kernel) {
      if (kernel.layer_norm_bytes == nullptr) return;
      kernel.layer_norm_bytes(p, x.data(), 1, n, floats.data(), y.data());
      ASSERT_EQ(std::vector<uint8_t>(y.begin(), y.end()), want) << n;
    });
  }
}

}  // namespace
}  // namespace qrt::float_fallback_test
