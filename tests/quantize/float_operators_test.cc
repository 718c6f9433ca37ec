// SPDX-License-Identifier: Apache-2.0
// The interpreter's elementwise operators, normalisations, and what moves elements.
#include <functional>
#include <limits>

#include "tests/quantize/float_cases.h"

namespace qrt::testing::floats::float_operators_test {
namespace {

using quantize::Dims;
using quantize::Element;
using quantize::integer_tensor;

Node with(Node node, const char* attribute, int64_t value) {
  node.set(attribute, value);
  return node;
}
Node with(Node node, const char* attribute, const std::string& value) {
  node.set(attribute, value);
  return node;
}

TEST(FloatOperators, FunctionsOfOneElement) {
  const struct {
    const char* op;
    std::function<double(double)> f;
  } cases[] = {
      {"Relu", [](double v) { return std::max(v, 0.0); }},
      {"LeakyRelu", [](double v) { return v < 0 ? 0.01 * v : v; }},
      {"Elu", [](double v) { return v < 0 ? std::expm1(v) : v; }},
      {"Sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"HardSigmoid", [](double v) { return std::min(1.0, std::max(0.0, 0.2 * v + 0.5)); }},
      {"HardSwish", [](double v) { return v * std::min(1.0, std::max(0.0, v / 6 + 0.5)); }},
      {"Tanh", [](double v) { return std::tanh(v); }},
      {"Exp", [](double v) { return std::exp(v); }},
      {"Erf", [](double v) { return std::erf(v); }},
      {"Gelu", [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }},
      {"Softplus", [](double v) { return std::log1p(std::exp(v)); }},
      {"Softsign", [](double v) { return v / (1 + std::fabs(v)); }},
      {"Mish", [](double v) { return v * std::tanh(std::log1p(std::exp(v))); }},
      {"Neg", [](double v) { return -v; }},
      {"Abs", [](double v) { return std::fabs(v); }},
      {"Floor", [](double v) { return std::floor(v); }},
      {"Ceil", [](double v) { return std::ceil(v); }},
      {"Round", [](double v) { return std::nearbyint(v); }},
      {"Reciprocal", [](double v) { return 1 / v; }},
  };
  // More than the pieces that functions of several steps work on.
  Tensor x = real_tensor({1501}, {});
  for (int i = 0; i < 1501; ++i) x.reals.push_back(static_cast<float>(i - 750) / 60 + 0.001f);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    std::vector<float> want;
    for (float v : x.reals) want.push_back(static_cast<float>(c.f(static_cast<double>(v))));
    expect_near(run_node(make_node(c.op, {"x"}, "y"), {x}).reals, want, 2e-6f);
  }
  std::vector<float> want;
  for (float v : x.reals) {
    const double d = static_cast<double>(v);
    want.push_back(static_cast<float>(
        0.5 * d * (1 + std::tanh(std::sqrt(2 / M_PI) * (d + 0.044715 * d * d * d)))));
  }
  expect_near(
      run_node(with(make_node("Gelu", {"x"}, "y"), "approximate", std::string("tanh")), {x}).reals,
      want, 2e-6f);
}

// Limits keep NaN, so that later nodes can count it.
TEST(FloatOperators, LimitsKeepNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(
      std::isnan(run_node(make_node("Relu", {"x"}, "y"), {real_tensor({1}, {nan})}).reals[0]));
  const Tensor y =
      run_node(make_node("Clip", {"x", "lo", "hi"}, "y"),
               {real_tensor({4}, {nan, -3, 3, 9}), real_tensor({}, {0}), real_tensor({}, {6})});
  EXPECT_TRUE(std::isnan(y.reals[0]));
  EXPECT_EQ(std::vector<float>(y.reals.begin() + 1, y.reals.end()), (std::vector<float>{0, 3, 6}));
}

TEST(FloatOperators, BroadcastsEitherSide) {
  Random random;
  const Tensor a = random_tensor({2, 3, 4, 5}, &random), b = random_tensor({3, 1, 1}, &random);
  const Tensor y = run_node(make_node("Sub", {"b", "a"}, "y"), {b, a});
  ASSERT_EQ(y.shape, a.shape);
  for (size_t i = 0; i < y.reals.size(); ++i)
    ASSERT_EQ(y.reals[i], b.reals[i / 20 % 3] - a.reals[i]);
  const Tensor both = run_node(make_node("Mul", {"a", "b"}, "y"),
                               {real_tensor({2, 1}, {2, 3}), real_tensor({1, 3}, {5, 7, 11})});
  EXPECT_EQ(both.reals, (std::vector<float>{10, 14, 22, 15, 21, 33}));
  EXPECT_NE(why_not(make_node("Add", {"a", "b"}, "y"),
                    {real_tensor({2}, {1, 2}), real_tensor({3}, {1, 2, 3})})
                .find("cannot be broadcast"),
            std::string::npos);
}

TEST(FloatOperators, PowersOfEveryKind) {
  const auto power = [](float x, float y) {
    return run_node(make_node("Pow", {"x", "y"}, "z"),
                    {real_tensor({1}, {x}), real_tensor({1}, {y})})
        .reals[0];
  };
  EXPECT_EQ(power(-3, 2), 9);
  EXPECT_EQ(power(-2, 3), -8);
  EXPECT_EQ(power(2.25f, 0.5f), 1.5f);
  EXPECT_EQ(power(4, -1), 0.25f);
  EXPECT_NEAR(power(1.7f, 2.3f), std::pow(1.7, 2.3), 1e-6);
  EXPECT_NEAR(power(1e-20f, 0.3f), std::pow(1e-20, 0.3), 1e-12);
  EXPECT_TRUE(std::isnan(power(-1.5f, 0.3f)));
  EXPECT_EQ(power(0, 0.3f), 0);
}

TEST(FloatOperators, RowsAlongAnyAxis) {
  Random random;
  const Tensor x = random_tensor({3, 5, 4}, &random, 4);
  const Tensor y = run_node(with(make_node("Softmax", {"x"}, "y"), "axis", int64_t{1}), {x});
  const auto e = [&](int64_t n, int64_t c, int64_t i) {
    return std::exp(static_cast<double>(x.reals[static_cast<size_t>((n * 5 + c) * 4 + i)]));
  };
  std::vector<float> want;
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t c = 0; c < 5; ++c)
      for (int64_t i = 0; i < 4; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < 5; ++k) sum += e(n, k, i);
        want.push_back(static_cast<float>(e(n, c, i) / sum));
      }
  expect_near(y.reals, want, 1e-6f);

  Node mean = with(make_node("ReduceMean", {"x", "axes"}, "y"), "keepdims", int64_t{0});
  const Tensor means = run_node(mean, {x, integer_tensor({0, -1})});
  EXPECT_EQ(means.shape, (Dims{5}));
  want.assign(5, 0);
  for (size_t i = 0; i < x.reals.size(); ++i) want[i / 4 % 5] += x.reals[i] / 12;
  expect_near(means.reals, want, 1e-6f);
  EXPECT_EQ(run_node(make_node("ReduceL2", {"x"}, "y"), {real_tensor({2}, {3, 4})}).reals,
            (std::vector<float>{5}));
  EXPECT_EQ(run_node(with(make_node("ArgMax", {"x"}, "y"), "axis", int64_t{1}),
                     {real_tensor({2, 3}, {1, 5, 5, 9, 2, 3})})
                .integers,
            (std::vector<int64_t>{1, 0}));
}

TEST(FloatOperators, Normalisations) {
  Random random;
  const Tensor x = random_tensor({2, 4, 6}, &random, 3);
  const Tensor scale6 = random_tensor({6}, &random), shift6 = random_tensor({6}, &random);
  const Tensor scale4 = random_tensor({4}, &random), shift4 = random_tensor({4}, &random);
  // Returns the normalised element i of n elements from `first` on.
  const auto normal = [&](size_t first, size_t n, size_t i) {
    double mean = 0, square = 0;
    for (size_t k = 0; k < n; ++k)
      mean += static_cast<double>(x.reals[first + k]) / static_cast<double>(n);
    for (size_t k = 0; k < n; ++k) {
      const double d = static_cast<double>(x.reals[first + k]) - mean;
      square += d * d / static_cast<double>(n);
    }
    return static_cast<float>((static_cast<double>(x.reals[i]) - mean) / std::sqrt(square + 1e-5));
  };
  std::vector<float> layer, instance, group;
  for (size_t i = 0; i < x.reals.size(); ++i) {
    const size_t c = i / 6 % 4;
    layer.push_back(normal(i / 6 * 6, 6, i) * scale6.reals[i % 6] + shift6.reals[i % 6]);
    instance.push_back(normal(i / 6 * 6, 6, i) * scale4.reals[c] + shift4.reals[c]);
    group.push_back(normal(i / 12 * 12, 12, i) * scale4.reals[c] + shift4.reals[c]);
  }
  expect_near(
      run_node(make_node("LayerNormalization", {"x", "s", "b"}, "y"), {x, scale6, shift6}).reals,
      layer);
  expect_near(
      run_node(make_node("InstanceNormalization", {"x", "s", "b"}, "y"), {x, scale4, shift4}).reals,
      instance);
  const Node groups =
      with(make_node("GroupNormalization", {"x", "s", "b"}, "y"), "num_groups", int64_t{2});
  expect_near(run_node(groups, {x, scale4, shift4}).reals, group);
}

TEST(FloatOperators, MovesElements) {
  const Tensor x = real_tensor({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto moved = [&](const Node& node, std::vector<Tensor> more) {
    more.insert(more.begin(), x);
    return run_node(node, more).reals;
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(moved(make_node("Transpose", {"x"}, "y"), {}), (Floats{0, 3, 1, 4, 2, 5}));
  const Node slice = make_node("Slice", {"x", "starts", "ends", "axes", "steps"}, "y");
  EXPECT_EQ(moved(slice, {integer_tensor({-1}), integer_tensor({INT64_MIN}), integer_tensor({1}),
                          integer_tensor({-2})}),
            (Floats{2, 0, 5, 3}));
  EXPECT_EQ(moved(make_node("Slice", {"x", "starts", "ends"}, "y"),
                  {integer_tensor({1}), integer_tensor({INT64_MAX})}),
            (Floats{3, 4, 5}));
  EXPECT_EQ(moved(with(make_node("Gather", {"x", "i"}, "y"), "axis", int64_t{1}),
                  {integer_tensor({-1, 0})}),
            (Floats{2, 0, 5, 3}));
  EXPECT_EQ(moved(make_node("Pad", {"x", "p"}, "y"), {integer_tensor({0, 1, 0, -1})}),
            (Floats{0, 0, 1, 0, 3, 4}));
  EXPECT_EQ(moved(with(make_node("Pad", {"x", "p"}, "y"), "mode", std::string("reflect")),
                  {integer_tensor({0, 2, 0, 0})}),
            (Floats{2, 1, 0, 1, 2, 5, 4, 3, 4, 5}));
  EXPECT_EQ(moved(make_node("Tile", {"x", "r"}, "y"), {integer_tensor({1, 2})}),
            (Floats{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(moved(make_node("Reshape", {"x", "s"}, "y"), {integer_tensor({0, -1, 1})}), x.reals);
  EXPECT_EQ(moved(with(make_node("GatherElements", {"x", "i"}, "y"), "axis", int64_t{1}), {[] {
                    Tensor t = integer_tensor({2, -3});
                    t.shape = {2, 1};
                    return t;
                  }()}),
            (Floats{2, 3}));
  const Tensor blocks = real_tensor({1, 4, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Node depth = with(make_node("DepthToSpace", {"x"}, "y"), "blocksize", int64_t{2});
  EXPECT_EQ(run_node(depth, {blocks}).reals, (Floats{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_NE(why_not(make_node("Gather", {"x", "i"}, "y"), {x, integer_tensor({2})}).find("index 2"),
            std::string::npos);
}

TEST(FloatOperators, Resizes) {
  const Tensor x = real_tensor({1, 1, 1, 2}, {1, 3});
  const auto resized = [&](const char* mode, const char* place, float scale) {
    Node node = make_node("Resize", {"x", "", "scales"}, "y");
    node.set("mode", std::string(mode));
    node.set("coordinate_transformation_mode", std::string(place));
    Interpreter interpreter;
    EXPECT_TRUE(interpreter.create(FloatModel(), 1).ok());
    const Tensor scales = real_tensor({4}, {1, 1, 1, scale});
    std::vector<Tensor> outputs;
    const Status status = interpreter.run_node(node, {&x, nullptr, &scales}, &outputs);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok() ? outputs[0].reals : std::vector<float>();
  };
  EXPECT_EQ(resized("linear", "half_pixel", 2), (std::vector<float>{1, 1.5, 2.5, 3}));
  EXPECT_EQ(resized("linear", "asymmetric", 2), (std::vector<float>{1, 2, 3, 3}));
  expect_near(resized("linear", "align_corners", 2), {1, 5.0f / 3, 7.0f / 3, 3}, 1e-6f);
  EXPECT_EQ(resized("nearest", "asymmetric", 1.5f), (std::vector<float>{1, 3, 3}));
  expect_near(resized("cubic", "half_pixel", 2), {0.7890625f, 1.453125f, 2.546875f, 3.2109375f},
              1e-6f);
}

TEST(FloatOperators, IntegersOfShapes) {
  EXPECT_EQ(run_node(make_node("Div", {"a", "b"}, "y"), {integer_tensor({-7}), integer_tensor({2})})
                .integers[0],
            -3);
  EXPECT_EQ(run_node(make_node("Mod", {"a", "b"}, "y"), {integer_tensor({-7}), integer_tensor({2})})
                .integers[0],
            1);
  EXPECT_NE(why_not(make_node("Div", {"a", "b"}, "y"), {integer_tensor({1}), integer_tensor({0})})
                .find("by zero"),
            std::string::npos);
  Node cast = make_node("Cast", {"x"}, "y");
  cast.set("to", int64_t{2});  // uint8
  EXPECT_EQ(run_node(cast, {real_tensor({3}, {-1, 2.9f, 300})}).integers,
            (std::vector<int64_t>{0, 2, 255}));
}

// Results beyond the bounds are refused: a small file may not ask for all memory there is.
TEST(FloatOperators, RefusesResultsBeyondItsBounds) {
  const std::string why =
      why_not(make_node("ConstantOfShape", {"s"}, "y"), {integer_tensor({1 << 20, 1 << 20})});
  EXPECT_NE(why.find("has more than 268435456 elements"), std::string::npos) << why;
  EXPECT_NE(why.find("--budget"), std::string::npos) << why;
  // A tensor of no elements may still have dimensions whose product no integer holds.
  const int64_t large = int64_t{1} << 40;
  const std::string empty =
      why_not(make_node("ConstantOfShape", {"s"}, "y"), {integer_tensor({0, large, large})});
  EXPECT_NE(empty.find("has more than 268435456 elements"), std::string::npos) << empty;
  EXPECT_NE(why_not(make_node("Tile", {"x", "r"}, "y"),
                    {real_tensor({1}, {0}), integer_tensor({int64_t{1} << 60})})
                .find("repeats"),
            std::string::npos);
}

}  // namespace
}  // namespace qrt::testing::floats::float_operators_test
