// SPDX-License-Identifier: Apache-2.0
// Every rule of --lint both ways: a model that breaks it, and one like it that does not.
#include "converter/lint.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/onnx_builder.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::lint_test {
namespace {

using convert::Report;
using convert::Warning;

// The warnings of one rule.
std::vector<Warning> warnings(const convert::Graph& graph, Report* report,
                              const std::string& rule) {
  convert::lint(graph, report);
  std::vector<Warning> found;
  for (const Warning& w : report->warnings()) {
    EXPECT_NE(w.what, "");
    EXPECT_NE(w.remedy, "");
    EXPECT_FALSE(w.numbers.empty());
    if (w.rule == rule) found.push_back(w);
  }
  return found;
}

std::vector<Warning> warnings(const OnnxBuilder& b, const std::string& rule) {
  Imported imported = b.import();
  return warnings(imported.graph, &imported.report, rule);
}

std::vector<Warning> warnings(const TfliteBuilder& b, const std::string& rule) {
  Imported imported = b.import();
  return warnings(imported.graph, &imported.report, rule);
}

double number(const Warning& w, const std::string& name) {
  for (const auto& [key, value] : w.numbers)
    if (key == name) return value;
  ADD_FAILURE() << "no number '" << name << "' in: " << w.what;
  return 0;
}

// Boxes up to 640 beside scores up to `scores`, in one tensor of 640 / 255 a step.
OnnxBuilder detection_head(float scores) {
  OnnxBuilder b;
  const std::string boxes = b.integer_input<uint8_t>({1, 4}, 640.0f / 255, 0);
  const std::string logits = b.integer_input<uint8_t>({1, 4}, 0.1f, 128);
  const std::string s = b.qdq<uint8_t>(b.node("Sigmoid", {logits}), scores / 255, 0);
  b.integer_output<uint8_t>(b.node("Concat", {boxes, s}, {{"axis", 1}}), 640.0f / 255, 0);
  return b;
}

TEST(Lint, ConcatOfWideAndNarrowRanges) {
  const auto found = warnings(detection_head(1.0f), "wide-range-concat");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(number(found[0], "input"), 1);
  EXPECT_EQ(number(found[0], "steps"), 0);
  EXPECT_EQ(found[0].op, "Concat");
  EXPECT_TRUE(warnings(detection_head(640.0f), "wide-range-concat").size() == 1u)
      << "a Sigmoid ends at 1, whatever its scale says";
}

TEST(Lint, ConcatOfLikeRanges) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 4}, 0.02f, 3);
  const std::string y = b.integer_input<uint8_t>({1, 4}, 0.01f, 128);
  b.integer_output<uint8_t>(b.node("Concat", {x, y}, {{"axis", 1}}), 0.02f, 100);
  EXPECT_TRUE(warnings(b, "wide-range-concat").empty());
}

// Returns a Gemm of two channels with weights w and biases b.
OnnxBuilder layer(const std::vector<int8_t>& w, const std::vector<int32_t>& bias, float y_scale,
                  uint8_t y_zero = 0, const std::string& behind = "") {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 2}, 0.5f, 10);
  const std::string weights = b.dq<int8_t>(b.constant<int8_t>({2, 2}, w), 0.25f, 0);
  const std::string biases = b.node(
      "DequantizeLinear", {b.constant<int32_t>({2}, bias), b.scalar(0.125f), b.scalar<int32_t>(0)});
  const std::string y = b.node("Gemm", {x, weights, biases}, {{"transB", 1}});
  b.integer_output<uint8_t>(behind.empty() ? y : b.node(behind, {y}), y_scale, y_zero);
  return b;
}

TEST(Lint, BiasAtTheLimitOfInt32) {
  const auto found = warnings(layer({1, 2, 3, 4}, {5, INT32_MIN}, 1.0f), "bias-clipped");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(number(found[0], "clipped"), 1);
  EXPECT_EQ(number(found[0], "first"), 1);
  EXPECT_EQ(warnings(layer({1, 2, 3, 4}, {INT32_MAX, 5}, 1.0f), "bias-clipped").size(), 1u);
  EXPECT_TRUE(warnings(layer({1, 2, 3, 4}, {5, INT32_MIN + 1}, 1.0f), "bias-clipped").empty());
}

TEST(Lint, AccumulatorsBeyondTheBound) {
  // 255 * (1 + 2) = 765
  const int32_t most = INT32_MAX - 765;
  EXPECT_TRUE(warnings(layer({1, 2, 3, 4}, {most, 0}, 1.0f), "accumulator").empty());
  const auto found = warnings(layer({1, 2, 3, 4}, {most + 1, 0}, 1.0f), "accumulator");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(number(found[0], "bound"), 2147483648.0);
  EXPECT_EQ(number(found[0], "beyond"), 1);
}

TEST(Lint, ChannelsThatAreAlwaysOneValue) {
  const auto zero = warnings(layer({1, 2, 0, 0}, {5, 6}, 1.0f), "dead-channels");
  ASSERT_EQ(zero.size(), 1u);
  EXPECT_EQ(number(zero[0], "dead"), 1);
  EXPECT_EQ(number(zero[0], "first"), 1);
  // All of channel 0 is below the output's range.
  EXPECT_EQ(warnings(layer({1, 2, 3, 4}, {-100000, 6}, 1.0f), "dead-channels").size(), 1u);
  EXPECT_TRUE(warnings(layer({1, 2, 3, 4}, {5, 6}, 1.0f), "dead-channels").empty());
}

OnnxBuilder sum(float a_scale, float b_scale) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({4}, a_scale, 3);
  const std::string y = b.integer_input<uint8_t>({4}, b_scale, 4);
  b.integer_output<uint8_t>(b.node("Add", {x, y}), 0.5f, 5);
  return b;
}

TEST(Lint, AddOfScalesFarApart) {
  EXPECT_TRUE(warnings(sum(0.25f, 0.25f / 256), "add-scale-ratio").empty());
  for (const bool swap : {false, true}) {
    const float small = 0.25f / 257;
    const auto found = warnings(swap ? sum(0.25f, small) : sum(small, 0.25f), "add-scale-ratio");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(number(found[0], "ratio"), 257, 1e-3);
  }
}

TEST(Lint, RangesThatAReluMakesPointless) {
  // Limits within the operator: zero point 128, so that half of the codes stand for less than zero.
  const auto fused = warnings(layer({1, 2, 3, 4}, {5, 6}, 1.0f, 128, "Relu"), "pointless-range");
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(number(fused[0], "useless"), 128);
  EXPECT_TRUE(warnings(layer({1, 2, 3, 4}, {5, 6}, 1.0f, 63, "Relu"), "pointless-range").empty());
  EXPECT_EQ(warnings(layer({1, 2, 3, 4}, {5, 6}, 1.0f, 64, "Relu"), "pointless-range").size(), 1u);
}

TEST(Lint, ARangeThatATableMakesPointless) {
  for (const bool also_read : {false, true}) {
    OnnxBuilder b = layer({1, 2, 3, 4}, {5, 6}, 1.0f, 128);
    const std::string y = b.graph().output(0).name();
    if (!also_read) b.graph().clear_output();
    b.output(b.q<uint8_t>(b.node("Relu", {b.dq<uint8_t>(y, 1.0f, 128)}), 0.5f, 0));
    // Another reader may want the activation's negative half.
    EXPECT_EQ(warnings(b, "pointless-range").size(), also_read ? 0u : 1u);
  }
}

// Lint says nothing of a table behind 16 bits, whose codes are no indices of a table of bytes.
TEST(Lint, SaysNothingOfTablesBehind16Bits) {
  OnnxBuilder b(21);
  const std::string x = b.integer_input<uint16_t>({1, 2, 2, 2}, 0.1f, 0);
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 2, 1, 1}, {1, 2}), 0.1f, int8_t{0});
  const std::string y = b.qdq<uint16_t>(b.node("Conv", {x, w}), 0.1f, 0);
  b.integer_output<uint8_t>(b.node("Sigmoid", {y}), 1.0f / 256, uint8_t{0});
  Imported imported = b.import();
  ASSERT_EQ(imported.rule(), "");
  EXPECT_EQ(imported.count(fb::OpOptions::Lut), 1);
  convert::lint(imported.graph, &imported.report);
  EXPECT_TRUE(imported.report.warnings().empty());
}

TEST(Lint, ScalesThatAreNoUsableNumbers) {
  for (const float scale : {0.0f, 1e-40f, INFINITY, 0.5f}) {
    OnnxBuilder b;
    b.integer_output<uint8_t>(b.node("Relu", {b.qdq<uint8_t>(b.input({4}), scale, 3)}), 0.5f, 5);
    const auto found = warnings(b, "scale");
    ASSERT_EQ(found.empty(), scale == 0.5f) << scale;
    for (const Warning& w : found) EXPECT_EQ(number(w, "scale"), static_cast<double>(scale));
  }
}

TfliteBuilder tflite_conv(float input_scale, int8_t weight) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 2, 2, 1}, input_scale, 3);
  const int w = b.constant<int8_t>(TensorType::INT8, {1, 1, 1, 1}, {weight}, {0.5f}, {0});
  const int y = b.output(TensorType::INT8, {1, 2, 2, 1}, 0.5f, 3);
  tflite::Conv2DOptionsT o;
  o.stride_h = o.stride_w = 1;
  b.op(BuiltinOperator::CONV_2D, {x, w}, {y}, o);
  return b;
}

TEST(Lint, LooksAtTfliteModelsToo) {
  EXPECT_EQ(warnings(tflite_conv(0.5f, 0), "dead-channels").size(), 1u);
  EXPECT_TRUE(warnings(tflite_conv(0.5f, 7), "dead-channels").empty());
  EXPECT_EQ(warnings(tflite_conv(1e-40f, 7), "scale").size(), 1u);
  EXPECT_TRUE(warnings(tflite_conv(0.5f, 7), "scale").empty());
}

convert::Graph one_value(DType dtype, const Shape& shape) {
  convert::Graph g;
  convert::Value x;
  x.name = "x";
  x.type = {dtype, shape};
  x.quantization = {{0.5f}, {3}, -1};
  g.inputs = {g.add_value(std::move(x))};
  return g;
}

TEST(Lint, PadWithAnotherValueThanZero) {
  for (const int64_t fill : {3, 6}) {
    convert::Graph g = one_value(DType::kUInt8, {4});
    convert::Value y;
    y.type = {DType::kUInt8, {6}};
    g.outputs = {g.add_value(std::move(y))};
    g.nodes.push_back(
        convert::make_node<fb::GatherOptionsT>("pad", "Pad", {g.inputs[0]}, {g.outputs[0]}));
    auto& o = convert::options<fb::GatherOptionsT>(g.nodes[0]);
    o.axes.push_back(std::make_unique<fb::GatherAxisT>());
    o.axes[0]->index = {-1, 0, 1, 2, 3, -1};
    o.fill = fill;
    Report report;
    const auto found = warnings(g, &report, "padding");
    ASSERT_EQ(found.size(), fill == 3 ? 0u : 1u);
    for (const Warning& warning : found) EXPECT_EQ(number(warning, "padding"), 1.5);
    o.axes[0]->index = {0, 0, 1, 2, 3, 3};  // nothing is filled
    Report no_fill;
    EXPECT_TRUE(warnings(g, &no_fill, "padding").empty());
  }
}

// Lint finds a convolution whose padding is not zero. No front end makes one today; the rule guards
// future ones.
TEST(Lint, PaddingOfAConvolutionThatIsNotZero) {
  for (const uint8_t padding : {3, 9}) {
    convert::Graph g = one_value(DType::kUInt8, {1, 3, 3, 1});
    const auto in = g.inputs[0];
    const auto w =
        g.add_constant<int16_t>("w", DType::kInt16, {1, 3, 3, 1}, std::vector<int16_t>(9, 1));
    const auto bias = g.add_constant<int32_t>("b", DType::kInt32, {1}, {0});
    convert::Value y;
    y.type = {DType::kUInt8, {1, 3, 3, 1}};
    const auto out = g.add_value(std::move(y));
    g.nodes.push_back(convert::make_node<fb::Conv2DOptionsT>("conv", "Conv", {in, w, bias}, {out}));
    auto& o = convert::options<fb::Conv2DOptionsT>(g.nodes[0]);
    o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
    o.input_zero_point = padding;
    g.outputs = {out};
    Report report;
    const auto found = warnings(g, &report, "padding");
    ASSERT_EQ(found.size(), padding == 3 ? 0u : 1u);
    for (const Warning& warning : found) EXPECT_EQ(number(warning, "padding"), 3.0);
  }
}

TEST(Lint, TextAndJsonHaveRuleNumbersAndRemedy) {
  Imported imported = detection_head(1.0f).import();
  convert::lint(imported.graph, &imported.report);
  const std::string text = imported.report.warnings_text();
  EXPECT_NE(text.find(": wide-range-concat: input 1 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n         remedy: "), std::string::npos);
  EXPECT_NE(text.find("\n2 warnings\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(imported.report.json({false, true}));
  EXPECT_FALSE(json.contains("nodes"));
  // The Sigmoid's table has one value only in these steps.
  ASSERT_EQ(json["warnings"].size(), 2u);
  EXPECT_EQ(json["warnings"][0]["rule"], "dead-channels");
  EXPECT_EQ(json["warnings"][1]["rule"], "wide-range-concat");
  EXPECT_EQ(json["warnings"][1]["numbers"]["input"], 1);
  EXPECT_TRUE(nlohmann::json::parse(imported.report.json({true, true})).contains("nodes"));
}

}  // namespace
}  // namespace qrt::testing::lint_test
