// SPDX-License-Identifier: Apache-2.0
// Elements, products and sums of every row of the float_fallback family: elementwise functions have the bits of the
// scalar row (whose own are pinned by digests, ops/float_test), products, sums and comparisons those of loops; all
// lengths of a tail, with guard pages. float_rows_test.cc tests what is computed by rows.
#include "kernels/float_fallback/float_fallback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/float_rows.h"

namespace qrt::float_fallback_test {
namespace {

using testing::Guarded;
using testing::float_rows::bits;
using testing::float_rows::canonical;
using testing::float_rows::expect_equal;
using testing::float_rows::fill;
using testing::float_rows::fill_ordinary;
using testing::float_rows::FloatFallbackTest;
using testing::float_rows::kCorners;
using testing::float_rows::kInf;
using testing::float_rows::kNaN;

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

// Indices and weights behind an output's last term may be anything: they are not added.
TEST_F(FloatFallbackTest, WeightedElementsAreAddedInOrder) {
  SCOPED_TRACE(random_.trace());
  for (const size_t taps : {1, 2, 3, 4, 7}) {
    for (const size_t n : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 71, 150}) {
      const size_t in = 41;
      Guarded<float> x(in), weights(taps * n);
      Guarded<int32_t> indices(taps * n), counts(n);
      fill_ordinary(random_, x);
      fill_ordinary(random_, weights);
      random_.fill(indices, 0, static_cast<int32_t>(in) - 1);
      random_.fill(counts, 0, static_cast<int32_t>(taps));
      x[random_.integer(0, 40)] = random_.coin() ? -kInf : kNaN;
      x[random_.integer(0, 40)] = -0.0f;
      indices[taps * n - 1] = static_cast<int32_t>(in) - 1;  // up to the guard page
      std::vector<float> want;
      for (size_t i = 0; i < n; ++i) {
        float sum = 0;
        for (int32_t t = 0; t < counts[i]; ++t) {
          const size_t at = static_cast<size_t>(t) * n + i;
          const float product = x[static_cast<size_t>(indices[at])] * weights[at];
          sum = t == 0 ? product : sum + product;
        }
        want.push_back(canonical(sum));
      }
      const FloatWeights p = {n, taps, indices.data(), weights.data(), counts.data()};
      for_rows([&](const FloatKernel& kernel) {
        Guarded<float> y(n);
        kernel.weigh(p, x.data(), y.data());
        expect_equal(y, want);
      });
    }
  }
}

TEST_F(FloatFallbackTest, WeightedLinesAreAddedInOrder) {
  SCOPED_TRACE(random_.trace());
  for (const size_t count : {1, 2, 3, 4, 7}) {
    for (const size_t n : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 71, 150}) {
      Guarded<float> x(n + 40), weights(count);
      Guarded<size_t> offsets(count);
      fill_ordinary(random_, x);
      fill_ordinary(random_, weights);
      random_.fill(offsets, 0, 40);
      offsets[count - 1] = 40;  // up to the guard page
      x[n / 2] = random_.coin() ? kInf : -kNaN;
      x[n / 3] = -0.0f;
      const FloatTaps p = {offsets.data(), weights.data(), count, 0};
      std::vector<float> want;
      for (size_t j = 0; j < n; ++j) {
        float sum = 0;
        for (size_t t = 0; t < count; ++t) {
          const float product = x[offsets[t] + j] * weights[t];
          sum = t == 0 ? product : sum + product;
        }
        want.push_back(canonical(sum));
      }
      for_rows([&](const FloatKernel& kernel) {
        Guarded<float> y(n);
        kernel.weigh_lines(p, x.data(), n, y.data());
        expect_equal(y, want);
      });
    }
  }
}

}  // namespace
}  // namespace qrt::float_fallback_test
