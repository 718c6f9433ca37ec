// SPDX-License-Identifier: Apache-2.0
// Float: layers left in float against the C library within the stated error; their bits,
// which are the same everywhere, as digests; models that must be refused.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/float_fallback/float_fallback.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::float_test {
namespace {

using F = fb::FloatFunction;
using testing::Bytes;
using testing::bytes_of;

constexpr float kInf = std::numeric_limits<float>::infinity();

// Returns finite values of all magnitudes, and corner cases.
std::vector<float> samples() {
  std::vector<float> x = {0.0f,  -0.0f,  1.0f,    -1.0f,  0.625f, 0.5f,    88.7f, -87.0f, 1e-40f,
                          1e30f, -1e30f, 3.4e38f, 1e-30f, 104.5f, -103.5f, 9.3f,  -9.3f};
  for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<float>(i) * 0.01f);
  return x;
}

std::vector<float> unary(FloatUnary f, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  select_float(detected_isas())->unary(f, x.data(), y.data(), x.size());
  return y;
}

uint64_t digest(const std::vector<float>& values) {
  uint64_t h = 14695981039346656037u;
  for (const uint8_t b : bytes_of(values)) h = (h ^ b) * 1099511628211u;
  return h;
}

void expect_close(FloatUnary f, const std::function<double(double)>& real, double ulps,
                  double absolute) {
  const std::vector<float> x = samples(), y = unary(f, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = real(static_cast<double>(x[i]));
    if (std::isnan(expected) || std::fabs(expected) > 3.4e38) {
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(y[i]) : std::isinf(y[i])) << x[i];
      continue;
    }
    const double step = std::fabs(static_cast<double>(
        std::nextafter(static_cast<float>(expected), kInf) - static_cast<float>(expected)));
    EXPECT_NEAR(static_cast<double>(y[i]), expected, ulps * step + absolute) << x[i];
  }
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

// Functions that older files have, and those with the bits of ONNX Runtime. kernels/float_fallback_test.cc measures the others.
TEST(Float, OtherFunctionsAreClose) {
  expect_close(
      FloatUnary::kErf, [](double x) { return std::erf(x); }, 0, 3e-7);
  expect_close(
      FloatUnary::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 3, 1e-38);
  expect_close(FloatUnary::kGelu, gelu, 4, 3e-6);
  expect_close(
      FloatUnary::kOrtTanh, [](double x) { return std::tanh(x); }, 0, 1e-6);
  expect_close(
      FloatUnary::kOrtSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 0, 1e-6);
}

TEST(Float, NaNAndInfinity) {
  const float nan = std::nanf("");
  EXPECT_EQ(unary(FloatUnary::kExp, {kInf, -kInf}), (std::vector<float>{kInf, 0.0f}));
  EXPECT_EQ(unary(FloatUnary::kLog, {kInf, 0.0f}), (std::vector<float>{kInf, -kInf}));
  EXPECT_EQ(unary(FloatUnary::kTanh, {kInf, -kInf}), (std::vector<float>{1.0f, -1.0f}));
  for (const FloatUnary f : {FloatUnary::kSin, FloatUnary::kCos})
    for (const float y : unary(f, {kInf, -kInf})) EXPECT_TRUE(std::isnan(y));
  EXPECT_TRUE(std::signbit(unary(FloatUnary::kSin, {-0.0f})[0]));
  // Always the same one.
  for (const float x : {nan, -nan})
    for (const float y : unary(FloatUnary::kLog, {x, -1.0f}))
      EXPECT_EQ(bytes_of(std::vector<float>{y}), (Bytes{0, 0, 0xc0, 0x7f}));
}

// One operator from FLOAT32 inputs.
testing::ModelBuilder model(F function, const std::vector<Shape>& inputs, const Shape& output,
                            float epsilon = 0) {
  testing::ModelBuilder m;
  std::vector<uint32_t> ids;
  for (const Shape& s : inputs) ids.push_back(m.input(s, DType::kFloat32));
  const uint32_t y = m.output(output, DType::kFloat32);
  fb::FloatOptionsT o;
  o.function = function;
  o.epsilon = testing::float_bits(epsilon);
  m.op(o, ids, {y});
  return m;
}

std::vector<float> random_floats(testing::Random* random, size_t n) {
  std::vector<float> v(n);
  for (float& f : v) f = random->real(-4, 4);
  return v;
}

TEST(Float, UnaryOfAnySizeAndThreads) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const int64_t n : {1, 15, 16, 17, 5003}) {
    const std::vector<float> x = random_floats(&random, static_cast<size_t>(n));
    testing::expect_outputs(model(F::TANH, {{1, n}}, {1, n}), 1, {bytes_of(x)},
                            {bytes_of(unary(FloatUnary::kTanh, x))});
  }
}

TEST(Float, BinaryBroadcasts) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const auto check = [&](F f, const std::function<float(float, float)>& real) {
    const std::vector<float> a = random_floats(&random, 2 * 3 * 5), b = random_floats(&random, 3);
    std::vector<float> expected;
    for (size_t i = 0; i < a.size(); ++i) expected.push_back(real(a[i], b[i / 5 % 3]));
    testing::expect_outputs(model(f, {{2, 3, 5}, {3, 1}}, {2, 3, 5}), 1, {bytes_of(a), bytes_of(b)},
                            {bytes_of(expected)});
  };
  check(F::ADD, [](float a, float b) { return a + b; });
  check(F::SUB, [](float a, float b) { return a - b; });
  check(F::MUL, [](float a, float b) { return a * b; });
  check(F::DIV, [](float a, float b) { return a / b; });
  check(F::MINIMUM, [](float a, float b) { return a < b ? a : b; });
  check(F::MAXIMUM, [](float a, float b) { return a > b ? a : b; });
  check(F::NAN_MINIMUM, [](float a, float b) { return a < b ? a : b; });
  check(F::NAN_MAXIMUM, [](float a, float b) { return a > b ? a : b; });
}

// Functions that pass NaN on, whichever operand it is, and Where made of three of them: every element as it is, the sign of a zero
// included.
TEST(Float, NanIsKept) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {-1.5f, -0.0f, 0.0f, 1.5f, kInf, -kInf, nan};
  std::vector<float> a, b, c;
  for (const float x : values)
    for (const float y : values)
      for (const float z : {0.0f, -0.0f, 1.0f, nan}) a.push_back(x), b.push_back(y), c.push_back(z);
  const auto n = static_cast<int64_t>(a.size());
  const auto check = [&](F f, const std::vector<float>& other, float (*real)(float, float)) {
    std::vector<float> expected;
    for (size_t i = 0; i < a.size(); ++i) expected.push_back(real(a[i], other[i]));
    testing::expect_outputs(model(f, {{1, n}, {1, n}}, {1, n}), 1, {bytes_of(a), bytes_of(other)},
                            {bytes_of(expected)});
  };
  check(F::NAN_MINIMUM, b, [](float x, float y) { return x < y || std::isnan(x) ? x : y; });
  check(F::NAN_MAXIMUM, b, [](float x, float y) { return x > y || std::isnan(x) ? x : y; });
  check(F::KEEP_NONZERO, c, [](float x, float y) { return y != 0 ? x : -0.0f; });
  check(F::KEEP_ZERO, c, [](float x, float y) { return y == 0 ? x : -0.0f; });

  testing::ModelBuilder m;
  const Shape shape = {1, n};
  const auto apply = [&](F f, uint32_t x, uint32_t y, uint32_t made) {
    fb::FloatOptionsT o;
    o.function = f;
    m.op(o, {x, y}, {made});
    return made;
  };
  const uint32_t x = m.input(shape, DType::kFloat32), y = m.input(shape, DType::kFloat32);
  const uint32_t condition = m.input(shape, DType::kFloat32);
  const uint32_t of_x = apply(F::KEEP_NONZERO, x, condition, m.tensor(shape, DType::kFloat32));
  const uint32_t of_y = apply(F::KEEP_ZERO, y, condition, m.tensor(shape, DType::kFloat32));
  apply(F::ADD, of_x, of_y, m.output(shape, DType::kFloat32));
  std::vector<float> expected;
  for (size_t i = 0; i < a.size(); ++i) expected.push_back(c[i] != 0 ? a[i] : b[i]);
  testing::expect_outputs(m, 1, {bytes_of(a), bytes_of(b), bytes_of(c)}, {bytes_of(expected)});
}

// Comparisons give 1 or 0 on every instruction set; NaN is equal to nothing and less than nothing.
TEST(Float, Comparisons) {
  const std::vector<float> values = {-1.5f, -0.0f, 0.0f, 1.5f, INFINITY, -INFINITY, NAN};
  std::vector<float> a, b;
  for (float x : values)
    for (float y : values) a.push_back(x), b.push_back(y);
  size_t count;
  const FloatKernel* kernels = float_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    if (!has(detected_isas() | static_cast<IsaSet>(Isa::kScalar), kernels[i].isa)) continue;
    SCOPED_TRACE(kernels[i].binary_name);
    const auto check = [&](FloatBinary f, bool (*real)(float, float)) {
      std::vector<float> y(a.size());
      kernels[i].binary(f, a.data(), 1, b.data(), 1, y.data(), y.size());
      for (size_t j = 0; j < y.size(); ++j)
        EXPECT_EQ(y[j], real(a[j], b[j]) ? 1.0f : 0.0f) << a[j] << ", " << b[j];
    };
    check(FloatBinary::kEqual, [](float x, float y) { return x == y; });
    check(FloatBinary::kLess, [](float x, float y) { return x < y; });
    check(FloatBinary::kLessOrEqual, [](float x, float y) { return x <= y; });
  }
}

TEST(Float, RowsInTheOrderOfTheirElements) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t rows : {size_t{3}, size_t{19}}) {
    const size_t n = 257;
    const std::vector<float> x = random_floats(&random, rows * n);
    std::vector<float> soft, logs, normal, sums, means, most, least, products;
    for (size_t r = 0; r < rows; ++r) {
      const float* v = &x[r * n];
      float sum = v[0], hi = v[0], lo = v[0], e_sum = 0, squares = 0, product = v[0];
      for (size_t i = 1; i < n; ++i) {
        sum = sum + v[i];
        hi = std::max(hi, v[i]);
        lo = std::min(lo, v[i]);
        product = product * v[i];
      }
      std::vector<float> shifted, e;
      for (size_t i = 0; i < n; ++i) shifted.push_back(v[i] - hi);
      e = unary(FloatUnary::kExp, shifted);
      for (const float f : e) e_sum = e_sum + f;
      const float log_sum = unary(FloatUnary::kLog, {e_sum})[0];
      const float mean = sum / static_cast<float>(n);
      for (size_t i = 0; i < n; ++i) {
        soft.push_back(e[i] / e_sum);
        logs.push_back(shifted[i] - log_sum);
        squares = squares + (v[i] - mean) * (v[i] - mean);
      }
      for (size_t i = 0; i < n; ++i)
        normal.push_back((v[i] - mean) / std::sqrt(squares / static_cast<float>(n) + 0.25f));
      sums.push_back(sum);
      means.push_back(mean);
      most.push_back(hi);
      least.push_back(lo);
      products.push_back(product);
    }
    const auto count = static_cast<int64_t>(rows);
    const Shape in = {count, 257}, one = {count, 1};
    const auto check = [&](F f, const Shape& out, const std::vector<float>& y) {
      testing::expect_outputs(model(f, {in}, out, 0.25f), 1, {bytes_of(x)}, {bytes_of(y)});
    };
    check(F::SOFTMAX, in, soft);
    check(F::LOG_SOFTMAX, in, logs);
    check(F::NORMALIZE, in, normal);
    check(F::REDUCE_SUM, one, sums);
    check(F::REDUCE_MEAN, one, means);
    check(F::REDUCE_MAX, one, most);
    check(F::REDUCE_MIN, one, least);
    check(F::REDUCE_PROD, one, products);
    check(F::REDUCE_NAN_MAX, one, most);
    check(F::REDUCE_NAN_MIN, one, least);
  }
}

// A row with a NaN at any place has no extreme.
TEST(Float, ExtremesOfRowsWithNan) {
  constexpr int64_t kN = 37;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x, most, least;
  for (int64_t r = 0; r <= kN; ++r) {
    for (int64_t i = 0; i < kN; ++i) x.push_back(i == r ? nan : static_cast<float>(i * 7 % 11 - 5));
    most.push_back(r < kN ? nan : 5);
    least.push_back(r < kN ? nan : -5);
  }
  const Shape in = {kN + 1, kN}, one = {kN + 1, 1};
  testing::expect_outputs(model(F::REDUCE_NAN_MAX, {in}, one), 1, {bytes_of(x)}, {bytes_of(most)});
  testing::expect_outputs(model(F::REDUCE_NAN_MIN, {in}, one), 1, {bytes_of(x)}, {bytes_of(least)});
}

// A softmax of pairs of numbers is within two units in the last place: two terms leave no order of
// the sum to differ in.
TEST(Float, LaneSoftmaxIsClose) {
  const FloatKernel& kernel = *select_float(detected_isas());
  for (int i = 0; i < 20000; ++i) {
    const float x = static_cast<float>(i) * -0.0053f;
    float y[2] = {0, x};
    kernel.lane_softmax({2, 2, FloatBinary::kDiv, 1}, y, 1, y);
    const double e = std::exp(static_cast<double>(x));
    for (const auto& [got, real] : {std::pair{y[0], 1 / (1 + e)}, std::pair{y[1], e / (1 + e)}}) {
      const auto nearest = static_cast<float>(real);
      const double ulp = static_cast<double>(std::nextafter(nearest, kInf) - nearest);
      ASSERT_NEAR(static_cast<double>(got), real, 2 * ulp) << x;
    }
  }
}

TEST(Float, LaneSoftmaxOfAnySizeAndThreads) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t n : {size_t{1}, size_t{15}, size_t{16}, size_t{101}}) {
    const size_t rows = 21;
    const std::vector<float> x = random_floats(&random, rows * n);
    std::vector<float> y(x.size());
    select_float(static_cast<IsaSet>(Isa::kScalar))
        ->lane_softmax({n, n, FloatBinary::kDiv, 1}, x.data(), rows, y.data());
    const Shape shape = {3, 7, static_cast<int64_t>(n)};
    testing::expect_outputs(model(F::LANE_SOFTMAX, {shape}, shape), 1, {bytes_of(x)},
                            {bytes_of(y)});
  }
}

// x, then constants.
testing::ModelBuilder layer_norm(const Shape& x, float epsilon,
                                 const std::vector<std::vector<float>>& lines) {
  testing::ModelBuilder m;
  std::vector<uint32_t> inputs = {m.input(x, DType::kFloat32)};
  for (const std::vector<float>& line : lines)
    inputs.push_back(m.constant({static_cast<int64_t>(line.size())}, DType::kFloat32, line));
  const uint32_t y = m.output(x, DType::kFloat32);
  fb::FloatOptionsT o;
  o.function = F::LAYER_NORM;
  o.epsilon = testing::float_bits(epsilon);
  m.op(o, inputs, {y});
  return m;
}

// Normalises a row in ONNX Runtime 1.30.0's order of sums on x86-64 with AVX2.
std::vector<float> layer_norm_row(const float* x, const std::vector<float>& scale,
                                  const std::vector<float>& bias, float epsilon) {
  const size_t n = scale.size();
  std::vector<float> y(n);
  float mean = 0, squares = 0;
  if (n < 8) {
    for (size_t i = 0; i < n; ++i) {
      const float d = x[i] - mean;
      mean = mean + d / static_cast<float>(i + 1);
      squares = squares + d * (x[i] - mean);
    }
    const float deviation = std::sqrt(squares / static_cast<float>(n) + epsilon);
    for (size_t i = 0; i < n; ++i) {
      y[i] = (x[i] - mean) / deviation * scale[i];
      if (!bias.empty()) y[i] = y[i] + bias[i];
    }
    return y;
  }
  double s[4] = {};
  for (size_t i = 0; i < n / 4 * 4; ++i) s[i % 4] += static_cast<double>(x[i]);
  double sum = (s[0] + s[2]) + (s[1] + s[3]);
  for (size_t i = n / 4 * 4; i < n; ++i) sum += static_cast<double>(x[i]);
  mean = static_cast<float>(sum / static_cast<double>(n));
  std::vector<float> d(n);
  for (size_t i = 0; i < n; ++i) d[i] = x[i] - mean;
  float q[8] = {};
  const size_t whole = n / 8 * 8;
  for (size_t i = 0; i < whole; ++i) q[i % 8] = std::fma(d[i], d[i], q[i % 8]);
  squares = ((q[0] + q[4]) + (q[2] + q[6])) + ((q[1] + q[5]) + (q[3] + q[7]));
  const size_t four = n - whole >= 4 ? whole + 4 : whole;
  for (size_t i = whole; i < four; ++i) squares = squares + d[i] * d[i];
  for (size_t i = four; i < n; ++i) squares = std::fma(d[i], d[i], squares);
  const float inverse = 1.0f / std::sqrt(squares / static_cast<float>(n) + epsilon);
  for (size_t i = 0; i < n; ++i)
    y[i] = bias.empty() ? d[i] * inverse * scale[i] : std::fma(d[i] * inverse, scale[i], bias[i]);
  return y;
}

TEST(Float, LayerNormsOfAllSizes) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const size_t n : {size_t{1}, size_t{7}, size_t{8}, size_t{11}, size_t{12}, size_t{15},
                         size_t{64}, size_t{261}})
    for (const bool has_bias : {false, true}) {
      const size_t rows = 21;
      const std::vector<float> x = random_floats(&random, rows * n),
                               scale = random_floats(&random, n),
                               bias = random_floats(&random, has_bias ? n : 0);
      std::vector<float> y;
      for (size_t r = 0; r < rows; ++r)
        for (const float v : layer_norm_row(&x[r * n], scale, bias, 1e-5f)) y.push_back(v);
      std::vector<std::vector<float>> lines = {scale};
      if (has_bias) lines.push_back(bias);
      testing::expect_outputs(layer_norm({3, 7, static_cast<int64_t>(n)}, 1e-5f, lines), 1,
                              {bytes_of(x)}, {bytes_of(y)});
    }
}

TEST(Float, MatrixProductInTheOrderOfK) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const size_t rows = 6;
  for (const size_t k : {size_t{1}, size_t{2}, size_t{37}}) {
    for (const size_t n : {size_t{1}, size_t{5}, size_t{64}, size_t{101}}) {
      const std::vector<float> a = random_floats(&random, rows * k);
      const std::vector<float> b = random_floats(&random, k * n);
      std::vector<float> y;
      for (size_t r = 0; r < rows; ++r)
        for (size_t j = 0; j < n; ++j) {
          float sum = a[r * k] * b[j];
          for (size_t i = 1; i < k; ++i) sum = sum + a[r * k + i] * b[i * n + j];
          y.push_back(sum);
        }
      const auto dk = static_cast<int64_t>(k), dn = static_cast<int64_t>(n);
      testing::expect_outputs(model(F::MATMUL, {{2, 3, dk}, {dk, dn}}, {2, 3, dn}), 1,
                              {bytes_of(a), bytes_of(b)}, {bytes_of(y)});
      for (size_t r = 0; r < rows; ++r)
        for (size_t j = 0; j < n; ++j) {
          float sum = a[r * k] * b[j];
          for (size_t i = 1; i < k; ++i) sum = std::fma(a[r * k + i], b[i * n + j], sum);
          y[r * n + j] = sum;
        }
      testing::expect_outputs(model(F::FUSED_MATMUL, {{2, 3, dk}, {dk, dn}}, {2, 3, dn}), 1,
                              {bytes_of(a), bytes_of(b)}, {bytes_of(y)});
    }
  }
}

testing::ModelBuilder gemm(F function, const Shape& a, const Shape& b, const Shape& c,
                           const Shape& y, uint32_t block, float alpha = 1.0f) {
  testing::ModelBuilder m;
  fb::FloatOptionsT o;
  o.function = function;
  o.block = block;
  memcpy(&o.alpha, &alpha, sizeof alpha);
  const uint32_t left = m.input(a, DType::kFloat32), right = m.input(b, DType::kFloat32),
                 bias = m.input(c, DType::kFloat32);
  m.op(o, {left, right, bias}, {m.output(y, DType::kFloat32)});
  return m;
}

// Gemms take the orders of ONNX Runtime; the orders themselves are tested in
// tests/kernels/float_fallback_test.cc.
TEST(Float, GemmsInTheOrdersOfOnnxRuntime) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const size_t rows = 3, k = 21, n = 19;
  const std::vector<float> a = random_floats(&random, rows * k), b = random_floats(&random, k * n);
  for (const bool has_matrix : {false, true}) {
    const std::vector<float> c = random_floats(&random, has_matrix ? rows * n : n);
    const Shape bias = has_matrix ? Shape{3, 19} : Shape{19};
    for (const F f : {F::ORT_GEMM, F::ORT_GEMM_FOURS, F::ORT_GEMM_EIGHTS}) {
      const bool in_blocks = f == F::ORT_GEMM;
      const OrtGemm g = {
          static_cast<OrtGemmOrder>(static_cast<int>(f) - static_cast<int>(F::ORT_GEMM)), k, n,
          in_blocks ? size_t{8} : 0, in_blocks ? 0.75f : 1.0f};
      std::vector<float> y(rows * n);
      select_float(static_cast<IsaSet>(Isa::kScalar))
          ->ort_gemm(g, a.data(), rows, b.data(), c.data(), has_matrix ? n : 0, y.data());
      const Shape right = f == F::ORT_GEMM_EIGHTS ? Shape{19, 21} : Shape{21, 19};
      testing::expect_outputs(
          gemm(f, {3, 21}, right, bias, {3, 19}, static_cast<uint32_t>(g.block), g.alpha), 1,
          {bytes_of(a), bytes_of(b), bytes_of(c)}, {bytes_of(y)});
    }
  }
}

// Each of the three matrices of two images is multiplied as it is by itself.
TEST(Float, MatrixProductsOfOnnxRuntimeSideBySide) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const size_t count = 6, rows = 4, k = 21, n = 19;
  const std::vector<float> a = random_floats(&random, count * rows * k);
  const std::vector<float> b = random_floats(&random, count / 2 * k * n);
  const std::vector<float> c = random_floats(&random, n);
  for (const F f : {F::ORT_GEMM, F::ORT_GEMM_FOURS, F::ORT_GEMM_EIGHTS}) {
    const bool in_blocks = f == F::ORT_GEMM;
    const OrtGemm g = {
        static_cast<OrtGemmOrder>(static_cast<int>(f) - static_cast<int>(F::ORT_GEMM)), k, n,
        in_blocks ? size_t{8} : 0, 1.0f};
    std::vector<float> y(count * rows * n);
    for (size_t m = 0; m < count; ++m)
      select_float(static_cast<IsaSet>(Isa::kScalar))
          ->ort_gemm(g, &a[m * rows * k], rows, &b[m % 3 * k * n], c.data(), 0, &y[m * rows * n]);
    const Shape right = f == F::ORT_GEMM_EIGHTS ? Shape{3, 19, 21} : Shape{3, 21, 19};
    testing::expect_outputs(
        gemm(f, {2, 3, 4, 21}, right, {19}, {2, 3, 4, 19}, static_cast<uint32_t>(g.block)), 1,
        {bytes_of(a), bytes_of(b), bytes_of(c)}, {bytes_of(y)});
  }
}

TEST(Float, MatrixProductsSideBySide) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const size_t count = 3, rows = 7, k = 9, n = 21;
  const std::vector<float> a = random_floats(&random, count * rows * k);
  const std::vector<float> b = random_floats(&random, count * k * n);
  std::vector<float> y;
  for (size_t r = 0; r < count * rows; ++r)
    for (size_t j = 0; j < n; ++j) {
      const float* matrix = &b[r / rows * k * n];
      float sum = a[r * k] * matrix[j];
      for (size_t i = 1; i < k; ++i) sum = sum + a[r * k + i] * matrix[i * n + j];
      y.push_back(sum);
    }
  testing::expect_outputs(model(F::MATMUL, {{1, 3, 7, 9}, {1, 3, 9, 21}}, {1, 3, 7, 21}), 1,
                          {bytes_of(a), bytes_of(b)}, {bytes_of(y)});
}

TEST(Float, TableOfBytes) {
  std::vector<float> table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<float>(i) * 0.5f - 3;
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 3}), y = m.output({-1, 3}, DType::kFloat32);
  fb::FloatOptionsT o;
  o.function = F::TABLE;
  m.op(o, {x, m.constant({256}, DType::kFloat32, table)}, {y});
  testing::expect_outputs(m, 1, {{0, 7, 255}}, {bytes_of(std::vector<float>{-3.0f, 0.5f, 124.5f})});
}

// A table that is a line, as a DequantizeLinear makes it, is computed; other tables are looked up.
TEST(Float, TablesThatAreLines) {
  const auto check = [](const std::vector<float>& table) {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 300}), y = m.output({-1, 300}, DType::kFloat32);
    fb::FloatOptionsT o;
    o.function = F::TABLE;
    m.op(o, {x, m.constant({256}, DType::kFloat32, table)}, {y});
    std::vector<uint8_t> in(300);
    std::vector<float> expected;
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<uint8_t>(7 * i);
      expected.push_back(table[in[i]]);
    }
    testing::expect_outputs(m, 1, {in}, {bytes_of(expected)});
  };
  for (const int zero_point : {0, 1, 117, 254, 255})
    for (const float scale : {0.0283f, -0.1f, 1e-40f}) {
      std::vector<float> table(256);
      for (int i = 0; i < 256; ++i)
        table[static_cast<size_t>(i)] = static_cast<float>(i - zero_point) * scale;
      check(table);
      table[200] = table[201];
      check(table);
      table[static_cast<size_t>(zero_point)] = 5;
      check(table);
    }
  check(std::vector<float>(256, 0.0f));
}

TEST(Float, RefusedModels) {
  testing::expect_rejected(model(F::ADD, {{1, 3}}, {1, 3}), "inputs");
  testing::expect_rejected(model(F::ADD, {{1, 3}, {1, 4}}, {1, 4}), "do not broadcast");
  testing::expect_rejected(model(static_cast<F>(static_cast<int>(F::MAX) + 1), {{1, 3}}, {1, 3}),
                           "function is");
  testing::expect_rejected(model(static_cast<F>(42), {{1, 3}}, {1, 3}), "function is 42");
  testing::expect_rejected(model(F::NORMALIZE, {{1, 3}}, {1, 3}, -1.0f), "epsilon is -1");
  testing::expect_rejected(model(F::NORMALIZE, {{1, 3}}, {1, 3}, kInf), "epsilon is inf");
  testing::expect_rejected(model(F::LAYER_NORM, {{1, 3}}, {1, 3}), "inputs");
  testing::expect_rejected(model(F::LAYER_NORM, {{1, 3}, {3}}, {1, 3}), "scale");
  testing::expect_rejected(layer_norm({1, 3}, 0, {{1, 1}}), "scale");
  testing::expect_rejected(layer_norm({1, 3}, 0, {{1, 1, 1}, {1, 1}}), "bias");
  testing::expect_rejected(layer_norm({1, 3}, kInf, {{1, 1, 1}}), "epsilon is inf");
  testing::expect_rejected(model(F::REDUCE_SUM, {{1, 3}}, {1, 3}), "");
  testing::expect_rejected(model(F::SOFTMAX, {{}}, {}), "rank 0");
  testing::expect_rejected(model(F::MATMUL, {{1, 3}}, {1, 3}), "inputs");
  testing::expect_rejected(model(F::MATMUL, {{1, 3}, {4, 3}}, {1, 3}), "no matrix product");
  testing::expect_rejected(model(F::MATMUL, {{1, 3}, {3}}, {1, 3}), "no matrix product");
  testing::expect_rejected(model(F::MATMUL, {{2, 1, 3}, {3, 3, 3}}, {2, 1, 3}),
                           "no matrix product");
  testing::expect_rejected(gemm(F::ORT_GEMM, {1, 3}, {4, 5}, {5}, {1, 5}, 1), "no matrix product");
  testing::expect_rejected(gemm(F::ORT_GEMM, {1, 3}, {3, 5}, {3}, {1, 5}, 1), "c has shape");
  testing::expect_rejected(gemm(F::ORT_GEMM, {1, 3}, {3, 5}, {5}, {1, 5}, 0), "block is 0");
  testing::expect_rejected(gemm(F::ORT_GEMM, {1, 3}, {3, 5}, {5}, {1, 5}, 1, kInf), "alpha is inf");
  testing::expect_rejected(gemm(F::ORT_GEMM_EIGHTS, {1, 3}, {3, 5}, {5}, {1, 5}, 0),
                           "no matrix product");
  testing::expect_rejected(gemm(F::ORT_GEMM_FOURS, {2, 1, 3}, {3, 3, 5}, {5}, {2, 1, 5}, 0),
                           "no matrix product");
  testing::expect_rejected(model(F::ORT_GEMM_FOURS, {{1, 3}, {3, 5}}, {1, 5}), "inputs");
  testing::ModelBuilder bytes;
  const uint32_t x = bytes.input({-1, 3}), y = bytes.output({-1, 3}, DType::kFloat32);
  bytes.op(fb::FloatOptionsT(), {x}, {y});
  testing::expect_rejected(bytes, "x");
}

// Every CPU, compiler and instruction set has these bits.
TEST(Float, BitsAreTheSameEverywhere) {
  const std::vector<float> x = samples();
  size_t count;
  const FloatKernel* kernels = float_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(kernels[i].unary_name);
    if (!has(detected_isas(), kernels[i].isa)) continue;
    const auto bits = [&](FloatUnary f) {
      std::vector<float> y(x.size());
      kernels[i].unary(f, x.data(), y.data(), x.size());
      return digest(y);
    };
    EXPECT_EQ(bits(FloatUnary::kExp), 16988223810048343110u);
    EXPECT_EQ(bits(FloatUnary::kLog), 7396812711503130598u);
    EXPECT_EQ(bits(FloatUnary::kErf), 12916876728317252663u);
    EXPECT_EQ(bits(FloatUnary::kTanh), 6235856081064637679u);
    EXPECT_EQ(bits(FloatUnary::kSigmoid), 6183572507952593198u);
    EXPECT_EQ(bits(FloatUnary::kGelu), 3008193795202402868u);
  }
}

}  // namespace
}  // namespace qrt::float_test
