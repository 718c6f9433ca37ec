// SPDX-License-Identifier: Apache-2.0
// Operators in float (float_fallback): refused unless they are asked for; then each operator against
// its formula in double precision, to one step of its output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_float_test {
namespace {

using Row = std::vector<double>;
using Reference = std::function<std::vector<double>(const std::vector<double>&)>;

constexpr float kInScale = 0.05f, kOutScale = 0.02f;
constexpr uint8_t kZero = 128;

std::string input(OnnxBuilder* b, const Dims& dims) {
  return b->integer_input<uint8_t>(dims, kInScale, kZero);
}

// Converts the model, whose output is float tensor `y`, and compares with the reference.
void check(OnnxBuilder* b, const std::string& y, size_t elements, const Reference& reference) {
  b->integer_output<uint8_t>(y, kOutScale, kZero);
  const Imported refused = b->import();
  EXPECT_EQ(refused.status.code(), Code::kUnsupported);
  ASSERT_GE(refused.refusals(), 1);
  for (const convert::Finding& f : refused.report.findings())
    if (f.outcome == convert::Outcome::kRefused) {
      EXPECT_NE(f.remedy.find("--allow-float"), std::string::npos) << f.node;
    }
  b->allow_float = true;
  Random random;
  SCOPED_TRACE(random.trace());
  const std::vector<uint8_t> x = random_integers<uint8_t>(&random, elements);
  Row real;
  for (const uint8_t v : x) real.push_back((v - kZero) * static_cast<double>(kInScale));
  const std::vector<uint8_t> made = b->run_to<uint8_t>({x});
  const Row expected = reference(real);
  ASSERT_EQ(made.size(), expected.size());
  for (size_t i = 0; i < made.size(); ++i) {
    const double q = std::clamp(expected[i] / static_cast<double>(kOutScale) + kZero, 0.0, 255.0);
    EXPECT_NEAR(made[i], q, 1.0) << i;
  }
}

// Applies the reference of one row to every row of n.
Reference rows(size_t n, const std::function<Row(const Row&)>& of_row) {
  return [=](const Row& x) {
    Row y;
    for (size_t at = 0; at < x.size(); at += n) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(at);
      const Row made = of_row(Row(begin, begin + static_cast<std::ptrdiff_t>(n)));
      y.insert(y.end(), made.begin(), made.end());
    }
    return y;
  };
}

Row normalized(const Row& x, double epsilon) {
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  Row y;
  for (const double v : x) y.push_back((v - mean) / std::sqrt(variance + epsilon));
  return y;
}

TEST(OnnxFloat, LayerNormalization) {
  OnnxBuilder b(17);
  const std::string scale = b.constant<float>({4}, {1.0f, 0.5f, 2.0f, -1.0f}),
                    bias = b.constant<float>({4}, {0.0f, 0.25f, -0.5f, 1.0f});
  const std::string y =
      b.node("LayerNormalization", {input(&b, {1, 6, 4}), scale, bias}, {{"epsilon", 0.01f}});
  check(&b, y, 24, rows(4, [](const Row& x) {
    Row n = normalized(x, 0.01);
    return Row{n[0], 0.5 * n[1] + 0.25, 2 * n[2] - 0.5, 1 - n[3]};
  }));
  const Imported imported = b.import();
  EXPECT_EQ(imported.became("LayerNormalization" + std::to_string(b.graph().node_size() - 1)),
            "Float");
  int floats = 0;
  for (const convert::Finding& f : imported.report.findings()) floats += f.level == "F";
  EXPECT_EQ(floats, 1);
}

TEST(OnnxFloat, ALayerNormalizationInPieces) {
  OnnxBuilder b(13);
  const std::string x = input(&b, {1, 3, 8});
  const std::string mean = b.node("ReduceMean", {x}, {{"axes", Dims{-1}}});
  const std::string d = b.node("Sub", {x, mean});
  const std::string variance =
      b.node("ReduceMean", {b.node("Pow", {d, b.scalar(2.0f)})}, {{"axes", Dims{-1}}});
  const std::string deviation = b.node("Sqrt", {b.node("Add", {variance, b.scalar(0.01f)})});
  check(&b, b.node("Div", {d, deviation}), 24,
        rows(8, [](const Row& v) { return normalized(v, 0.01); }));
}

TEST(OnnxFloat, InstanceNormalization) {
  OnnxBuilder b(13);
  const std::string scale = b.constant<float>({2}, {1.0f, 0.5f}),
                    bias = b.constant<float>({2}, {0.25f, -0.5f});
  const std::string y = b.node("InstanceNormalization", {input(&b, {1, 2, 3, 4}), scale, bias});
  check(&b, y, 24, [](const Row& x) {
    Row y;
    for (size_t c = 0; c < 2; ++c) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(12 * c);
      for (const double v : normalized(Row(begin, begin + 12), 1e-5))
        y.push_back(c == 0 ? v + 0.25 : 0.5 * v - 0.5);
    }
    return y;
  });
}

// A BatchNormalization whose result stays float is computed in float. Between DequantizeLinear and
// QuantizeLinear it is a table: onnx_bits/elementwise.cc.
TEST(OnnxFloat, BatchNormalizationOfAFloatResult) {
  OnnxBuilder b(17);
  const std::string all =
      b.node("LayerNormalization", {input(&b, {1, 2, 3}), b.constant<float>({3}, {1, 1, 1})});
  const std::string y =
      b.node("BatchNormalization",
             {all, b.constant<float>({2}, {1.0f, 0.5f}), b.constant<float>({2}, {0.25f, -0.5f}),
              b.constant<float>({2}, {1.0f, -1.0f}), b.constant<float>({2}, {4.0f, 0.25f})});
  check(&b, y, 6, [](const Row& x) {
    Row y;
    for (size_t i = 0; i < 6; ++i) {
      const size_t row = i / 3 * 3;
      const double n = normalized({x[row], x[row + 1], x[row + 2]}, 1e-5)[i % 3];
      y.push_back(i < 3 ? (n - 1) / std::sqrt(4.00001) + 0.25
                        : 0.5 * (n + 1) / std::sqrt(0.25001) - 0.5);
    }
    return y;
  });
}

TEST(OnnxFloat, LogSoftmaxOverAMiddleAxisOfAFloatResult) {
  OnnxBuilder b(13);
  // The float result of a reduction, which nothing quantises: its reader is float as well.
  const std::string x = input(&b, {1, 4, 3});
  const std::string all = b.node("LayerNormalization", {x, b.constant<float>({3}, {1, 1, 1})});
  const std::string y = b.node("LogSoftmax", {all}, {{"axis", 1}});
  check(&b, y, 12, [](const Row& x) {
    Row n;
    for (size_t at = 0; at < 12; at += 3)
      for (const double v : normalized({x[at], x[at + 1], x[at + 2]}, 1e-5)) n.push_back(v);
    Row y(12);
    for (size_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (size_t i = 0; i < 4; ++i) sum += std::exp(n[i * 3 + j]);
      for (size_t i = 0; i < 4; ++i) y[i * 3 + j] = n[i * 3 + j] - std::log(sum);
    }
    return y;
  });
}

TEST(OnnxFloat, ATableInFrontIsPartOfIt) {
  OnnxBuilder b(17);
  const std::string s = b.node("Sigmoid", {input(&b, {1, 2, 4})});
  const std::string y = b.node("LayerNormalization", {s, b.constant<float>({4}, {1, 1, 1, 1})});
  check(&b, y, 8, rows(4, [](const Row& x) {
    Row s;
    for (const double v : x) s.push_back(1 / (1 + std::exp(-v)));
    return normalized(s, 1e-5);
  }));
}

TEST(OnnxFloat, TheBatchStaysOpen) {
  OnnxBuilder b(17);
  const std::string y =
      b.node("LayerNormalization", {input(&b, {1, 2, 4}), b.constant<float>({4}, {1, 1, 1, 1})});
  b.integer_output<uint8_t>(y, kOutScale, kZero);
  b.allow_float = true;
  Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok());
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  EXPECT_TRUE(imported.graph.batch_is_open);
}

TEST(OnnxFloat, WhatHasNoFloatFormStaysRefused) {
  OnnxBuilder b(13);
  b.allow_float = true;
  const std::string x = input(&b, {1, 2, 4});
  b.output(b.node("Det", {x}));
  EXPECT_EQ(b.import().refusals(), 1);
}

TEST(OnnxFloat, SignAndHardmaxOfNaN) {
  OnnxBuilder b(13);
  b.allow_float = true;
  const std::string x = b.input<float>({2, 3});
  b.output(b.node("Sign", {x}));
  b.output(b.node("Hardmax", {x}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Bytes> y =
      b.run({to_bytes(std::vector<float>{nan, 2, -0.0f, -HUGE_VALF, nan, 3})});
  ASSERT_EQ(y.size(), 2u);
  const std::vector<float> signs = from_bytes<float>(y[0]);
  EXPECT_TRUE(std::isnan(signs[0]) && std::isnan(signs[4]));
  EXPECT_EQ((std::vector<float>{signs[1], signs[2], signs[3], signs[5]}),
            (std::vector<float>{1, 0, -1, 1}));
  EXPECT_EQ(from_bytes<float>(y[1]), (std::vector<float>{0, 0, 0, 0, 0, 0}));
}

TEST(OnnxFloat, WindowsOfAnEnormousImageAreRefused) {
  OnnxBuilder b(13);
  const std::string w = input(&b, {1, 1, 3, 3});
  b.integer_output<uint8_t>(b.node("ConvTranspose", {input(&b, {1, 1, 30000, 30000}), w}),
                            kOutScale, kZero);
  EXPECT_EQ(b.import().refusals(), 1);
  b.allow_float = true;
  EXPECT_EQ(b.import().status.code(), Code::kUnsupported);
}

TEST(OnnxFloat, ConvOfGroupsOfAFloatResult) {
  OnnxBuilder b(17);
  // Four channels in two groups of two; three outputs each; a 2 x 1 kernel.
  const std::string all =
      b.node("LayerNormalization", {input(&b, {2, 4, 3, 2}), b.constant<float>({2}, {1, 1})});
  std::vector<float> w;
  for (int i = 0; i < 24; ++i) w.push_back(static_cast<float>(i * 7 % 11) / 8.0f - 0.5f);
  const std::string y =
      b.node("Conv", {all, b.constant<float>({6, 2, 2, 1}, w)}, {{"group", int64_t{2}}});
  check(&b, y, 48, [&](const Row& x) {
    Row n, y;
    for (size_t at = 0; at < x.size(); at += 2)
      for (const double v : normalized({x[at], x[at + 1]}, 1e-5)) n.push_back(v);
    for (size_t image = 0; image < 2; ++image)
      for (size_t o = 0; o < 6; ++o)
        for (size_t p = 0; p < 4; ++p) {
          double sum = 0;
          for (size_t c = 0; c < 2; ++c)
            for (size_t k = 0; k < 2; ++k)
              sum += static_cast<double>(w[(o * 2 + c) * 2 + k]) *
                     n[((image * 4 + o / 3 * 2 + c) * 3 + p / 2 + k) * 2 + p % 2];
          y.push_back(sum);
        }
    return y;
  });
}

TEST(OnnxFloat, OneHotGivesFloats) {
  for (const int64_t axis : {0, -1}) {
    OnnxBuilder b;
    b.output(b.node(
        "OneHot", {b.input<int64_t>({2}), b.scalar<int64_t>(3), b.constant<float>({2}, {-0.5f, 2})},
        {{"axis", axis}}));
    EXPECT_EQ(b.run_to<float>({to_bytes(std::vector<int64_t>{-1, 5})}),
              axis == 0 ? (std::vector<float>{-0.5f, -0.5f, -0.5f, -0.5f, 2, -0.5f})
                        : (std::vector<float>{-0.5f, -0.5f, 2, -0.5f, -0.5f, -0.5f}));
  }
}

TEST(OnnxFloat, TriluKeepsATriangle) {
  for (const int upper : {0, 1}) {
    OnnxBuilder b(14);
    b.allow_float = true;
    b.output(b.node("Trilu", {b.input({2, 3})}, {{"upper", upper}}));
    EXPECT_EQ(b.run_to<float>({to_bytes(std::vector<float>{1, -2, 3, 4, -5, 6})}),
              upper != 0 ? (std::vector<float>{1, -2, 3, 0, -5, 6})
                         : (std::vector<float>{1, 0, 0, 4, -5, 0}));
  }
}

TEST(OnnxFloat, SinesAndLogarithmsOfSums) {
  for (const char* op : {"Sin", "Cos"}) {
    OnnxBuilder b;
    const bool is_sine = op[0] == 'S';
    check(&b, b.node(op, {input(&b, {256})}), 256, [is_sine](const Row& x) {
      Row y;
      for (const double v : x) y.push_back(is_sine ? std::sin(v) : std::cos(v));
      return y;
    });
  }
  OnnxBuilder b;
  const std::string y =
      b.node("ReduceLogSumExp", {input(&b, {32, 8})}, {{"axes", Dims{1}}, {"keepdims", 0}});
  check(&b, y, 256, rows(8, [](const Row& x) {
    double sum = 0;
    for (const double v : x) sum += std::exp(v);
    return Row{std::log(sum)};
  }));
}

// Imports a model of float inputs of these shapes, runs it on numbers and returns its only output.
std::vector<float> run_floats(OnnxBuilder* b, const std::string& y,
                              const std::vector<std::vector<float>>& inputs) {
  b->output(y);
  b->allow_float = true;
  std::vector<Bytes> bytes;
  for (const auto& x : inputs) bytes.push_back(to_bytes(x));
  return b->run_to<float>(bytes);
}

TEST(OnnxFloat, Powers) {
  const std::vector<float> x = {0.0f, 0.25f, 3.0f, 1e-30f, 700.0f, -2.0f};
  for (const float e : {-0.5f, -1.0f, 0.0f, 1.0f, 1.5f, 4.0f, -3.0f}) {
    OnnxBuilder b(15);
    const std::vector<float> y = run_floats(&b, b.node("Pow", {b.input({6}), b.scalar(e)}), {x});
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const auto expected =
          static_cast<float>(std::pow(static_cast<double>(x[i]), static_cast<double>(e)));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(y[i])) << x[i] << " to the power " << e;
      else
        EXPECT_EQ(y[i], expected) << x[i] << " to the power " << e;
    }
  }
  OnnxBuilder whole(15);
  EXPECT_EQ(run_floats(&whole, whole.node("Pow", {whole.input({2}), whole.scalar<int64_t>(-2)}),
                       {{4.0f, -0.5f}}),
            (std::vector<float>{0.0625f, 4.0f}));
  OnnxBuilder both(15);
  EXPECT_EQ(run_floats(&both, both.node("Pow", {both.input({2, 1}), both.input({2})}),
                       {{2.0f, 9.0f}, {0.5f, 3.0f}}),
            (std::vector<float>{std::sqrt(2.0f), 8.0f, 3.0f, 729.0f}));
}

// Numbers at the edges of the type.
const std::vector<float> kEdges = {NAN, HUGE_VALF, -HUGE_VALF, 0.0f, -0.0f, 1e-45f, -3.0f, 2.0f};
// Expects equal numbers; a NaN equals a NaN.
void expect_same(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << got[i] << ", expected " << expected[i];
}

TEST(OnnxFloat, MaxAndMinKeepNaN) {
  std::vector<float> left, right;
  for (const float a : kEdges)
    for (const float b : kEdges) left.push_back(a), right.push_back(b);
  const auto n = static_cast<int64_t>(left.size());
  for (const bool most : {false, true}) {
    const auto extreme = [most](float a, float b) {
      return std::isnan(a) || std::isnan(b) ? NAN : most ? std::max(a, b) : std::min(a, b);
    };
    std::vector<float> of_two, of_constant;
    for (size_t i = 0; i < left.size(); ++i) {
      of_two.push_back(extreme(left[i], right[i]));
      of_constant.push_back(extreme(extreme(left[i], 0), right[i]));
    }
    const std::string op = most ? "Max" : "Min";
    OnnxBuilder two(13);
    expect_same(run_floats(&two, two.node(op, {two.input({n}), two.input({n})}), {left, right}),
                of_two);
    OnnxBuilder three(13);
    const std::string a = three.input({n}), c = three.input({n});
    expect_same(run_floats(&three, three.node(op, {a, three.scalar(0.0f), c}), {left, right}),
                of_constant);
  }
}

TEST(OnnxFloat, LeakyReluOfInfinities) {
  for (const float slope : {0.0f, 0.5f, -0.5f, 2.0f}) {
    std::vector<float> expected;
    for (const float v : kEdges) expected.push_back(v >= 0 ? v : slope * v);
    OnnxBuilder b(13);
    const auto n = static_cast<int64_t>(kEdges.size());
    expect_same(run_floats(&b, b.node("LeakyRelu", {b.input({n})}, {{"alpha", slope}}), {kEdges}),
                expected);
  }
}

TEST(OnnxFloat, TheRootOfANegativeInfinityAsAPower) {
  OnnxBuilder b(15);
  const auto n = static_cast<int64_t>(kEdges.size());
  const std::vector<float> y =
      run_floats(&b, b.node("Pow", {b.input({n}), b.scalar(0.5f)}), {kEdges});
  std::vector<float> expected;
  for (const float v : kEdges) expected.push_back(std::pow(v, 0.5f));
  expect_same(y, expected);
}

TEST(OnnxFloat, AnEinsumTransposesAConstantOutput) {
  OnnxBuilder b(13);
  b.output(b.node("Relu", {b.input({1})}));
  const std::string w = b.constant<float>({2, 2}, {1, 2, 3, 4});
  b.output(b.node("Einsum", {w}, {{"equation", "ij->ji"}}));
  b.allow_float = true;
  const std::vector<Bytes> y = b.run({to_bytes(std::vector<float>{1})});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(from_bytes<float>(y[1]), (std::vector<float>{1, 3, 2, 4}));
}

TEST(OnnxFloat, RoundingToIntegers) {
  const std::vector<float> x = {-2.5f, -1.5f, -0.4f, 0.5f, 1.5f, 1e30f};
  const auto check = [&](const char* op, const std::vector<float>& expected) {
    OnnxBuilder b(13);
    EXPECT_EQ(run_floats(&b, b.node(op, {b.input({6})}), {x}), expected) << op;
  };
  check("Round", {-2, -2, 0, 0, 2, 1e30f});
  check("Floor", {-3, -2, -1, 0, 1, 1e30f});
  check("Ceil", {-2, -1, 0, 1, 2, 1e30f});
}

TEST(OnnxFloat, ProductsBroadcast) {
  const auto check = [](const Dims& a, const Dims& c, const std::vector<float>& expected) {
    OnnxBuilder b(13);
    const auto numbers = [](const Dims& dims) {
      std::vector<float> v(1);
      for (const int64_t d : dims) v.resize(v.size() * static_cast<size_t>(d));
      for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i + 1);
      return v;
    };
    EXPECT_EQ(run_floats(&b, b.node("MatMul", {b.input(a), b.input(c)}), {numbers(a), numbers(c)}),
              expected);
  };
  // Two matrices by one, one by two, one of each of two dimensions by the other's; vectors.
  check({2, 1, 2}, {1, 2, 1}, {5, 11});
  check({1, 1, 2}, {2, 2, 1}, {5, 11});
  check({2, 1, 1, 2}, {1, 2, 2, 1}, {5, 11, 11, 25});
  check({1, 2, 1, 2}, {2, 1, 2, 1}, {5, 11, 11, 25});
  check({1, 2}, {2, 2, 1}, {5, 11});
  check({2, 1, 2}, {2}, {5, 11});
  check({2}, {2, 2, 1}, {5, 11});
}

TEST(OnnxFloat, GroupNormalization) {
  for (const bool of_groups : {false, true}) {
    OnnxBuilder b(21);
    const std::string scale =
        of_groups ? b.constant<float>({2}, {1, 0.5f}) : b.constant<float>({4}, {1, 1, 0.5f, 0.5f});
    const std::string bias = of_groups ? b.constant<float>({2}, {0, 0.25f})
                                       : b.constant<float>({4}, {0, 0, 0.25f, 0.25f});
    const std::string y =
        b.node("GroupNormalization", {input(&b, {2, 4, 3}), scale, bias}, {{"num_groups", 2}});
    size_t row = 0;
    check(&b, y, 24, rows(6, [&row](const Row& x) {
      Row made = normalized(x, 1e-5);
      if (row++ % 2 == 1)
        for (double& v : made) v = v * 0.5 + 0.25;
      return made;
    }));
  }
}

// Computes f of every number.
Reference each(double (*f)(double)) {
  return [f](const Row& x) {
    Row y;
    for (const double v : x) y.push_back(f(v));
    return y;
  };
}

// Gelu by tanh and QuickGelu have float forms. Their input is a sine that nothing quantises: on 8
// bits they would be tables.
TEST(OnnxFloat, GelusByTanhAndBySigmoid) {
  OnnxBuilder b(20);
  const std::string sine = b.node("Sin", {input(&b, {256})});
  check(&b, b.node("Gelu", {sine}, {{"approximate", "tanh"}}), 256, each([](double x) {
    const double v = std::sin(x);
    return 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
  }));
  OnnxBuilder quick(20);
  const std::string angle = quick.node("Sin", {input(&quick, {256})});
  check(&quick, quick.node("QuickGelu", {angle}, {{"alpha", 1.5f}}, "com.microsoft"), 256,
        each([](double x) { return std::sin(x) / (1 + std::exp(-1.5 * std::sin(x))); }));
}

TEST(OnnxFloat, SumsAndMeansOfSeveral) {
  for (const char* op : {"Sum", "Mean"}) {
    OnnxBuilder b(13);
    const bool is_mean = op[0] == 'M';
    const std::string x = input(&b, {64}),
                      addend = b.constant<float>({64}, std::vector<float>(64, 0.5f));
    check(&b, b.node(op, {x, addend, x}), 64, [is_mean](const Row& x) {
      Row y;
      for (const double v : x) y.push_back((2 * v + 0.5) / (is_mean ? 3 : 1));
      return y;
    });
  }
}

TEST(OnnxFloat, WhatIsNoNumberIsFound) {
  OnnxBuilder b(13);
  const std::string logarithm = b.node("Log", {input(&b, {256})});
  check(&b, b.node("Where", {b.node("IsNaN", {logarithm}), b.scalar(0.25f), logarithm}), 256,
        each([](double v) { return v < 0 ? 0.25 : std::log(v); }));
  for (const int sign : {-1, 0, 1}) {
    OnnxBuilder infinite(20);
    const std::string x = infinite.node("Reciprocal", {input(&infinite, {256})});
    const std::string found = infinite.node(
        "IsInf", {x}, {{"detect_positive", sign >= 0}, {"detect_negative", sign <= 0}});
    check(&infinite, infinite.node("Where", {found, infinite.scalar(0.25f), x}), 256,
          [sign](const Row& x) {
            Row y;
            for (const double v : x) y.push_back(v == 0 && sign >= 0 ? 0.25 : 1 / v);
            return y;
          });
  }
}

TEST(OnnxFloat, LocalResponseNormalization) {
  for (const float beta : {0.25f, 0.5f, 0.6f, 0.75f, 1.0f}) {
    OnnxBuilder b(13);
    const std::string y = b.node("LRN", {input(&b, {1, 5, 2, 3})},
                                 {{"size", 3}, {"alpha", 0.5f}, {"beta", beta}, {"bias", 2.0f}});
    check(&b, y, 30, [beta](const Row& x) {
      Row y;
      for (size_t i = 0; i < x.size(); ++i) {
        double sum = 0;
        for (size_t c = i / 6 == 0 ? 0 : i / 6 - 1; c <= std::min<size_t>(4, i / 6 + 1); ++c)
          sum += x[c * 6 + i % 6] * x[c * 6 + i % 6];
        y.push_back(x[i] / std::pow(2 + 0.5 / 3 * sum, static_cast<double>(beta)));
      }
      return y;
    });
  }
  OnnxBuilder b(13);
  b.allow_float = true;
  b.output(b.node("LRN", {input(&b, {1, 5, 2, 3})}, {{"size", 4}}));
  EXPECT_EQ(b.import().refusals(), 1);
}

TEST(OnnxFloat, LpNormalization) {
  for (const int p : {1, 2}) {
    OnnxBuilder b(13);
    const std::string y = b.node("LpNormalization", {input(&b, {4, 6})}, {{"p", p}, {"axis", 1}});
    check(&b, y, 24, rows(6, [p](const Row& x) {
      double sum = 0;
      for (const double v : x) sum += p == 2 ? v * v : std::fabs(v);
      const double norm = p == 2 ? std::sqrt(sum) : sum;
      Row y;
      for (const double v : x) y.push_back(norm > 0 ? v / norm : 0);
      return y;
    }));
  }
}

TEST(OnnxFloat, MeanVarianceNormalization) {
  OnnxBuilder b(13);
  check(&b, b.node("MeanVarianceNormalization", {input(&b, {1, 3, 2, 4})}), 24,
        rows(8, [](const Row& x) { return normalized(x, 0); }));
}

TEST(OnnxFloat, AveragesOfVolumes) {
  for (const int include : {0, 1}) {
    OnnxBuilder b(13);
    // The pool reads a float result that nothing quantises, so that it is float as well.
    const std::string y = b.node("AveragePool", {b.node("Sin", {input(&b, {1, 2, 3, 4, 5})})},
                                 {{"kernel_shape", Dims{2, 3, 2}},
                                  {"strides", Dims{1, 2, 2}},
                                  {"pads", Dims{1, 1, 0, 0, 1, 1}},
                                  {"count_include_pad", include}});
    check(&b, y, 120, [include](const Row& x) {
      Row y;
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 3; ++d)
          for (int h = 0; h < 2; ++h)
            for (int w = 0; w < 3; ++w) {
              double sum = 0;
              int inside = 0;
              for (int i = d - 1; i < d + 1; ++i)
                for (int j = 2 * h - 1; j < 2 * h + 2; ++j)
                  for (int k = 2 * w; k < 2 * w + 2; ++k) {
                    if (i < 0 || i > 2 || j < 0 || j > 3 || k > 4) continue;
                    sum += std::sin(x[static_cast<size_t>(((c * 3 + i) * 4 + j) * 5 + k)]);
                    ++inside;
                  }
              y.push_back(sum / (include != 0 ? 12 : inside));
            }
      return y;
    });
  }
}

// Adds x[j] e^(-2 pi i j k / n) w[j], j from `begin` on.
void transform(const Row& x, size_t begin, const Row& w, size_t k, Row* y) {
  double real = 0, imaginary = 0;
  for (size_t j = 0; j < w.size(); ++j) {
    const double angle =
        2 * 3.14159265358979323846 * static_cast<double>(j * k) / static_cast<double>(w.size());
    real += x[begin + j] * w[j] * std::cos(angle);
    imaginary -= x[begin + j] * w[j] * std::sin(angle);
  }
  y->push_back(real);
  y->push_back(imaginary);
}

TEST(OnnxFloat, FourierTransformsOfFrames) {
  for (const int onesided : {0, 1}) {
    OnnxBuilder b(17);
    const std::vector<float> window = {0.125f, 0.25f, 0.5f, 0.25f, 0.125f, 0.0625f};
    const std::string y =
        b.node("STFT", {input(&b, {2, 16}), b.scalar(int64_t{5}), b.constant<float>({6}, window)},
               {{"onesided", onesided}});
    check(&b, y, 32, [&](const Row& x) {
      Row y;
      const Row w(window.begin(), window.end());
      for (size_t row = 0; row < 2; ++row)
        for (size_t frame = 0; frame < 3; ++frame)
          for (size_t k = 0; k < (onesided != 0 ? 4u : 6u); ++k)
            transform(x, row * 16 + frame * 5, w, k, &y);
      return y;
    });
  }
}

TEST(OnnxFloat, FourierTransformsThereAndBack) {
  OnnxBuilder b(17);
  const std::string there = b.node("DFT", {input(&b, {1, 8, 1})}, {{"axis", 1}});
  const std::string back = b.node("DFT", {there}, {{"axis", 1}, {"inverse", 1}});
  check(&b, back, 8, [](const Row& x) {
    Row y;
    for (const double v : x) y.insert(y.end(), {v, 0.0});
    return y;
  });
  OnnxBuilder half(17);
  check(&half, half.node("DFT", {input(&half, {1, 7, 1})}, {{"axis", 1}, {"onesided", 1}}), 7,
        [](const Row& x) {
          Row y;
          for (size_t k = 0; k < 4; ++k) transform(x, 0, Row(7, 1.0), k, &y);
          return y;
        });
}

}  // namespace
}  // namespace qrt::testing::onnx_float_test
