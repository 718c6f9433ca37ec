// ONNX graphs of 16-bit activations: layers against sums of 64 bits and the multipliers in the
// graph, which are held against the real factor; everything else against ONNX Runtime's own float
// formula, to which it is equal or one step away. And integers of more than 8 bits without
// quantisation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing {
namespace {

using convert::from_onnx::ort_logistic;
using convert::from_onnx::quantize_ort;

template <class T>
constexpr int kLo = std::numeric_limits<T>::min();
template <class T>
constexpr int kHi = std::numeric_limits<T>::max();

template <class T>
int quantized(float v, float scale, int zero_point) {
  return quantize_ort(v, scale, zero_point, kLo<T>, kHi<T>);
}

// HE(acc * multiplier / 2^shift), limited, as the graph's requantisation has it.
template <class T>
T requantized(int64_t acc, const fb::RequantT& requant, size_t channel, int zero_point) {
  const fb::RequantStageT& s = *requant.stages.at(0);
  const size_t at = s.multiplier.size() == 1 ? 0 : channel;
  const __int128 product = static_cast<__int128>(acc) * s.multiplier[at];
  const int shift = s.shift[at];
  const __int128 one = __int128{1} << shift, floor = product >> shift;
  const __int128 rest = product - floor * one;
  const bool up = 2 * rest > one || (2 * rest == one && floor % 2 != 0);
  const auto v = static_cast<int64_t>(floor) + (up ? 1 : 0) + zero_point;
  return static_cast<T>(std::clamp<int64_t>(v, kLo<T>, kHi<T>));
}

// The stage is the real factor to 2^-18 of itself: a quarter of a step of 16 bits.
void expect_factor(const fb::RequantT& requant, size_t channel, double factor) {
  const fb::RequantStageT& s = *requant.stages.at(0);
  ASSERT_EQ(s.rounding, fb::Rounding::HALF_EVEN);
  const size_t at = s.multiplier.size() == 1 ? 0 : channel;
  const double is = std::ldexp(static_cast<double>(s.multiplier[at]), -s.shift[at]);
  ASSERT_NEAR(is / factor, 1.0, 0x1p-18);
}

constexpr float kXScale = 0.0007f, kYScale = 0.0031f;

// Conv [2, c, 7, 6] with 3x3 weights of one scale for each of `out` channels, padding 1, and a
// bias.
template <class X, class W, class Y>
void check_conv(int64_t c, int64_t out, int64_t group, int x_zero, int w_zero, int y_zero) {
  SCOPED_TRACE(std::to_string(c) + " to " + std::to_string(out) + " in " + std::to_string(group));
  Random random;
  SCOPED_TRACE(random.trace());
  const int64_t in = c / group;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  const auto x = random_integers<X>(&random, size(2 * c * 42));
  const auto w = random_integers<W>(&random, size(out * in * 9));
  const auto bias = random_integers<int16_t>(&random, size(out));
  std::vector<float> w_scale, b_scale;
  for (int64_t o = 0; o < out; ++o) {
    w_scale.push_back(0.001f * static_cast<float>(o + 1) / static_cast<float>(kHi<W>));
    b_scale.push_back(kXScale * w_scale.back());
  }
  std::vector<int32_t> b(bias.begin(), bias.end());

  OnnxBuilder m(21);
  const Dims vector{out};
  const std::string weights =
      m.node("DequantizeLinear",
             {m.constant<W>({out, in, 3, 3}, w), m.constant(vector, w_scale),
              m.constant(vector, std::vector<W>(size(out), static_cast<W>(w_zero)))},
             {{"axis", 0}});
  const std::string biases = m.node(
      "DequantizeLinear", {m.constant(vector, b), m.constant(vector, b_scale)}, {{"axis", 0}});
  const std::string y = m.node(
      "Conv", {m.integer_input<X>({2, c, 7, 6}, kXScale, static_cast<X>(x_zero)), weights, biases},
      {{"pads", Dims{1, 1, 1, 1}}, {"group", group}});
  constexpr float kScale = 0.00001f;
  m.integer_output<Y>(y, kScale, static_cast<Y>(y_zero));
  const Imported imported = m.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  const bool depthwise = in == 1 && group > 1;
  const fb::RequantT& requant = depthwise ? *imported.only<fb::DepthwiseConv2DOptionsT>().requant
                                          : *imported.only<fb::Conv2DOptionsT>().requant;
  const auto got = m.run_to<Y>({to_bytes(x)});
  ASSERT_EQ(got.size(), size(2 * out * 42));
  for (int64_t o = 0; o < out; ++o) {
    expect_factor(requant, size(o),
                  static_cast<double>(kXScale) * static_cast<double>(w_scale[size(o)]) /
                      static_cast<double>(kScale));
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t p = 0; p < 42; ++p) {
        int64_t acc = b[size(o)];
        for (int64_t i = 0; i < in; ++i)
          for (int64_t t = 0; t < 9; ++t) {
            const int64_t iy = p / 6 + t / 3 - 1, ix = p % 6 + t % 3 - 1;
            if (iy < 0 || iy >= 7 || ix < 0 || ix >= 6) continue;
            const int64_t at = ((n * c + o / (out / group) * in + i) * 7 + iy) * 6 + ix;
            acc +=
                (int64_t{x[size(at)]} - x_zero) * (int64_t{w[size((o * in + i) * 9 + t)]} - w_zero);
          }
        ASSERT_EQ(got[size((n * out + o) * 42 + p)], requantized<Y>(acc, requant, size(o), y_zero));
      }
  }
}

TEST(OnnxInt16, ConvolutionsOfEveryType) {
  check_conv<uint16_t, int8_t, uint16_t>(5, 3, 1, 30000, 0, 32768);
  check_conv<int16_t, int8_t, int16_t>(5, 3, 1, 0, 0, 0);
  check_conv<int16_t, uint8_t, int16_t>(5, 3, 1, -7, 120, 100);
  check_conv<int16_t, int16_t, int16_t>(5, 3, 1, 0, 0, 0);
  check_conv<uint16_t, uint16_t, uint16_t>(5, 3, 1, 128, 32768, 1);
  check_conv<uint16_t, int8_t, uint8_t>(5, 3, 1, 32768, 0, 128);
  check_conv<uint8_t, int8_t, uint16_t>(5, 3, 1, 100, 0, 32768);
  check_conv<int8_t, int16_t, int8_t>(5, 3, 1, 3, 0, -5);
}

TEST(OnnxInt16, ConvolutionsInGroups) {
  check_conv<uint16_t, int8_t, uint16_t>(6, 4, 2, 30000, 0, 32768);
  check_conv<uint16_t, int16_t, uint16_t>(6, 4, 2, 30000, 0, 32768);
  check_conv<uint16_t, int8_t, uint16_t>(5, 5, 5, 30000, 0, 32768);
  check_conv<uint16_t, uint8_t, uint16_t>(5, 10, 5, 30000, 7, 32768);
  check_conv<int16_t, int16_t, int16_t>(5, 5, 5, 0, 0, 0);
}

// A bias whose unit is far from x * w: 8 bits alone would round it to half of 256 output steps.
TEST(OnnxInt16, CoarseSumsGetFinerWeights) {
  OnnxBuilder m;
  const std::string bias = m.dq<int32_t>(m.constant<int32_t>({1}, {7}), 1.0f, 0);
  const std::string y =
      m.node("Conv", {m.integer_input<uint8_t>({1, 1, 2, 2}, 8.0f, 1),
                      m.dq<int8_t>(m.constant<int8_t>({1, 1, 1, 1}, {3}), 2.0f, 0), bias});
  m.integer_output<uint8_t>(y, 1.0f, 0);
  EXPECT_EQ(m.run_to<uint8_t>({Bytes{1, 2, 3, 9}}), (Bytes{7, 55, 103, 255}));
}

// Layers of 8 bits whose products are `product` output steps (twice that in every other channel) and
// whose bias is half of one: many outputs are ties.
void check_coarse_bias(int64_t c, int64_t out, int64_t group, int64_t kernel, float product) {
  SCOPED_TRACE(std::to_string(c) + " to " + std::to_string(out) + " in " + std::to_string(group) +
               ", product " + std::to_string(product));
  Random random;
  SCOPED_TRACE(random.trace());
  const int64_t in = c / group, pad = kernel / 2;
  const int x_zero = 100, y_zero = 130;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  const auto x = random_values<uint8_t>(&random, 2 * c * 42, 96, 104);
  const auto w = random_values<int8_t>(&random, out * in * kernel * kernel, -3, 3);
  auto bias = random_values<int32_t>(&random, out, -60, 60);
  bias[0] = 31;
  std::vector<float> w_scale;
  for (int64_t o = 0; o < out; ++o) w_scale.push_back(product * (o % 2 == 0 ? 1.0f : 2.0f));
  OnnxBuilder m(21);
  const std::string weights =
      m.node("DequantizeLinear",
             {m.constant<int8_t>({out, in, kernel, kernel}, w), m.constant({out}, w_scale),
              m.constant({out}, std::vector<int8_t>(size(out)))},
             {{"axis", 0}});
  const std::string y = m.node("Conv",
                               {m.integer_input<uint8_t>({2, c, 7, 6}, 1.0f, uint8_t{x_zero}),
                                weights, m.dq<int32_t>(m.constant<int32_t>({out}, bias), 0.5f, 0)},
                               {{"pads", Dims(4, pad)}, {"group", group}});
  m.integer_output<uint8_t>(y, 1.0f, uint8_t{y_zero});
  const Imported imported = m.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  ASSERT_EQ(imported.only<fb::Conv2DOptionsT>().requant->kind, fb::RequantKind::ACC);
  ASSERT_EQ(imported.only<fb::RequantizeOptionsT>().requant->stages.size(), 2u);
  const auto got = m.run_to<uint8_t>({to_bytes(x)});
  ASSERT_EQ(got.size(), size(2 * out * 42));
  int ties = 0;
  for (int64_t o = 0; o < out; ++o)
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t p = 0; p < 42; ++p) {
        int64_t acc = 0;
        for (int64_t i = 0; i < in; ++i)
          for (int64_t t = 0; t < kernel * kernel; ++t) {
            const int64_t iy = p / 6 + t / kernel - pad, ix = p % 6 + t % kernel - pad;
            if (iy < 0 || iy >= 7 || ix < 0 || ix >= 6) continue;
            const int64_t at = ((n * c + o / (out / group) * in + i) * 7 + iy) * 6 + ix;
            acc += (x[size(at)] - x_zero) * w[size((o * in + i) * kernel * kernel + t)];
          }
        const double real =
            static_cast<double>(acc) * static_cast<double>(w_scale[size(o)]) + 0.5 * bias[size(o)];
        ties += std::fabs(real) < 120 && real != std::floor(real);
        ASSERT_EQ(got[size((n * out + o) * 42 + p)],
                  static_cast<uint8_t>(std::clamp(std::nearbyint(real) + y_zero, 0.0, 255.0)))
            << real;
      }
  EXPECT_GT(ties, 10);
}

TEST(OnnxInt16, CoarseBiasesOfBytesAreAddedInFinerUnits) {
  for (const float product : {1.0f, 2.0f, 4.0f}) {
    check_coarse_bias(3, 5, 1, 3, product);
    check_coarse_bias(4, 6, 2, 3, product);
    check_coarse_bias(7, 33, 1, 1, product);
    check_coarse_bias(1, 1, 1, 1, product);
  }
}

TEST(OnnxInt16, MatMulAndGemm) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto x = random_integers<uint16_t>(&random, 4 * 37);
  const auto w = random_integers<int8_t>(&random, 37 * 11);
  const auto wide = random_integers<int16_t>(&random, 37 * 11);
  const auto bias = random_integers<int16_t>(&random, 11);
  for (const bool is_int16 : {false, true})
    for (const bool gemm : {false, true}) {
      OnnxBuilder m(21);
      const float w_scale = is_int16 ? 0.0001f : 0.02f;
      const std::string a = m.integer_input<uint16_t>({4, 37}, kXScale, 31000);
      const std::string c = is_int16
                                ? m.dq<int16_t>(m.constant<int16_t>({37, 11}, wide), w_scale, 0)
                                : m.dq<int8_t>(m.constant<int8_t>({37, 11}, w), w_scale, 0);
      std::vector<int32_t> b(bias.begin(), bias.end());
      const std::string d =
          gemm ? m.dq<int32_t>(m.constant<int32_t>({11}, b), kXScale * w_scale, 0) : "";
      m.integer_output<uint16_t>(gemm ? m.node("Gemm", {a, c, d}) : m.node("MatMul", {a, c}), 0.01f,
                                 30000);
      const Imported imported = m.import();
      ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
      const fb::RequantT& requant = *imported.only<fb::FullyConnectedOptionsT>().requant;
      expect_factor(requant, 0,
                    static_cast<double>(kXScale * w_scale) / static_cast<double>(0.01f));
      const auto got = m.run_to<uint16_t>({to_bytes(x)});
      ASSERT_EQ(got.size(), 44u);
      for (size_t i = 0; i < got.size(); ++i) {
        int64_t acc = gemm ? b[i % 11] : 0;
        for (size_t k = 0; k < 37; ++k)
          acc += (int64_t{x[i / 11 * 37 + k]} - 31000) *
                 (is_int16 ? wide[k * 11 + i % 11] : w[k * 11 + i % 11]);
        ASSERT_EQ(got[i], requantized<uint16_t>(acc, requant, i % 11, 30000)) << i;
      }
    }
}

// Two computed tensors, of which one may have 8 bits.
TEST(OnnxInt16, ProductsOfTwoTensors) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto x = random_integers<uint16_t>(&random, 2 * 4 * 9);
  const auto y = random_integers<int16_t>(&random, 2 * 9 * 5);
  const auto z = random_integers<int8_t>(&random, 9 * 3);
  OnnxBuilder m(21);
  const std::string a = m.integer_input<uint16_t>({2, 4, 9}, kXScale, 30000);
  const std::string b = m.integer_input<int16_t>({2, 9, 5}, 0.001f, 7);
  const std::string c = m.integer_input<int8_t>({9, 3}, 0.1f, -3);
  m.integer_output<uint16_t>(m.node("MatMul", {a, b}), 0.05f, 32768);
  m.integer_output<int8_t>(m.node("MatMul", {a, c}), 1.5f, 3);
  const Imported imported = m.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  std::vector<const fb::RequantT*> requants;
  for (const convert::Node& node : imported.graph.nodes)
    if (const auto* o = node.options.AsBatchMatMul()) requants.push_back(o->requant.get());
  ASSERT_EQ(requants.size(), 2u);
  expect_factor(*requants[0], 0, static_cast<double>(kXScale) * 0.001f / 0.05f);
  expect_factor(*requants[1], 0, static_cast<double>(kXScale) * 0.1f / 1.5f);
  const auto got = m.run({to_bytes(x), to_bytes(y), to_bytes(z)});
  ASSERT_EQ(got.size(), 2u);
  for (size_t row = 0; row < 8; ++row) {
    for (size_t j = 0; j < 5; ++j) {
      int64_t acc = 0;
      for (size_t k = 0; k < 9; ++k)
        acc += int64_t{x[row * 9 + k] - 30000} * (y[(row / 4 * 9 + k) * 5 + j] - 7);
      ASSERT_EQ(from_bytes<uint16_t>(got[0])[row * 5 + j],
                requantized<uint16_t>(acc, *requants[0], 0, 32768));
    }
    for (size_t j = 0; j < 3; ++j) {
      int64_t acc = 0;
      for (size_t k = 0; k < 9; ++k) acc += int64_t{x[row * 9 + k] - 30000} * (z[k * 3 + j] + 3);
      ASSERT_EQ(static_cast<int8_t>(got[1][row * 3 + j]),
                requantized<int8_t>(acc, *requants[1], 0, 3));
    }
  }
}

// What ONNX Runtime adds in float and does not quantise.
TEST(OnnxInt16, FloatResultsAreRefused) {
  OnnxBuilder product(21);
  const std::string a = product.integer_input<uint16_t>({1, 3}, 0.5f, 4);
  product.output(product.node(
      "MatMul",
      {a, product.dq<int8_t>(product.constant<int8_t>({3, 2}, {1, 2, 3, -4, 5, 6}), 0.25f, 0)}));
  EXPECT_NE(product.import().rule().find("without a QuantizeLinear"), std::string::npos);

  OnnxBuilder image(21);
  const std::string x = image.integer_input<uint16_t>({1, 1, 2, 2}, 0.5f, 4);
  image.output(image.node(
      "Conv", {x, image.dq<int8_t>(image.constant<int8_t>({1, 1, 1, 1}, {3}), 0.25f, 0)}));
  EXPECT_NE(image.import().rule().find("without a QuantizeLinear"), std::string::npos);
}

// Two tensors of all kinds of values.
template <class A, class B, class Y>
void check_pair(const std::string& op, const std::function<double(double, double)>& f, int a_zero,
                int b_zero, float y_scale, int y_zero) {
  SCOPED_TRACE(op);
  Random random;
  SCOPED_TRACE(random.trace());
  auto a = random_integers<A>(&random, 5000);
  auto b = random_integers<B>(&random, 5000);
  for (size_t i = 0; i < 4; ++i) {
    a[i] = static_cast<A>(i % 2 != 0 ? kHi<A> : kLo<A>);
    b[i] = static_cast<B>(i / 2 != 0 ? kHi<B> : kLo<B>);
  }
  constexpr float kAScale = 0.0011f, kBScale = 0.0003f;
  OnnxBuilder m(21);
  const std::string x = m.integer_input<A>({5000}, kAScale, static_cast<A>(a_zero));
  const std::string z = m.integer_input<B>({5000}, kBScale, static_cast<B>(b_zero));
  m.integer_output<Y>(m.node("Relu", {m.node(op, {x, z})}), y_scale, static_cast<Y>(y_zero));
  const auto got = m.run_to<Y>({to_bytes(a), to_bytes(b)});
  ASSERT_EQ(got.size(), a.size());
  size_t other = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double v = f((int{a[i]} - a_zero) * static_cast<double>(kAScale),
                       (int{b[i]} - b_zero) * static_cast<double>(kBScale));
    const double q = std::nearbyint(std::max(v, 0.0) / static_cast<double>(y_scale)) + y_zero;
    const double expected = std::clamp<double>(q, kLo<Y>, kHi<Y>);
    ASSERT_LE(std::fabs(expected - got[i]), 1.0) << i;
    other += expected != got[i];
  }
  EXPECT_LT(other, a.size() / 1000);  // next to ties
}

template <class A, class B, class Y>
void check_pairs(int a_zero, int b_zero, int y_zero) {
  check_pair<A, B, Y>(
      "Add", [](double a, double b) { return a + b; }, a_zero, b_zero,
      sizeof(Y) == 1 ? 0.3f : 0.0017f, y_zero);
  check_pair<A, B, Y>(
      "Sub", [](double a, double b) { return a - b; }, a_zero, b_zero,
      sizeof(Y) == 1 ? 0.3f : 0.0017f, y_zero);
  check_pair<A, B, Y>(
      "Mul", [](double a, double b) { return a * b; }, a_zero, b_zero,
      sizeof(Y) == 1 ? 3.0f : 0.007f, y_zero);
}

TEST(OnnxInt16, SumsDifferencesAndProducts) {
  check_pairs<uint16_t, uint16_t, uint16_t>(32768, 30000, 9);
  check_pairs<uint16_t, uint16_t, uint16_t>(0, 65535, 128);
  check_pairs<int16_t, int16_t, int16_t>(0, 0, 0);
  check_pairs<int16_t, uint16_t, int16_t>(-5, 128, 40);
  check_pairs<uint16_t, uint8_t, uint16_t>(32768, 128, 7);
  check_pairs<int16_t, int16_t, int8_t>(0, 0, -128);
}

TEST(OnnxInt16, ConstantsOfSeveralValues) {
  OnnxBuilder m(21);
  const std::string x = m.integer_input<int16_t>({2, 3}, 0.5f, 0);
  const std::string c = m.dq<int16_t>(m.constant<int16_t>({3}, {100, 200, -300}), 0.25f, 0);
  m.integer_output<int16_t>(m.node("Add", {x, c}), 0.5f, 10);
  EXPECT_EQ(m.run_to<int16_t>({to_bytes(std::vector<int16_t>{0, 1, 2, -3, -4, 32767})}),
            (std::vector<int16_t>{60, 111, -138, 57, 106, 32627}));
}

// Functions of one tensor, of all its values: ONNX Runtime's bits.
template <class X, class Y>
void check_unary(const std::string& op, const std::function<float(float)>& f, float y_scale) {
  SCOPED_TRACE(op);
  std::vector<X> x;
  for (int v = kLo<X>; v <= kHi<X>; ++v) x.push_back(static_cast<X>(v));
  constexpr int kZero = 100, kYZero = 5;
  const float x_scale = sizeof(X) == 1 ? 0.05f : 0.0003f;
  OnnxBuilder m(21);
  const auto n = static_cast<int64_t>(x.size());
  const std::string t = m.node(op, {m.integer_input<X>({n}, x_scale, kZero)});
  m.integer_output<Y>(t, y_scale, kYZero);
  m.output(t);
  const auto got = m.run({to_bytes(x)});
  ASSERT_EQ(got.size(), 2u);
  const auto integers = from_bytes<Y>(got[0]);
  const auto real = from_bytes<float>(got[1]);
  for (size_t i = 0; i < x.size(); ++i) {
    const float v = f(static_cast<float>(int{x[i]} - kZero) * x_scale);
    ASSERT_EQ(real[i], v) << i;
    ASSERT_EQ(integers[i], quantized<Y>(v, y_scale, kYZero)) << i;
  }
}

TEST(OnnxInt16, FunctionsOfOneTensorAreTables) {
  const auto relu = [](float v) { return v < 0 ? 0.0f : v; };
  check_unary<uint16_t, uint16_t>("Sigmoid", ort_logistic, 0.00002f);
  check_unary<int16_t, int16_t>("Sigmoid", ort_logistic, 0.00003f);
  check_unary<int16_t, int16_t>("Relu", relu, 0.0002f);
  check_unary<uint16_t, uint8_t>("Sigmoid", ort_logistic, 0.004f);
  check_unary<int8_t, uint16_t>("Sigmoid", ort_logistic, 0.00002f);
  check_unary<uint8_t, int16_t>(
      "Neg", [](float v) { return -v; }, 0.0004f);
}

// What moves or compares integers.
TEST(OnnxInt16, MovesAndOrders) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto a = random_integers<uint16_t>(&random, 24), b = random_integers<uint16_t>(&random, 24);
  constexpr float kScale = 0.01f;
  OnnxBuilder m(21);
  const std::string x = m.integer_input<uint16_t>({1, 2, 3, 4}, kScale, 1000);
  const std::string y = m.integer_input<uint16_t>({1, 2, 3, 4}, 2 * kScale, 500);
  const auto out = [&](const std::string& t) { m.integer_output<uint16_t>(t, kScale, 1000); };
  out(m.node("Transpose", {x}, {{"perm", Dims{0, 2, 3, 1}}}));
  out(m.node("Concat", {x, y}, {{"axis", 1}}));
  out(m.node("Max", {x, y}));
  out(m.node("Min", {x, m.scalar(1.0f)}));
  out(m.node("Pad", {x, m.constant<int64_t>({8}, {0, 0, 0, 0, 0, 0, 0, 1})}));
  out(m.node("MaxPool", {x}, {{"kernel_shape", Dims{3, 2}}}));
  out(m.node("ReduceMin", {x}, {{"axes", Dims{3}}, {"keepdims", 0}}));
  const auto got = m.run({to_bytes(a), to_bytes(b)});
  ASSERT_EQ(got.size(), 7u);
  const auto result = [&](size_t i) { return from_bytes<uint16_t>(got[i]); };
  const auto second = [&](size_t i) {
    return quantized<uint16_t>(static_cast<float>(b[i] - 500) * (2 * kScale), kScale, 1000);
  };
  const int one = quantized<uint16_t>(1.0f, kScale, 1000);
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(result(0)[i % 12 * 2 + i / 12], a[i]);
    EXPECT_EQ(result(1)[i], a[i]);
    EXPECT_EQ(result(1)[24 + i], second(i));
    EXPECT_EQ(result(2)[i], std::max<int>(a[i], second(i)));
    EXPECT_EQ(result(3)[i], std::min<int>(a[i], one));
    EXPECT_EQ(result(4)[i / 4 * 5 + i % 4], a[i]);
    if (i % 4 == 3) {
      EXPECT_EQ(result(4)[i / 4 * 5 + 4], 1000);
    }
  }
  for (size_t c = 0; c < 2; ++c)
    for (size_t col = 0; col < 3; ++col) {
      uint16_t most = 0;
      for (size_t t = 0; t < 6; ++t) most = std::max(most, a[c * 12 + t / 2 * 4 + col + t % 2]);
      EXPECT_EQ(result(5)[c * 3 + col], most);
    }
  for (size_t r = 0; r < 6; ++r)
    EXPECT_EQ(result(6)[r], *std::min_element(a.begin() + 4 * static_cast<ptrdiff_t>(r),
                                              a.begin() + 4 * static_cast<ptrdiff_t>(r) + 4));
}

TEST(OnnxInt16, WhereTakesEither) {
  OnnxBuilder m(21);
  m.graph().add_input()->set_name("c");
  OnnxBuilder::declare(m.graph().mutable_input(0), "c", onnx::TensorProto::BOOL, {4});
  const std::string x = m.integer_input<uint16_t>({4}, 0.5f, 7);
  m.integer_output<uint16_t>(m.node("Where", {"c", x, m.scalar(3.0f)}), 0.5f, 7);
  EXPECT_EQ(
      m.run_to<uint16_t>({Bytes{1, 0, 1, 0}, to_bytes(std::vector<uint16_t>{0, 1, 65535, 3})}),
      (std::vector<uint16_t>{0, 13, 65535, 13}));
}

// Means, sums and Softmax: one rounding of the exact sum.
TEST(OnnxInt16, MeansAndSums) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto x = random_integers<uint16_t>(&random, 2 * 3 * 5 * 4);
  OnnxBuilder m(21);
  const std::string t = m.integer_input<uint16_t>({2, 3, 5, 4}, kXScale, 30000);
  m.integer_output<uint16_t>(m.node("GlobalAveragePool", {t}), kXScale, 30000);
  m.integer_output<uint16_t>(m.node("AveragePool", {t}, {{"kernel_shape", Dims{2, 2}}}), 0.0004f,
                             32768);
  m.integer_output<int8_t>(
      m.node("ReduceMean", {t, m.constant<int64_t>({1}, {1})}, {{"keepdims", 0}}), 0.1f, 3);
  m.integer_output<uint16_t>(m.node("ReduceSum", {t, m.constant<int64_t>({2}, {2, 3})}), kYScale,
                             32768);
  m.integer_output<uint16_t>(m.node("Softmax", {t}, {{"axis", 1}}), 1.0f / 65536, 0);
  const auto got = m.run({to_bytes(x)});
  ASSERT_EQ(got.size(), 5u);
  const auto real = [&](size_t n, size_t c, size_t p) {
    return (int{x[(n * 3 + c) * 20 + p]} - 30000) * static_cast<double>(kXScale);
  };
  const auto near = [](double v, float scale, int zero, int lo, int hi, int is) {
    const double q =
        std::clamp<double>(std::nearbyint(v / static_cast<double>(scale)) + zero, lo, hi);
    EXPECT_LE(std::fabs(q - is), 1.0);
  };
  for (size_t n = 0; n < 2; ++n) {
    for (size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (size_t p = 0; p < 20; ++p) sum += real(n, c, p);
      near(sum / 20, kXScale, 30000, 0, 65535, from_bytes<uint16_t>(got[0])[n * 3 + c]);
      near(sum, kYScale, 32768, 0, 65535, from_bytes<uint16_t>(got[3])[n * 3 + c]);
      for (size_t p = 0; p < 12; ++p) {
        const size_t at = p / 3 * 4 + p % 3;
        const double window =
            real(n, c, at) + real(n, c, at + 1) + real(n, c, at + 4) + real(n, c, at + 5);
        near(window / 4, 0.0004f, 32768, 0, 65535,
             from_bytes<uint16_t>(got[1])[(n * 3 + c) * 12 + p]);
      }
    }
    for (size_t p = 0; p < 20; ++p) {
      double sum = 0, exponentials = 0;
      for (size_t c = 0; c < 3; ++c) {
        sum += real(n, c, p);
        exponentials += std::exp(real(n, c, p));
      }
      near(sum / 3, 0.1f, 3, -128, 127, from_bytes<int8_t>(got[2])[n * 20 + p]);
      for (size_t c = 0; c < 3; ++c)
        near(std::exp(real(n, c, p)) / exponentials, 1.0f / 65536, 0, 0, 65535,
             from_bytes<uint16_t>(got[4])[(n * 3 + c) * 20 + p]);
    }
  }
}

// LogSoftmax of [2, 3, 5, 4] against the real function, in steps of the output: half of one for the
// rounding, and what kernels/softmax/log_softmax.h allows beside it.
template <class X, class Y>
void check_log_softmax(int64_t opset, int64_t axis, float x_scale, float y_scale, Y y_zero) {
  SCOPED_TRACE("opset " + std::to_string(opset) + ", axis " + std::to_string(axis) + ", scale " +
               std::to_string(y_scale));
  Random random;
  SCOPED_TRACE(random.trace());
  const size_t dims[4] = {2, 3, 5, 4};
  const auto x = random_integers<X>(&random, 2 * 3 * 5 * 4);
  OnnxBuilder m(opset);
  const std::string t = m.integer_input<X>({2, 3, 5, 4}, x_scale, static_cast<X>(100));
  m.integer_output<Y>(m.node("LogSoftmax", {t}, {{"axis", axis}}), y_scale, y_zero);
  const std::vector<Y> y = m.run_to<Y>({to_bytes(x)});
  ASSERT_EQ(y.size(), x.size());
  // A row: `length` elements, `step` apart.
  const size_t at = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
  size_t step = 1, length = dims[at];
  for (size_t i = at + 1; i < 4; ++i) (opset < 13 ? length : step) *= dims[i];
  const double allowed =
      0.5 + 3 * 0x1p-24 * 65536 +
      (static_cast<double>(length) * 0x1p-31 + 0x1p-24 + 0x1p-19) / static_cast<double>(y_scale);
  EXPECT_LE(allowed, 1.05);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t first = i / (step * length) * (step * length) + i % step;
    const double scale = static_cast<double>(x_scale);
    int greatest = x[i];
    for (size_t j = 0; j < length; ++j) greatest = std::max<int>(greatest, x[first + j * step]);
    double sum = 0;
    for (size_t j = 0; j < length; ++j) sum += std::exp((x[first + j * step] - greatest) * scale);
    const double real =
        ((x[i] - greatest) * scale - std::log(sum)) / static_cast<double>(y_scale) + y_zero;
    ASSERT_LE(std::fabs(y[i] - std::clamp<double>(real, kLo<Y>, kHi<Y>)), allowed) << i;
  }
}

TEST(OnnxInt16, LogSoftmaxIsWithinAStepOfTheRealFunction) {
  for (const int64_t axis : {0, 1, 2, 3, -1, -3}) {
    check_log_softmax<uint16_t, uint16_t>(21, axis, kXScale, 0x1p-10f, 65535);
    check_log_softmax<uint16_t, uint16_t>(12, axis, kXScale, 0x1p-10f, 65535);
  }
  check_log_softmax<int16_t, int16_t>(21, 1, kXScale, 0.0007f, 32767);
  check_log_softmax<int16_t, int16_t>(21, 3, 0.00003f, 0.0001f, 32767);
  check_log_softmax<uint16_t, int16_t>(21, 3, 3.0f, 3.0f, 32767);     // one greatest, far away
  check_log_softmax<int16_t, uint16_t>(21, 2, kXScale, 0.001f, 100);  // saturates
  check_log_softmax<uint8_t, uint16_t>(21, 3, 0.05f, 0.0004f, 65535);
  check_log_softmax<uint16_t, uint8_t>(21, 3, kXScale, 0.2f, 255);
  check_log_softmax<int16_t, int8_t>(21, 1, kXScale, 0.2f, 127);
  // The finest that is not refused.
  check_log_softmax<uint16_t, uint16_t>(21, 3, 0x1p-16f, 0x1p-18f + 0x1p-28f, 0);
  check_log_softmax<int16_t, int16_t>(21, 1, 0x1p-20f, 0x1p-18f + 0x1p-28f, INT16_MAX);
}

// One requantisation for each index of the axis, with what is added in it.
TEST(OnnxInt16, ConstantsAlongAnAxis) {
  Random random;
  SCOPED_TRACE(random.trace());
  struct Case {
    const char* op;
    bool swapped;
    Dims constant;
    std::function<double(double x, double c)> f;
  } const cases[] = {
      {"Add", false, {3, 1, 1}, [](double x, double c) { return x + c; }},
      {"Sub", false, {4}, [](double x, double c) { return x - c; }},
      {"Sub", true, {1, 3, 1, 1}, [](double x, double c) { return c - x; }},
      {"Mul", true, {5, 1}, [](double x, double c) { return x * c; }},
      {"Div", false, {2, 1, 1, 1}, [](double x, double c) { return x / c; }},
      {"PRelu", false, {3, 1, 1}, [](double x, double c) { return x < 0 ? x * c : x; }}};
  const auto x = random_integers<uint16_t>(&random, 2 * 3 * 5 * 4);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op);
    size_t inner = 1, count = 1;
    const Dims whole = {2, 3, 5, 4};
    for (size_t i = 0; i < 4; ++i) {
      const size_t skipped = 4 - c.constant.size();
      if (count == 1 && i >= skipped && c.constant[i - skipped] != 1)
        count = static_cast<size_t>(c.constant[i - skipped]);
      else if (count != 1)
        inner *= static_cast<size_t>(whole[i]);
    }
    std::vector<float> values(count);
    for (float& v : values) v = random.real(0.25f, 0.9f) * (random.coin() ? 1.0f : -1.0f);
    values[0] = 0.5f;
    OnnxBuilder m(21), narrow(21);
    for (OnnxBuilder* b : {&m, &narrow}) {
      const std::string t = b->integer_input<uint16_t>({2, 3, 5, 4}, kXScale, 30000);
      const std::string k = b->constant(c.constant, values);
      const std::string y = b->node(c.op, c.swapped ? Names{k, t} : Names{t, k});
      b == &m ? b->integer_output<uint16_t>(y, kYScale, 32768)
              : b->integer_output<int8_t>(b->node("Relu", {y}), 0.4f, -3);
    }
    const auto got = m.run_to<uint16_t>({to_bytes(x)});
    const auto got_narrow = narrow.run_to<int8_t>({to_bytes(x)});
    ASSERT_EQ(got.size(), x.size());
    ASSERT_EQ(got_narrow.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double real = (x[i] - 30000) * static_cast<double>(kXScale);
      const double y = c.f(real, static_cast<double>(values[i / inner % count]));
      const auto quantised = [](double v, float scale, int zero, int lo, int hi) {
        return std::clamp(v / static_cast<double>(scale) + zero, static_cast<double>(lo),
                          static_cast<double>(hi));
      };
      ASSERT_LE(std::fabs(got[i] - quantised(y, kYScale, 32768, 0, 65535)), 0.52) << i;
      ASSERT_LE(std::fabs(got_narrow[i] - quantised(std::max(y, 0.0), 0.4f, -3, -128, 127)), 0.51)
          << i;
    }
  }
}

// Where an output position of an axis of `size` elements takes its value from: units of 2^-20.
struct Between {
  int low, high;
  int64_t to_high;
};
Between between(int i, int size, int out) {
  const float at =
      (static_cast<float>(i) + 0.5f) / (static_cast<float>(out) / static_cast<float>(size)) - 0.5f;
  const float x = std::clamp(at, 0.0f, static_cast<float>(size - 1));
  const int low = static_cast<int>(x);
  return {low, std::min(low + 1, size - 1),
          std::llrint(std::ldexp(x - static_cast<float>(low), 20))};
}

// To sizes of any ratio: sums in 2^-14 steps of the input, a volume's planes blended, then one
// rounding.
void check_linear_resize(const Dims& from, const Dims& to) {
  SCOPED_TRACE(::testing::PrintToString(to));
  Random random;
  SCOPED_TRACE(random.trace());
  size_t count = 1;
  for (const int64_t d : from) count *= static_cast<size_t>(d);
  const auto x = random_integers<uint16_t>(&random, count);
  OnnxBuilder same(21), finer(21), narrow(21);
  for (OnnxBuilder* b : {&same, &finer, &narrow}) {
    const std::string sizes = b->constant<int64_t>({static_cast<int64_t>(to.size())}, to);
    const std::string in = b->integer_input<uint16_t>(from, kXScale, 30000);
    const std::string out = b->node("Resize", {in, "", "", sizes}, {{"mode", "linear"}});
    if (b == &same) b->integer_output<uint16_t>(out, kXScale, 30000);
    if (b == &finer) b->integer_output<uint16_t>(b->node("Relu", {out}), kXScale / 3, 20000);
    if (b == &narrow) b->integer_output<int8_t>(out, 0.2f, -5);
  }
  const auto requant_of = [](OnnxBuilder& b, double scale) {
    const Imported imported = b.import();
    fb::RequantT r = *imported.only<fb::RequantizeOptionsT>().requant;
    expect_factor(r, 0, std::ldexp(static_cast<double>(kXScale) / scale, -14));
    return r;
  };
  const fb::RequantT to_same = requant_of(same, static_cast<double>(kXScale));
  const fb::RequantT to_finer = requant_of(finer, static_cast<double>(kXScale / 3));
  const fb::RequantT to_narrow = requant_of(narrow, static_cast<double>(0.2f));
  // From behind: w, h, d.
  const auto size = [](const Dims& dims, size_t i) {
    return i < dims.size() - (dims.size() > 3 ? 2 : 0) ? static_cast<int>(dims[dims.size() - 1 - i])
                                                       : 1;
  };
  const bool is_volume = from.size() == 3 || from.size() == 5;
  const int in_w = size(from, 0), in_h = size(from, 1), in_d = is_volume ? size(from, 2) : 1;
  const int out_w = size(to, 0), out_h = size(to, 1), out_d = is_volume ? size(to, 2) : 1;
  const int images = static_cast<int>(count) / (in_w * in_h * in_d);
  const auto half_even = [](int64_t v, int shift) {
    return static_cast<int64_t>(std::nearbyint(std::ldexp(static_cast<long double>(v), -shift)));
  };
  std::vector<uint16_t> expected, expected_finer;
  std::vector<int8_t> expected_narrow;
  for (int c = 0; c < images; ++c)
    for (int k = 0; k < out_d; ++k)
      for (int i = 0; i < out_h; ++i)
        for (int j = 0; j < out_w; ++j) {
          const Between z = between(k, in_d, out_d), v = between(i, in_h, out_h),
                        u = between(j, in_w, out_w);
          const int64_t one = 1 << 20;
          const auto plane = [&](int at) {
            const auto value = [&](int row, int column) {
              return int64_t{
                         x[static_cast<size_t>(((c * in_d + at) * in_h + row) * in_w + column)]} -
                     30000;
            };
            return half_even((one - v.to_high) * ((one - u.to_high) * value(v.low, u.low) +
                                                  u.to_high * value(v.low, u.high)) +
                                 v.to_high * ((one - u.to_high) * value(v.high, u.low) +
                                              u.to_high * value(v.high, u.high)),
                             26);
          };
          const int64_t sum =
              half_even((one - z.to_high) * plane(z.low) + z.to_high * plane(z.high), 20);
          expected.push_back(requantized<uint16_t>(sum, to_same, 0, 30000));
          expected_finer.push_back(
              std::max<uint16_t>(requantized<uint16_t>(sum, to_finer, 0, 20000), 20000));
          expected_narrow.push_back(requantized<int8_t>(sum, to_narrow, 0, -5));
        }
  ASSERT_EQ(same.run_to<uint16_t>({to_bytes(x)}), expected);
  ASSERT_EQ(finer.run_to<uint16_t>({to_bytes(x)}), expected_finer);
  ASSERT_EQ(narrow.run_to<int8_t>({to_bytes(x)}), expected_narrow);
}

TEST(OnnxInt16, LinearResize) {
  check_linear_resize({2, 3, 4, 5}, {2, 3, 8, 10});
  check_linear_resize({1, 2, 4, 5}, {1, 2, 7, 3});
  check_linear_resize({4, 5}, {9, 6});
  check_linear_resize({1, 3, 5}, {1, 3, 11});
  check_linear_resize({3, 4, 5}, {5, 3, 9});
  check_linear_resize({1, 2, 3, 4, 5}, {1, 2, 7, 5, 4});
}

TEST(OnnxInt16, EdgesOfTheModel) {
  OnnxBuilder m(21);
  const std::string x = m.input({5});
  m.output(m.qdq<uint16_t>(x, 0.5f, 32768));
  const std::string y = m.input<uint16_t>({2});
  m.output(m.node("Identity", {y}));
  m.output(m.q<int16_t>(x, 0.5f, 1));
  const auto got = m.run({to_bytes(std::vector<float>{0, -1, 0.75f, 1e9f, -1e9f}),
                          to_bytes(std::vector<uint16_t>{0, 65535})});
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(from_bytes<float>(got[0]), (std::vector<float>{0, -1, 1, 16383.5f, -16384}));
  EXPECT_EQ(from_bytes<uint16_t>(got[1]), (std::vector<uint16_t>{0, 65535}));
  EXPECT_EQ(from_bytes<int16_t>(got[2]), (std::vector<int16_t>{1, -1, 3, 32767, -32768}));
}

TEST(OnnxInt16, RefusesWhatHasNoIntegerForm) {
  const auto rule = [](const std::function<std::string(OnnxBuilder*, const std::string&)>& make) {
    OnnxBuilder m(21);
    const std::string x = m.integer_input<uint16_t>({1, 2, 4, 4}, 0.1f, 0);
    m.integer_output<uint16_t>(make(&m, x), 0.1f, 0);
    return m.import().rule();
  };
  const auto expect = [&](const std::string& part, const auto& make) {
    const std::string said = rule(make);
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  expect("has 16 bits, of which only Add, Sub, Mul", [](OnnxBuilder* m, const std::string& x) {
    return m->node("Div", {x, m->integer_input<uint16_t>({1, 2, 4, 4}, 0.1f, 1)});
  });
  expect("and functions of one with constants along one axis",
         [](OnnxBuilder* m, const std::string& x) {
           return m->node("Div", {x, m->constant({1, 2, 4, 1}, std::vector<float>(8, 0.5f))});
         });
  expect("makes infinities", [](OnnxBuilder* m, const std::string& x) {
    return m->node("Div", {x, m->constant<float>({2, 1, 1}, {1.0f, 0.0f})});
  });
  expect("slopes up to 9.0", [](OnnxBuilder* m, const std::string&) {
    const std::string x = m->integer_input<uint16_t>({1, 2, 4, 4}, 0.1f, 60000);
    return m->node("PRelu", {x, m->constant<float>({2, 1, 1}, {1.0f, 9.0f})});
  });
  expect("rows of 4 elements with input scale", [](OnnxBuilder* m, const std::string& x) {
    m->integer_output<uint16_t>(m->node("LogSoftmax", {x}), 0x1p-18f, 65535);
    return x;
  });
  expect("different numbers of positions", [](OnnxBuilder* m, const std::string& x) {
    return m->node("AveragePool", {x}, {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}});
  });
  expect("beyond int16", [](OnnxBuilder* m, const std::string& x) {
    return m->node("Conv",
                   {x, m->dq<uint16_t>(m->constant<uint16_t>({1, 2, 1, 1}, {1, 40000}), 0.1f, 0)});
  });
  expect("the bias has another scale", [](OnnxBuilder* m, const std::string& x) {
    const std::string w = m->dq<int16_t>(m->constant<int16_t>({1, 2, 1, 1}, {1, 32767}), 100.0f, 0);
    const Names bias = {m->constant<int32_t>({1}, {1}), m->scalar(0.3f)};
    return m->node("Conv", {x, w, m->node("DequantizeLinear", bias)});
  });
}

// Integers without quantisation.
template <class T>
void check_raw(const std::string& op, const std::function<int64_t(int64_t, int64_t)>& f,
               const std::vector<Attr>& attributes = {}) {
  SCOPED_TRACE(op);
  Random random;
  SCOPED_TRACE(random.trace());
  auto a = random_integers<T>(&random, 300), b = random_integers<T>(&random, 300);
  for (size_t i = 0; i < 100; ++i) b[i] = static_cast<T>(random.integer(1, 20));
  b[0] = a[0];
  OnnxBuilder m(18);
  const std::string x = m.input<T>({300}), y = m.input<T>({300});
  const std::string z =
      attributes.empty() ? m.node(op, {x, y}) : m.node(op, {x, y}, {attributes[0]});
  m.output(z);
  const auto got = m.run({to_bytes(a), to_bytes(b)});
  ASSERT_EQ(got.size(), 1u);
  const bool compares = got[0].size() == 300 && sizeof(T) > 1;
  for (size_t i = 0; i < 300; ++i) {
    const int64_t expected = f(a[i], b[i]);
    if (compares) {
      ASSERT_EQ(got[0][i], expected) << i;
    } else {
      ASSERT_EQ(from_bytes<T>(got[0])[i], static_cast<T>(expected)) << i;
    }
  }
}

template <class T>
void check_raw_type() {
  check_raw<T>("Add", [](int64_t a, int64_t b) { return a + b; });
  check_raw<T>("Sub", [](int64_t a, int64_t b) { return a - b; });
  check_raw<T>("Mul", [](int64_t a, int64_t b) { return a * b; });
  check_raw<T>("Div", [](int64_t a, int64_t b) { return b == 0 ? 0 : a / b; });
  check_raw<T>("Mod", [](int64_t a, int64_t b) {
    const int64_t r = b == 0 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  });
  check_raw<T>("Mod", [](int64_t a, int64_t b) { return b == 0 ? 0 : a % b; }, {{"fmod", 1}});
  check_raw<T>("BitwiseXor", [](int64_t a, int64_t b) { return a ^ b; });
  check_raw<T>("Equal", [](int64_t a, int64_t b) { return a == b; });
  check_raw<T>("Less", [](int64_t a, int64_t b) { return a < b; });
  check_raw<T>("GreaterOrEqual", [](int64_t a, int64_t b) { return a >= b; });
  check_raw<T>("Max", [](int64_t a, int64_t b) { return std::max(a, b); });
}

TEST(OnnxIntegers, TwoTensorsOfEveryType) {
  check_raw_type<uint16_t>();
  check_raw_type<int16_t>();
  check_raw_type<int32_t>();
  check_raw<uint16_t>("BitShift", [](int64_t a, int64_t b) { return b > 15 ? 0 : a << b; },
                      {{"direction", "LEFT"}});
  check_raw<uint16_t>("BitShift", [](int64_t a, int64_t b) { return b > 15 ? 0 : a >> b; },
                      {{"direction", "RIGHT"}});
}

template <class T>
void check_raw_unary() {
  std::vector<T> x = {0, 1, 2, static_cast<T>(kLo<T>), static_cast<T>(kHi<T>), static_cast<T>(-9)};
  const std::vector<std::pair<std::string, std::function<int64_t(int64_t)>>> ops = {
      {"Abs", [](int64_t v) { return v < 0 ? -v : v; }},
      {"Neg", [](int64_t v) { return -v; }},
      {"Sign", [](int64_t v) { return (v > 0) - (v < 0); }},
      {"BitwiseNot", [](int64_t v) { return ~v; }},
      {"Relu", [](int64_t v) { return v < 0 ? 0 : v; }}};
  OnnxBuilder m(18);
  const std::string in = m.input<T>({6});
  for (const auto& [op, f] : ops) m.output(m.node(op, {in}));
  const auto got = m.run({to_bytes(x)});
  ASSERT_EQ(got.size(), ops.size());
  for (size_t o = 0; o < ops.size(); ++o)
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(from_bytes<T>(got[o])[i], static_cast<T>(ops[o].second(x[i]))) << ops[o].first;
}

TEST(OnnxIntegers, OneTensorOfEveryType) {
  check_raw_unary<uint16_t>();
  check_raw_unary<int16_t>();
  check_raw_unary<int32_t>();
}

}  // namespace
}  // namespace qrt::testing
