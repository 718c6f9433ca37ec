// SPDX-License-Identifier: Apache-2.0
// ONNX graphs of 16-bit activations: layers against sums of 64 bits and the multipliers in the
// graph, which are held against the real factor; the model's edges; refusals.
#include "tests/support/onnx_int16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/integer_build.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_int16_test {
namespace {

constexpr float kXScale = 0.0007f;

// Checks Conv [2, c, 7, 6] with 3x3 weights of one scale for each of `out` channels, padding 1, and a bias.
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

// Weights get more bits where the unit of the bias is far from x * w: 8 bits alone would round the
// bias to half of 256 output steps.
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
    for (const int64_t channels : {2, 5, 16, 17, 24, 48}) {  // depthwise, in groups of 16 or less
      check_coarse_bias(channels, channels, channels, 3, product);
      check_coarse_bias(channels, 2 * channels, channels, 1, product);
    }
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

// Products of two computed tensors are exact; one of them may have 8 bits.
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

// Float results of matrix products are refused: ONNX Runtime adds floats in an order of its own,
// and no rounding follows.
TEST(OnnxInt16, FloatResultsOfMatricesAreRefused) {
  OnnxBuilder product(21);
  const std::string a = product.integer_input<uint16_t>({1, 3}, 0.5f, 4);
  product.output(product.node(
      "MatMul",
      {a, product.dq<int8_t>(product.constant<int8_t>({3, 2}, {1, 2, 3, -4, 5, 6}), 0.25f, 0)}));
  EXPECT_NE(product.import().rule().find("without a QuantizeLinear"), std::string::npos);
}

TEST(OnnxInt16, FloatResultsOfConvolutions) {
  if (is_integer_build()) GTEST_SKIP() << "this build multiplies no floats";
  OnnxBuilder b(21);
  const std::string x = b.integer_input<uint16_t>({1, 1, 2, 2}, 0.5f, 4);
  b.output(b.node("Conv", {x, b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {3}), 0.25f, 0)}));
  const auto got = b.run({to_bytes(std::vector<uint16_t>{4, 6, 0, 65535})});
  EXPECT_EQ(from_bytes<float>(got[0]), (std::vector<float>{0, 0.75f, -1.5f, 24574.125f}));
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

}  // namespace
}  // namespace qrt::testing::onnx_int16_test
