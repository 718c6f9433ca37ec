// SPDX-License-Identifier: Apache-2.0
// Equalised channels compute the same, and twins whose channels were scaled become alike.
#include "converter/quantize/float/equalise.h"

#include <algorithm>

#include "tests/quantize/float_cases.h"

namespace qrt::testing::floats::equalise_test {
namespace {

using quantize::Dims;
using quantize::Element;

// Returns a model of Conv, limit, depthwise Conv, limit, Conv. `factors`, unless empty, scale the
// inner channels.
FloatModel sequence(const std::vector<float>& factors, const char* limit = "Relu") {
  Random random;
  FloatModel m;
  m.inputs.push_back({"x", {-1, 3, 6, 6}, Element::kFloat});
  m.outputs.push_back({"y", {}, Element::kFloat});
  m.constants["w1"] = random_tensor({5, 3, 3, 3}, &random);
  m.constants["b1"] = random_tensor({5}, &random);
  m.constants["w2"] = random_tensor({5, 1, 3, 3}, &random);
  m.constants["w3"] = random_tensor({4, 5, 1, 1}, &random);
  m.constants["zero"] = real_tensor({}, {0});
  m.constants["six"] = real_tensor({}, {6});
  for (size_t c = 0; c < factors.size(); ++c) {
    for (size_t i = 0; i < 27; ++i) m.constants["w1"].reals[c * 27 + i] *= factors[c];
    m.constants["b1"].reals[c] *= factors[c];
    for (size_t i = 0; i < 9; ++i) m.constants["w2"].reals[c * 9 + i] /= factors[c];
  }
  Node depthwise = make_node("Conv", {"b", "w2"}, "c");
  depthwise.set("group", int64_t{5});
  Node relu = make_node(limit, {"a"}, "b");
  if (std::string(limit) == "Clip") relu.inputs = {"a", "zero", "six"};
  m.nodes = {make_node("Conv", {"x", "w1", "b1"}, "a"), relu, depthwise,
             make_node("Relu", {"c"}, "d"), make_node("Conv", {"d", "w3"}, "y")};
  EXPECT_TRUE(quantize::simplify(&m).ok());
  return m;
}

// Returns the quotient of the greatest and the least of the channels' greatest magnitudes.
double range_ratio(const FloatModel& model, const Tensor& x, const std::string& name,
                   size_t channels) {
  Interpreter interpreter;
  EXPECT_TRUE(interpreter.create(model, 1).ok());
  std::vector<double> most(channels, 0);
  const auto see = [&](const std::string& value, const Tensor& t) {
    if (value != name) return;
    const size_t plane = t.reals.size() / static_cast<size_t>(t.shape[0]) / channels;
    for (size_t i = 0; i < t.reals.size(); ++i) {
      double& m = most[i / plane % channels];
      m = std::max(m, static_cast<double>(std::fabs(t.reals[i])));
    }
  };
  EXPECT_TRUE(interpreter.run({{"x", x}}, see, nullptr).ok());
  return *std::max_element(most.begin(), most.end()) / *std::min_element(most.begin(), most.end());
}

TEST(Equalise, ScaledTwinsBecomeAlike) {
  Random random;
  const Tensor x = random_tensor({2, 3, 6, 6}, &random);
  const std::vector<float> factors = {16, 1.0f / 16, 4, 0.25f, 1};
  FloatModel plain = sequence({}), scaled = sequence(factors);
  const Tensor want = run_model(scaled, {{"x", x}}).at("y");
  const double before = range_ratio(scaled, x, "b", 5);
  for (FloatModel* model : {&plain, &scaled}) {
    int changed = 0;
    ASSERT_TRUE(quantize::equalise({}, model, &changed).ok());
    EXPECT_EQ(changed, 2);
  }
  expect_near(run_model(scaled, {{"x", x}}).at("y").reals, want.reals, 2e-6f);
  EXPECT_GT(before, 30);
  EXPECT_NEAR(range_ratio(scaled, x, "b", 5), range_ratio(plain, x, "b", 5), 0.2);
}

// Channels are scaled to a common size by their maxima over samples, as far as the readers' weights
// allow.
TEST(Equalise, HeedsTheMaximaOfSamples) {
  FloatModel model = sequence({});
  quantize::EqualiseOptions options;
  options.maxima["b"] = {1, 1, 100, 1, 1};
  const Tensor before = model.constants.at("w1");
  int changed = 0;
  ASSERT_TRUE(quantize::equalise(options, &model, &changed).ok());
  const std::string name = model.nodes[0].inputs[1];
  const auto shrunk = [&](size_t c) {
    return before.reals[c * 27] / model.constants.at(name).reals[c * 27];
  };
  EXPECT_GT(shrunk(2), 3 * shrunk(0));
}

// A value that has other readers, too, or is behind a limit, keeps its size.
TEST(Equalise, LeavesWhatOthersRead) {
  FloatModel model = sequence({}, "Clip");
  int changed = 0;
  ASSERT_TRUE(quantize::equalise({}, &model, &changed).ok());
  EXPECT_EQ(changed, 1);  // only behind the depthwise layer
  FloatModel read = sequence({});
  read.outputs.push_back({"b", {}, Element::kFloat});
  ASSERT_TRUE(quantize::equalise({}, &read, &changed).ok());
  EXPECT_EQ(changed, 1);
  quantize::EqualiseOptions relaxed;
  relaxed.relax_limits = true;
  FloatModel clip = sequence({}, "Clip");
  ASSERT_TRUE(quantize::equalise(relaxed, &clip, &changed).ok());
  EXPECT_EQ(changed, 2);
  EXPECT_EQ(count_of(clip, "Clip"), 0);
}

// Outliers that the scale of a LayerNormalization makes, and that the readers divide out again, are
// moved into the readers' weights, also where the normalisation is spelled out in single nodes.
TEST(Equalise, MovesOutliersOfANormIntoItsReaders) {
  Random random;
  const Tensor x = random_tensor({2, 3, 8}, &random);
  for (bool spelled_out : {false, true}) {
    FloatModel m;
    m.inputs.push_back({"x", {-1, 3, 8}, Element::kFloat});
    for (const char* y : {"y", "z"}) m.outputs.push_back({y, {}, Element::kFloat});
    m.constants["scale"] = real_tensor({8}, {1, 1, 64, 1, 1, 1, 32, 1});
    m.constants["shift"] = random_tensor({8}, &random);
    m.constants["w"] = random_tensor({8, 5}, &random);
    m.constants["v"] = random_tensor({8, 4}, &random);
    for (size_t j = 0; j < 5; ++j) m.constants["w"].reals[2 * 5 + j] /= 64;
    if (spelled_out) {
      m.constants["axes"] = quantize::integer_tensor({-1});
      m.constants["epsilon"] = real_tensor({}, {1e-5f});
      m.constants["two"] = real_tensor({}, {2});
      m.nodes = {make_node("ReduceMean", {"x", "axes"}, "mean"),
                 make_node("Sub", {"x", "mean"}, "d"),
                 make_node("Pow", {"d", "two"}, "square"),
                 make_node("ReduceMean", {"square", "axes"}, "variance"),
                 make_node("Add", {"variance", "epsilon"}, "sum"),
                 make_node("Sqrt", {"sum"}, "root"),
                 make_node("Div", {"d", "root"}, "normal"),
                 make_node("Mul", {"normal", "scale"}, "scaled"),
                 make_node("Add", {"scaled", "shift"}, "n")};
    } else {
      m.nodes = {make_node("LayerNormalization", {"x", "scale", "shift"}, "n")};
    }
    m.nodes.push_back(make_node("MatMul", {"n", "w"}, "y"));
    m.nodes.push_back(make_node("MatMul", {"n", "v"}, "z"));
    ASSERT_TRUE(quantize::simplify(&m).ok());
    const auto want = run_model(m, {{"x", x}});
    const auto scale_of = [&] {
      for (const Node& node : m.nodes)
        if (node.op == "LayerNormalization") return m.constants.at(node.inputs[1]).reals;
      return std::vector<float>();
    };
    int changed = 0;
    ASSERT_TRUE(quantize::equalise({}, &m, &changed).ok());
    EXPECT_EQ(changed, 1);
    const auto got = run_model(m, {{"x", x}});
    expect_near(got.at("y").reals, want.at("y").reals, 2e-6f);
    expect_near(got.at("z").reals, want.at("z").reals, 2e-6f);
    const auto scale = scale_of();
    EXPECT_LT(scale[2] / scale[0], 20) << spelled_out;
  }
}

}  // namespace
}  // namespace qrt::testing::floats::equalise_test
