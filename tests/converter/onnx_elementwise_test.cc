// SPDX-License-Identifier: Apache-2.0
// Add, Mul and everything that becomes a table, against formulas written down once more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_elementwise_test {
namespace {

using convert::from_onnx::quantize_ort;

std::vector<uint8_t> all_bytes() {
  std::vector<uint8_t> v(256);
  for (size_t i = 0; i < 256; ++i) v[i] = static_cast<uint8_t>(i);
  return v;
}

// Returns ONNX Runtime's QLinearAdd of one pair; `swapped`: with the operands in the other order.
int add_reference(float sa, int za, float sb, int zb, float sc, int zc, int a, int b,
                  bool swapped) {
  if (swapped) return add_reference(sb, zb, sa, za, sc, zc, b, a, false);
  const float ra = sa / sc, rb = sb / sc;
  const float t = rb * static_cast<float>(zb);
  const float f = static_cast<float>(zc) - std::fma(ra, static_cast<float>(za), t);
  return static_cast<int>(
      std::nearbyint(std::fma(static_cast<float>(a), ra, std::fma(static_cast<float>(b), rb, f))));
}

template <class T>
void expect_add_is_exact(float sa, int za, float sb, int zb, float sc, int zc) {
  Random random;
  OnnxBuilder b;
  const auto x = random_integers<T>(&random, 5000), y = random_integers<T>(&random, 5000);
  const std::string p = b.integer_input<T>({5000}, sa, static_cast<T>(za));
  const std::string q = b.integer_input<T>({5000}, sb, static_cast<T>(zb));
  b.integer_output<T>(b.node("Add", {p, q}), sc, static_cast<T>(zc));
  const std::vector<T> got = b.run_to<T>({to_bytes(x), to_bytes(y)});
  for (size_t i = 0; i < 5000; ++i) {
    const int v = add_reference(sa, za, sb, zb, sc, zc, x[i], y[i], false);
    const int lo = std::numeric_limits<T>::min(), hi = std::numeric_limits<T>::max();
    ASSERT_EQ(static_cast<int>(got[i]), v < lo ? lo : v > hi ? hi : v) << i;
  }
}

TEST(OnnxAdd, IsOnnxRuntimesFusedForm) {
  expect_add_is_exact<uint8_t>(0.017f, 3, 0.0231f, 250, 0.04f, 131);
  expect_add_is_exact<uint8_t>(0.25f, 128, 0.125f, 127, 0.5f, 1);  // ties
  expect_add_is_exact<int8_t>(0.017f, -128, 0.0231f, 127, 0.04f, -3);
}

TEST(OnnxAdd, OperandsSwapWhereTheFirstRepeatsInTheInnermostRun) {
  const auto inner = [](const Dims& a, const Dims& b) {
    OnnxBuilder m;
    const std::string x = m.integer_input<uint8_t>(a, 0.5f, 3),
                      y = m.integer_input<uint8_t>(b, 0.25f, 4);
    m.integer_output<uint8_t>(m.node("Add", {x, y}), 1.0f, 0);
    const Imported imported = m.import();
    EXPECT_TRUE(imported.status.ok());
    return imported.only<fb::AddOptionsT>().a_is_inner;
  };
  EXPECT_FALSE(inner({2, 3}, {2, 3}));
  EXPECT_TRUE(inner({2, 1}, {2, 3}));
  EXPECT_FALSE(inner({2, 3}, {2, 1}));
  EXPECT_FALSE(inner({1, 3}, {2, 3}));
  EXPECT_TRUE(inner({1}, {1}));
  EXPECT_TRUE(inner({1, 4, 1, 1}, {1, 4, 5, 5}));
  EXPECT_TRUE(inner({2, 1, 1}, {2, 5, 1}));
}

TEST(OnnxAdd, BehindAConvolutionTheInnermostRunIsTheChannels) {
  for (const bool constant_first : {false, true}) {
    OnnxBuilder b;
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({4, 1, 1, 1}, {1, 2, 3, 4}), 1.0f, 0);
    const std::string x = b.integer_input<uint8_t>({1, 1, 5, 5}, 1.0f, 0);
    const std::string y = b.qdq<uint8_t>(b.node("Conv", {x, w}), 1.0f, 0);
    const std::string c = b.dq<uint8_t>(b.constant<uint8_t>({1, 4, 1, 1}, {1, 2, 3, 4}), 1.0f, 0);
    b.integer_output<uint8_t>(b.node("Add", constant_first ? Names{c, y} : Names{y, c}), 1.0f, 0);
    const Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok());
    EXPECT_FALSE(imported.only<fb::AddOptionsT>().a_is_inner);
  }
}

// An Add in front of limits that change values is a table of floats: ONNX Runtime adds floats
// there, and its integers round ties otherwise.
TEST(OnnxAdd, IsATableOfFloatsBeforeLimitsThatBite) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({256}, 0.25f, 3);
  std::string y =
      b.node("Relu", {b.node("Add", {x, b.dq<uint8_t>(b.scalar<uint8_t>(5), 1.0f, 0)})});
  y = b.node("Clip", {y, b.scalar(-1.0f), b.scalar(60.0f)});
  b.integer_output<uint8_t>(y, 0.5f, 10);
  Bytes codes(256), expected;
  for (int i = 0; i < 256; ++i) {
    codes[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
    const float sum = static_cast<float>(i - 3) * 0.25f + 5.0f;
    const float limited = std::min(std::max(sum, 0.0f), 60.0f);
    expected.push_back(static_cast<uint8_t>(std::nearbyint(limited / 0.5f) + 10));
  }
  EXPECT_EQ(b.run_to<uint8_t>({codes}), expected);
}

// A Clip of tiny scale stays where the zero point is absent: ONNX Runtime drops Clips within a
// float's epsilon of the range only where the zero point is given.
TEST(OnnxAdd, KeepsAClipOfTinyScaleWhereTheZeroPointIsAbsent) {
  const float scale = std::ldexp(1.0f, -40);
  for (const bool is_told : {false, true}) {
    SCOPED_TRACE(is_told);
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({4}, scale, 0);
    const std::string zero = b.dq<uint8_t>(b.scalar<uint8_t>(0), scale, 0);
    const std::string y = b.node(
        "Clip", {b.node("Add", {x, zero}), b.scalar(2.0f * scale), b.scalar(200.0f * scale)});
    Names inputs = {y, b.scalar(scale)};
    if (is_told) inputs.push_back(b.scalar<uint8_t>(0));
    b.output(b.node("QuantizeLinear", inputs));
    const Bytes expected = is_told ? Bytes{0, 5, 200, 255} : Bytes{2, 5, 200, 200};
    EXPECT_EQ(b.run_to<uint8_t>({{0, 5, 200, 255}}), expected);
  }
}

TEST(OnnxAdd, RefusesFarRatios) {
  OnnxBuilder far;
  const std::string z = far.integer_input<uint8_t>({4}, 1e9f, 3);
  far.integer_output<uint8_t>(far.node("Add", {z, z}), 1.0f, 10);
  EXPECT_NE(far.import().rule().find("beyond exact arithmetic"), std::string::npos);
}

TEST(OnnxMul, AddsTheZeroPointBeforeRounding) {
  Random random;
  const float sa = 0.25f, sb = 0.5f, sc = 4.0f;  // ties are common
  OnnxBuilder b;
  const auto x = random_integers<int8_t>(&random, 4000), y = random_integers<int8_t>(&random, 4000);
  const std::string p = b.integer_input<int8_t>({4000}, sa, -7),
                    q = b.integer_input<int8_t>({4000}, sb, 9);
  b.integer_output<int8_t>(b.node("Mul", {p, q}), sc, 3);
  const auto got = b.run_to<int8_t>({to_bytes(x), to_bytes(y)});
  const float r = sa * sb / sc;
  for (size_t i = 0; i < 4000; ++i) {
    const float v = static_cast<float>((x[i] + 7) * (y[i] - 9)) * r;
    const float e = std::nearbyint(v + 3.0f);
    ASSERT_EQ(static_cast<float>(got[i]), e < -128 ? -128 : e > 127 ? 127 : e) << i;
  }
}

// Checks that a sequence of operators between DequantizeLinear and QuantizeLinear is one table with f's values.
template <class Build>
void expect_table(int64_t opset, const Build& build, const std::function<float(float)>& f) {
  OnnxBuilder b(opset);
  const std::string y = build(&b, b.integer_input<uint8_t>({256}, 0.043f, 121));
  b.integer_output<uint8_t>(y, 0.021f, 130);
  Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  EXPECT_EQ(imported.graph.nodes.size(), 1u) << dump(imported.graph);
  const auto got = b.run_to<uint8_t>({to_bytes(all_bytes())});
  for (int q = 0; q < 256; ++q) {
    const float x = static_cast<float>(q - 121) * 0.043f;
    ASSERT_EQ(got[static_cast<size_t>(q)], quantize_ort(f(x), 0.021f, 130, 0, 255)) << q;
  }
}

TEST(OnnxTable, UnaryOperators) {
  using namespace convert::from_onnx;  // NOLINT
  const auto unary = [](const char* op) {
    return [op](OnnxBuilder* b, const std::string& x) { return b->node(op, {x}); };
  };
  expect_table(13, unary("Sigmoid"), ort_logistic);
  expect_table(13, unary("Tanh"), ort_tanh);
  expect_table(14, unary("HardSwish"), ort_hard_swish);
  expect_table(13, unary("HardSigmoid"), [](float x) { return ort_hard_sigmoid(x, 0.2f, 0.5f); });
  expect_table(13, unary("Elu"), [](float x) { return ort_elu(x, 1.0f); });
  expect_table(13, unary("LeakyRelu"), [](float x) { return ort_leaky_relu(x, 0.01f); });
  expect_table(13, unary("Relu"), [](float x) { return x < 0 ? 0 : x; });
  expect_table(13, unary("Abs"), [](float x) { return std::fabs(x); });
  expect_table(13, unary("Sqrt"), [](float x) { return std::sqrt(x); });
}

TEST(OnnxTable, ChainsAndSharedInputs) {
  using namespace convert::from_onnx;  // NOLINT
  expect_table(
      13,
      [](OnnxBuilder* b, const std::string& x) {
        return b->node("Mul", {x, b->node("Sigmoid", {x})});
      },
      [](float x) { return x * ort_logistic(x); });
  expect_table(
      13,
      [](OnnxBuilder* b, const std::string& x) {
        return b->node("Sub", {b->scalar(1.5f), b->node("Tanh", {b->node("Relu", {x})})});
      },
      [](float x) { return 1.5f - ort_tanh(x < 0 ? 0 : x); });
  expect_table(
      10,  // Clip with attributes
      [](OnnxBuilder* b, const std::string& x) {
        return b->node("Clip", {x}, {{"min", -0.4f}, {"max", 1.3f}});
      },
      [](float x) { return x < -0.4f  ? -0.4f
                           : x > 1.3f ? 1.3f
                                      : x; });
}

TEST(OnnxTable, SlopesPerChannelAreTablesPerChannel) {
  Random random;
  OnnxBuilder b;
  const std::vector<float> slope = {0.1f, -0.5f, 1.7f};
  const std::string x = b.integer_input<uint8_t>({2, 3, 4, 5}, 0.1f, 100);
  b.integer_output<uint8_t>(b.node("PRelu", {x, b.constant({3, 1, 1}, slope)}), 0.1f, 90);
  const auto in = random_integers<uint8_t>(&random, 120);
  const auto got = b.run_to<uint8_t>({to_bytes(in)});
  for (size_t i = 0; i < 120; ++i) {
    const float v = static_cast<float>(in[i] - 100) * 0.1f;
    ASSERT_EQ(got[i], quantize_ort(v < 0 ? v * slope[i / 20 % 3] : v, 0.1f, 90, 0, 255)) << i;
  }
}

TEST(OnnxTable, RefusesAFunctionOfAFloatResult) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 2}, 0.1f, 100);
  b.integer_output<uint8_t>(b.node("Sigmoid", {b.node("MatMul", {x, x})}), 0.1f, 90);
  const Imported imported = b.import();
  EXPECT_NE(imported.rule().find("float result of MatMul"), std::string::npos) << imported.rule();
}

TEST(OnnxTable, EveryRefusalIsReported) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({4}, 0.1f, 100);
  b.integer_output<uint8_t>(b.node("Cos", {x}), 0.1f, 90);
  b.integer_output<uint8_t>(b.node("Sin", {x}), 0.1f, 90);
  b.integer_output<uint8_t>(b.node("Sigmoid", {b.input({4})}), 0.1f, 90);
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_EQ(imported.refusals(), 3) << imported.report.text(true);
}

TEST(OnnxTable, QLinearForms) {
  using namespace convert::from_onnx;  // NOLINT
  OnnxBuilder b;
  const std::string x = b.input<int8_t>({256});
  const Names in = {x, b.scalar(0.05f), b.scalar<int8_t>(-20)};
  const Names out = {b.scalar(0.004f), b.scalar<int8_t>(-128)};
  b.output(b.node("QLinearSigmoid", {in[0], in[1], in[2], out[0], out[1]}, {}, "com.microsoft"));
  b.output(b.node("QLinearLeakyRelu", {in[0], in[1], in[2], out[0], out[1]}, {{"alpha", 0.3f}},
                  "com.microsoft"));
  const auto outputs = b.run({to_bytes(all_bytes())});
  ASSERT_EQ(outputs.size(), 2u);
  for (int i = 0; i < 256; ++i) {
    const float v = static_cast<float>(static_cast<int8_t>(i) + 20) * 0.05f;
    ASSERT_EQ(static_cast<int8_t>(outputs[0][static_cast<size_t>(i)]),
              quantize_ort(ort_logistic(v), 0.004f, -128, -128, 127));
    ASSERT_EQ(static_cast<int8_t>(outputs[1][static_cast<size_t>(i)]),
              quantize_ort(v >= 0 ? v : 0.3f * v, 0.004f, -128, -128, 127));
  }
}

TEST(OnnxTable, QLinearAddAndMulTakeConstants) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({256});
  const Names in = {x, b.scalar(0.05f), b.scalar<uint8_t>(20)};
  const Names c = {b.constant<uint8_t>({1}, {90}), b.scalar(0.02f), b.scalar<uint8_t>(7)};
  const Names out = {b.scalar(0.06f), b.scalar<uint8_t>(33)};
  b.output(b.node("QLinearAdd", {c[0], c[1], c[2], in[0], in[1], in[2], out[0], out[1]}, {},
                  "com.microsoft"));
  b.output(b.node("QLinearMul", {in[0], in[1], in[2], c[0], c[1], c[2], out[0], out[1]}, {},
                  "com.microsoft"));
  const auto outputs = b.run({to_bytes(all_bytes())});
  ASSERT_EQ(outputs.size(), 2u);
  for (int i = 0; i < 256; ++i) {
    const int sum = add_reference(0.02f, 7, 0.05f, 20, 0.06f, 33, 90, i, true);
    ASSERT_EQ(outputs[0][static_cast<size_t>(i)], sum < 0 ? 0 : sum > 255 ? 255 : sum) << i;
    const float scale = 0.05f * 0.02f / 0.06f;
    const float product = static_cast<float>((i - 20) * 83) * scale;
    const float v = std::nearbyint(product + 33.0f);
    ASSERT_EQ(outputs[1][static_cast<size_t>(i)], v < 0 ? 0 : v > 255 ? 255 : v) << i;
  }
}

}  // namespace
}  // namespace qrt::testing::onnx_elementwise_test
