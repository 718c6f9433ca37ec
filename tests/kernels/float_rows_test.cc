// SPDX-License-Identifier: Apache-2.0
// Functions that every row of the float_fallback family computes by rows of a tensor: softmax, recurrent stages, reductions and
// normalisations follow their definitions or have the bits of the scalar row; all lengths of a tail, with guard pages.
#include "tests/support/float_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/float_fallback/float_fallback.h"

namespace qrt::float_rows_test {
namespace {

using testing::Guarded;
using testing::float_rows::canonical;
using testing::float_rows::expect_equal;
using testing::float_rows::fill;
using testing::float_rows::fill_ordinary;
using testing::float_rows::FloatFallbackTest;
using testing::float_rows::kCorners;
using testing::float_rows::kInf;
using testing::float_rows::kNaN;

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
}  // namespace qrt::float_rows_test
