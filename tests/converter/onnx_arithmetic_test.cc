// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors, orders, transposed convolutions and products of computed tensors: every
// number against the source's own formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_arithmetic_test {
namespace {

using convert::from_onnx::ort_log;
using convert::from_onnx::quantize_ort;

constexpr float kAScale = 0.043f, kBScale = 0.019f, kYScale = 0.061f;

// Return the first and the second bytes of all pairs of bytes.
std::vector<uint8_t> first_bytes() {
  std::vector<uint8_t> v(65536);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<uint8_t>(i / 256);
  return v;
}
std::vector<uint8_t> second_bytes() {
  std::vector<uint8_t> v(65536);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<uint8_t>(i % 256);
  return v;
}
float a_real(uint8_t a) { return static_cast<float>(a - 120) * kAScale; }
float b_real(uint8_t b) { return static_cast<float>(static_cast<int8_t>(b) - 5) * kBScale; }

struct TwoTensors {
  OnnxBuilder b;
  std::string x = b.integer_input<uint8_t>({65536}, kAScale, 120);
  std::string y = b.integer_input<int8_t>({65536}, kBScale, 5);
  std::vector<Bytes> run() { return b.run({to_bytes(first_bytes()), to_bytes(second_bytes())}); }
};

// An operator on a uint8 and an int8 tensor gives the results of the float operator, as in ONNX
// Runtime.
TEST(OnnxPairs, AreTheFloatOperator) {
  using F = std::function<float(float, float)>;
  const std::vector<std::pair<std::string, F>> ops = {
      {"Add", [](float a, float b) { return a + b; }},
      {"Sub", [](float a, float b) { return a - b; }},
      {"Mul", [](float a, float b) { return a * b; }},
      {"Div", [](float a, float b) { return a / b; }},
      {"Min", [](float a, float b) { return std::fmin(a, b); }},
      {"Max", [](float a, float b) { return std::fmax(a, b); }},
      {"PRelu", [](float a, float b) { return a < 0 ? a * b : a; }},
  };
  for (const auto& [op, f] : ops) {
    SCOPED_TRACE(op);
    TwoTensors t;
    t.b.integer_output<uint8_t>(t.b.node(op, {t.x, t.y}), kYScale, 77);
    const auto got = t.run();
    ASSERT_EQ(got.size(), 1u);
    const auto a = first_bytes(), b = second_bytes();
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(got[0][i], quantize_ort(f(a_real(a[i]), b_real(b[i])), kYScale, 77, 0, 255)) << i;
  }
}

TEST(OnnxPairs, OrdersAreLutsAndMinMax) {
  TwoTensors t;
  t.b.integer_output<uint8_t>(t.b.node("Max", {t.x, t.y}), kYScale, 77);
  const Imported imported = t.b.import();
  EXPECT_EQ(imported.count(fb::OpOptions::MinMax), 1);
  EXPECT_EQ(imported.count(fb::OpOptions::PairLut), 0);
}

TEST(OnnxPairs, TakeFunctionsBehindThemAndSeveralReaders) {
  TwoTensors t;
  const std::string sum = t.b.node("Add", {t.x, t.y});
  t.b.integer_output<uint8_t>(t.b.node("Relu", {sum}), kYScale, 20);
  t.b.integer_output<int8_t>(t.b.node("Mul", {t.b.node("Neg", {sum}), t.x}), kYScale, 3);
  t.b.output(sum);
  t.b.integer_output<uint8_t>(
      t.b.node("Reshape", {t.b.node("Sub", {sum, t.y}), t.b.constant<int64_t>({2}, {256, 256})}),
      kYScale, 20);
  const auto got = t.run();
  ASSERT_EQ(got.size(), 4u);
  const std::vector<float> real = from_bytes<float>(got[2]);
  const auto a = first_bytes(), b = second_bytes();
  for (size_t i = 0; i < a.size(); ++i) {
    const float v = a_real(a[i]) + b_real(b[i]);
    ASSERT_EQ(got[0][i], quantize_ort(v > 0 ? v : 0, kYScale, 20, 0, 255));
    ASSERT_EQ(static_cast<int8_t>(got[1][i]),
              quantize_ort(-v * a_real(a[i]), kYScale, 3, -128, 127));
    ASSERT_EQ(real[i], v);
    ASSERT_EQ(got[3][i], quantize_ort(v - b_real(b[i]), kYScale, 20, 0, 255));
  }
}

TEST(OnnxPairs, OfThreeTensorsAreRefused) {
  TwoTensors t;
  const std::string z = t.b.integer_input<uint8_t>({65536}, 0.5f, 1);
  t.b.integer_output<uint8_t>(t.b.node("Sub", {t.b.node("Sub", {t.x, t.y}), z}), kYScale, 20);
  EXPECT_NE(t.b.import().rule().find("more than two tensors"), std::string::npos);
}

TEST(OnnxPairs, ATableMayBeAFloatOutput) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({256}, kAScale, 120);
  b.output(b.node("Log", {x}));
  b.output(b.node("PRelu", {b.node("Reshape", {x, b.constant<int64_t>({2}, {16, 16})}),
                            b.constant<float>({16}, std::vector<float>(16, 0.3f))}));
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  const auto got = b.run({bytes});
  ASSERT_EQ(got.size(), 2u);
  const auto log = from_bytes<float>(got[0]), relu = from_bytes<float>(got[1]);
  for (size_t i = 0; i < 256; ++i) {
    const float v = a_real(static_cast<uint8_t>(i));
    if (v >= 0)
      ASSERT_EQ(log[i], ort_log(v)) << i;
    else
      ASSERT_TRUE(std::isnan(log[i])) << i;
    ASSERT_EQ(relu[i], v < 0 ? v * 0.3f : v) << i;
  }
}

TEST(OnnxPow, ExponentsThatAreProducts) {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  for (const int64_t e : {0, 1, 2, 3}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({256}, kAScale, 120);
    b.integer_output<uint8_t>(b.node("Pow", {x, b.scalar<int64_t>(e)}), kYScale, 20);
    const auto got = b.run_to<uint8_t>({bytes});
    for (size_t i = 0; i < 256; ++i) {
      const float v = a_real(bytes[i]);
      const float power = e == 0 ? 1 : e == 1 ? v : e == 2 ? v * v : v * v * v;
      ASSERT_EQ(got[i], quantize_ort(power, kYScale, 20, 0, 255)) << i;
    }
  }
  OnnxBuilder b;
  b.integer_output<uint8_t>(b.node("Pow", {b.integer_input<uint8_t>({4}, 1.0f, 0), b.scalar(1.5f)}),
                            1.0f, 0);
  EXPECT_NE(b.import().rule().find("is not 0, 1, 2 or 3"), std::string::npos);
}

// --- integers without quantisation

template <class T>
void check_bytes(const std::string& op, const std::function<int(int, int)>& f,
                 std::initializer_list<Attr> attributes = {}) {
  SCOPED_TRACE(op);
  OnnxBuilder b(18);
  const std::string x = b.input<T>({65536}), y = b.input<T>({65536});
  b.output(b.node(op, {x, y}, attributes));
  const auto got = b.run_to<T>({to_bytes(first_bytes()), to_bytes(second_bytes())});
  for (size_t i = 0; i < 65536; ++i) {
    const int u = static_cast<T>(i / 256), v = static_cast<T>(i % 256);
    if (v == 0 && (op == "Div" || op == "Mod")) continue;
    ASSERT_EQ(got[i], static_cast<T>(f(u, v))) << op << " " << u << ", " << v;
  }
}

template <class T>
void check_all_bytes() {
  check_bytes<T>("Add", [](int u, int v) { return u + v; });
  check_bytes<T>("Sub", [](int u, int v) { return u - v; });
  check_bytes<T>("Mul", [](int u, int v) { return u * v; });
  check_bytes<T>("Div", [](int u, int v) { return u / v; });
  check_bytes<T>("Mod", [](int u, int v) { return ((u % v) + v) % v; });
  check_bytes<T>("Mod", [](int u, int v) { return u % v; }, {{"fmod", 1}});
  check_bytes<T>("Min", [](int u, int v) { return std::min(u, v); });
  check_bytes<T>("Max", [](int u, int v) { return std::max(u, v); });
  check_bytes<T>("BitwiseAnd", [](int u, int v) { return u & v; });
  check_bytes<T>("BitwiseOr", [](int u, int v) { return u | v; });
  check_bytes<T>("BitwiseXor", [](int u, int v) { return u ^ v; });
}

TEST(OnnxIntegers, OfTwoBytes) {
  check_all_bytes<uint8_t>();
  check_all_bytes<int8_t>();
  check_bytes<uint8_t>("BitShift", [](int u, int v) { return v > 7 ? 0 : u << v; },
                       {{"direction", "LEFT"}});
  check_bytes<uint8_t>("BitShift", [](int u, int v) { return v > 7 ? 0 : u >> v; },
                       {{"direction", "RIGHT"}});
}

TEST(OnnxIntegers, TruthValuesMayBeOutputs) {
  OnnxBuilder b;
  const std::string x = b.input<int8_t>({4}), y = b.input<int8_t>({4});
  b.output(b.node("LessOrEqual", {x, y}));
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(std::vector<int8_t>{-3, 5, 7, 127}),
                               to_bytes(std::vector<int8_t>{-2, 5, -7, -128})}),
            (std::vector<uint8_t>{1, 1, 0, 0}));
}

TEST(OnnxIntegers, ClipTakesComputedAndConstantLimits) {
  OnnxBuilder b;
  const std::string x = b.input<int32_t>({2, 3}), most = b.input<int32_t>({});
  b.output(b.node("Clip", {x, b.scalar<int32_t>(-5), most}));
  ASSERT_EQ(b.run_to<int32_t>({to_bytes(std::vector<int32_t>{-9, -5, 0, 7, 8, 100000}),
                               to_bytes(std::vector<int32_t>{8})}),
            (std::vector<int32_t>{-5, -5, 0, 7, 8, 8}));
  OnnxBuilder c;
  c.output(c.node("Clip", {c.input<int8_t>({4}), c.scalar<int8_t>(-5), c.scalar<int8_t>(6)}));
  ASSERT_EQ(c.run_to<int8_t>({to_bytes(std::vector<int8_t>{-128, -4, 6, 127})}),
            (std::vector<int8_t>{-5, -4, 6, 6}));
}

TEST(OnnxIntegers, WhereTakesComputedConditions) {
  OnnxBuilder b;
  const std::string x = b.input<int8_t>({3, 4}), y = b.input<int8_t>({4});
  const std::string less = b.node("Less", {x, y});
  b.output(b.node("Where", {b.node("Not", {less}), x, y}));
  const std::vector<int8_t> u = {-128, 5, 7, 0, 127, 3, 2, 1, -1, -2, -3, -4};
  const std::vector<int8_t> v = {-1, 5, 8, 0};
  const auto got = b.run_to<int8_t>({to_bytes(u), to_bytes(v)});
  for (size_t i = 0; i < u.size(); ++i) ASSERT_EQ(got[i], std::max(u[i], v[i % 4])) << i;
}

// --- quantised Where

TEST(OnnxWhere, QuantisesBothSides) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({256}, kAScale, 120);
  const std::string raw = b.input<int8_t>({256});
  const std::string condition = b.node("Greater", {raw, b.scalar<int8_t>(3)});
  b.integer_output<uint8_t>(b.node("Where", {condition, x, b.scalar(-0.7f)}), kYScale, 50);
  std::vector<uint8_t> a(256), c(256);
  for (size_t i = 0; i < 256; ++i) {
    a[i] = static_cast<uint8_t>(i);
    c[i] = static_cast<uint8_t>(i * 7);
  }
  const auto got = b.run_to<uint8_t>({a, c});
  for (size_t i = 0; i < 256; ++i) {
    const float v = static_cast<int8_t>(c[i]) > 3 ? a_real(a[i]) : -0.7f;
    ASSERT_EQ(got[i], quantize_ort(v, kYScale, 50, 0, 255)) << i;
  }
}

// --- orders

TEST(OnnxOrder, ArgMaxOfQuantisedAndPlainIntegers) {
  OnnxBuilder b;
  const std::string x = b.integer_input<int8_t>({2, 3, 2}, 0.1f, -3);
  b.output(b.node("ArgMax", {x}, {{"axis", 1}, {"keepdims", 0}}));
  b.output(
      b.node("ArgMin", {b.input<int8_t>({2, 3, 2})}, {{"axis", -2}, {"select_last_index", 1}}));
  const std::vector<int8_t> v = {-128, 3, 5, 3, 5, -9, 1, 127, 1, 127, 1, 126};
  const auto got = b.run({to_bytes(v), to_bytes(v)});
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(from_bytes<int64_t>(got[0]), (std::vector<int64_t>{1, 0, 0, 0}));
  EXPECT_EQ(from_bytes<int64_t>(got[1]), (std::vector<int64_t>{0, 2, 2, 2}));
}

TEST(OnnxOrder, TopKOfAnyAxis) {
  for (const int64_t axis : {0, 1}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({3, 3}, 0.5f, 1);
    onnx::NodeProto* n = b.graph().add_node();
    n->set_op_type("TopK");
    n->add_input(x);
    n->add_input(b.constant<int64_t>({1}, {2}));
    n->add_output("values");
    n->add_output("indices");
    *n->add_attribute() = Attr("axis", axis).proto;
    b.output("values");
    b.output("indices");
    const std::vector<uint8_t> v = {7, 9, 9, 1, 2, 3, 8, 0, 9};
    const auto got = b.run({v});
    ASSERT_EQ(got.size(), 2u);
    const auto values = from_bytes<float>(got[0]);
    const auto indices = from_bytes<int64_t>(got[1]);
    if (axis == 1) {
      EXPECT_EQ(values, (std::vector<float>{4, 4, 1, 0.5f, 4, 3.5f}));
      EXPECT_EQ(indices, (std::vector<int64_t>{1, 2, 2, 1, 2, 0}));
    } else {
      EXPECT_EQ(values, (std::vector<float>{3.5f, 4, 4, 3, 0.5f, 4}));
      EXPECT_EQ(indices, (std::vector<int64_t>{2, 0, 0, 0, 1, 2}));
    }
  }
}

TEST(OnnxSoftmax, LogSoftmaxIsWithinAStepOfItsDefinition) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({5, 20}, 0.1f, 3);
  b.integer_output<uint8_t>(b.node("LogSoftmax", {x}), 0.125f, 255);
  Random random;
  const auto in = random_integers<uint8_t>(&random, 100);
  const auto got = b.run_to<uint8_t>({to_bytes(in)});
  for (size_t row = 0; row < 100; row += 20) {
    double sum = 0;
    for (size_t i = row; i < row + 20; ++i) sum += std::exp(0.1 * in[i]);
    for (size_t i = row; i < row + 20; ++i) {
      const double q = std::fmax((0.1 * in[i] - std::log(sum)) / 0.125 + 255, 0);
      ASSERT_LE(std::fabs(got[i] - q), 0.51) << i;
    }
  }
}

// --- transposed convolutions

struct Transposed {
  int64_t groups = 1, in = 2, out = 3, height = 3, width = 4, kernel = 3;
  int64_t stride = 2, dilation = 1, extra = 0;
  Dims pads = {0, 0, 0, 0};
  Dims output_shape = {};
  const char* auto_pad = nullptr;
  bool per_channel = false, bias = false;
};

void check(const Transposed& c) {
  SCOPED_TRACE("groups " + std::to_string(c.groups) + ", kernel " + std::to_string(c.kernel) +
               ", stride " + std::to_string(c.stride) + ", dilation " + std::to_string(c.dilation));
  Random random;
  SCOPED_TRACE(random.trace());
  const int64_t of_group = c.out / c.groups, in_group = c.in / c.groups;
  const auto x = random_integers<uint8_t>(&random, static_cast<size_t>(c.in * c.height * c.width));
  const auto w =
      random_integers<int8_t>(&random, static_cast<size_t>(c.in * of_group * c.kernel * c.kernel));
  std::vector<float> scale(c.per_channel ? static_cast<size_t>(of_group) : 1, 0.01f);
  for (size_t i = 0; i < scale.size(); ++i) scale[i] += 0.003f * static_cast<float>(i);
  std::vector<float> bias(static_cast<size_t>(c.out), 0);
  for (size_t i = 0; c.bias && i < bias.size(); ++i) bias[i] = static_cast<float>(i) - 1.3f;

  OnnxBuilder b;
  Names inputs = {b.integer_input<uint8_t>({1, c.in, c.height, c.width}, 0.05f, 111),
                  b.node("DequantizeLinear",
                         {b.constant<int8_t>({c.in, of_group, c.kernel, c.kernel}, w),
                          c.per_channel ? b.constant({of_group}, scale) : b.scalar(scale[0])},
                         {{"axis", 1}})};
  if (c.bias) inputs.push_back(b.constant({c.out}, bias));
  const std::string y = b.node("ConvTranspose", inputs,
                               {{"group", c.groups},
                                {"strides", Dims{c.stride, c.stride}},
                                {"dilations", Dims{c.dilation, c.dilation}}});
  onnx::NodeProto* node = b.graph().mutable_node(b.graph().node_size() - 1);
  if (c.auto_pad)
    *node->add_attribute() = Attr("auto_pad", c.auto_pad).proto;
  else
    *node->add_attribute() = Attr("pads", c.pads).proto;
  if (c.extra) *node->add_attribute() = Attr("output_padding", Dims{c.extra, c.extra}).proto;
  if (!c.output_shape.empty()) *node->add_attribute() = Attr("output_shape", c.output_shape).proto;
  b.integer_output<uint8_t>(y, 0.09f, 130);

  const int64_t size[2] = {c.height, c.width};
  int64_t out[2], before[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t full = c.stride * (size[i] - 1) + c.extra + (c.kernel - 1) * c.dilation + 1;
    before[i] = c.pads[static_cast<size_t>(i)];
    out[i] = full - before[i] - c.pads[static_cast<size_t>(2 + i)];
    if (c.output_shape.empty() && !c.auto_pad) continue;
    out[i] = c.output_shape.empty() ? size[i] * c.stride : c.output_shape[static_cast<size_t>(i)];
    const int64_t total = std::max<int64_t>(0, full - out[i]);
    const bool upper = c.auto_pad && std::string(c.auto_pad) == "SAME_UPPER";
    before[i] = upper ? total / 2 : total - total / 2;
  }
  std::vector<int32_t> acc(static_cast<size_t>(c.out * out[0] * out[1]), 0);
  for (int64_t i = 0; i < c.in; ++i)
    for (int64_t j = 0; j < of_group; ++j)
      for (int64_t h = 0; h < c.height; ++h)
        for (int64_t v = 0; v < c.width; ++v)
          for (int64_t kh = 0; kh < c.kernel; ++kh)
            for (int64_t kw = 0; kw < c.kernel; ++kw) {
              const int64_t oh = h * c.stride + kh * c.dilation - before[0];
              const int64_t ow = v * c.stride + kw * c.dilation - before[1];
              if (oh < 0 || oh >= out[0] || ow < 0 || ow >= out[1]) continue;
              const int64_t o = i / in_group * of_group + j;
              acc[static_cast<size_t>((o * out[0] + oh) * out[1] + ow)] +=
                  (x[static_cast<size_t>((i * c.height + h) * c.width + v)] - 111) *
                  w[static_cast<size_t>(((i * of_group + j) * c.kernel + kh) * c.kernel + kw)];
            }
  const auto got = b.run_to<uint8_t>({to_bytes(x)});
  ASSERT_EQ(got.size(), acc.size());
  for (size_t i = 0; i < acc.size(); ++i) {
    const size_t o = i / static_cast<size_t>(out[0] * out[1]);
    const float product = 0.05f * scale[c.per_channel ? o % scale.size() : 0];
    const int32_t b_q = static_cast<int32_t>(std::nearbyint(bias[o] / product));
    ASSERT_EQ(got[i], requantize_reference<uint8_t>(acc[i] + b_q, product / 0.09f, 130)) << i;
  }
}

TEST(OnnxConvTranspose, StridesKernelsAndDilations) {
  for (const int64_t stride : {1, 2, 3})
    for (const int64_t kernel : {1, 2, 3, 4, 5})
      for (const int64_t dilation : {1, 2}) {
        Transposed c;
        c.stride = stride, c.kernel = kernel, c.dilation = dilation;
        check(c);
      }
}

TEST(OnnxConvTranspose, PaddingAndOutputSizes) {
  Transposed c;
  c.kernel = 4;
  c.pads = {1, 2, 0, 1};
  check(c);
  c.extra = 1;
  check(c);
  c.pads = {3, 3, 3, 3};
  check(c);
  c = Transposed();
  c.output_shape = {8, 11};
  check(c);
  c.output_shape = {4, 5};
  check(c);
  c = Transposed();
  for (const char* auto_pad : {"SAME_UPPER", "SAME_LOWER"}) {
    c.auto_pad = auto_pad;
    check(c);
  }
}

TEST(OnnxConvTranspose, GroupsChannelsAndBias) {
  for (const bool per_channel : {false, true}) {
    Transposed c;
    c.per_channel = per_channel;
    c.bias = true;
    check(c);
    c.groups = 2, c.in = 4, c.out = 6;
    check(c);
    c.groups = 4, c.out = 4;  // depthwise
    check(c);
    c.out = 8;
    check(c);
    c.groups = 1, c.out = 1;
    check(c);
  }
}

TEST(OnnxConvTranspose, RefusesStridesThatLeaveMostWeightsZero) {
  OnnxBuilder b;
  const std::string w =
      b.dq<int8_t>(b.constant<int8_t>({4, 4, 1, 1}, std::vector<int8_t>(16, 1)), 1.0f, 0);
  const std::string y =
      b.node("ConvTranspose", {b.integer_input<uint8_t>({1, 4, 2, 2}, 1.0f, 0), w},
             {{"strides", Dims{2000, 2000}}});
  b.integer_output<uint8_t>(y, 1.0f, 0);
  EXPECT_NE(b.import().rule().find("as a convolution of its phases"), std::string::npos);
}

TEST(OnnxConvTranspose, RefusesABiasThatIsNoneOfItsOwn) {
  const auto rule_of = [](const auto& bias_of) {
    OnnxBuilder b;
    const std::string w =
        b.dq<int8_t>(b.constant<int8_t>({4, 4, 1, 1}, std::vector<int8_t>(16, 1)), 1.0f, 0);
    const std::string x = b.integer_input<uint8_t>({1, 4, 2, 2}, 1.0f, 0);
    b.integer_output<uint8_t>(b.node("ConvTranspose", {x, w, bias_of(&b)}), 1.0f, 0);
    return b.import().rule();
  };
  const std::string short_one =
      rule_of([](OnnxBuilder* b) { return b->constant<float>({3}, std::vector<float>(3, 0.5f)); });
  EXPECT_NE(short_one.find("is not one value for each of 4"), std::string::npos) << short_one;
  const std::string computed =
      rule_of([](OnnxBuilder* b) { return b->integer_input<uint8_t>({4}, 1.0f, 0); });
  EXPECT_FALSE(computed.empty());
}

// --- products of computed tensors

TEST(OnnxMatMul, OfTwoActivations) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto x = random_integers<uint8_t>(&random, 2 * 3 * 5),
             y = random_integers<uint8_t>(&random, 5 * 4);
  const auto check_result = [&](const std::vector<Bytes>& got, size_t rows) {
    ASSERT_EQ(got.size(), 2u);
    const auto real = from_bytes<float>(got[1]);
    for (size_t r = 0; r < rows; ++r)
      for (size_t j = 0; j < 4; ++j) {
        int32_t acc = 0;
        for (size_t k = 0; k < 5; ++k)
          acc += (x[r * 5 + k] - 120) * (static_cast<int8_t>(y[k * 4 + j]) - 9);
        const float product = kAScale * kBScale;
        ASSERT_EQ(got[0][r * 4 + j], requantize_reference<uint8_t>(acc, product / kYScale, 99));
        ASSERT_EQ(real[r * 4 + j], static_cast<float>(acc) * product);
      }
  };
  OnnxBuilder b;
  const std::string a = b.integer_input<uint8_t>({2, 3, 5}, kAScale, 120);
  const std::string c = b.integer_input<int8_t>({5, 4}, kBScale, 9);
  const std::string product = b.node("MatMul", {a, c});
  b.integer_output<uint8_t>(product, kYScale, 99);
  b.output(product);
  check_result(b.run({to_bytes(x), to_bytes(y)}), 6);

  OnnxBuilder vector;
  const std::string row = vector.integer_input<uint8_t>({5}, kAScale, 120);
  const std::string d = vector.integer_input<int8_t>({5, 4}, kBScale, 9);
  const std::string p = vector.node("MatMul", {row, d});
  vector.integer_output<uint8_t>(p, kYScale, 99);
  vector.output(p);
  check_result(vector.run({Bytes(x.begin(), x.begin() + 5), to_bytes(y)}), 1);
}

TEST(OnnxMatMul, IntegerProducts) {
  Random random;
  SCOPED_TRACE(random.trace());
  const auto x = random_integers<uint8_t>(&random, 3 * 7),
             y = random_integers<uint8_t>(&random, 7 * 2);
  for (const bool is_constant : {false, true}) {
    OnnxBuilder b;
    const std::string a = b.input<uint8_t>({3, 7});
    const std::string w = is_constant ? b.constant<uint8_t>({7, 2}, y) : b.input<uint8_t>({7, 2});
    const std::string zero =
        is_constant ? b.constant<uint8_t>({2}, {4, 200}) : b.scalar<uint8_t>(4);
    b.output(b.node("MatMulInteger", {a, w, b.scalar<uint8_t>(12), zero}));
    std::vector<Bytes> inputs = {to_bytes(x)};
    if (!is_constant) inputs.push_back(to_bytes(y));
    const auto got = b.run_to<int32_t>(inputs);
    for (size_t r = 0; r < 3; ++r)
      for (size_t j = 0; j < 2; ++j) {
        int32_t acc = 0;
        for (size_t k = 0; k < 7; ++k)
          acc += (x[r * 7 + k] - 12) * (y[k * 2 + j] - (is_constant && j == 1 ? 200 : 4));
        ASSERT_EQ(got[r * 2 + j], acc);
      }
  }
}

TEST(OnnxConv, IntegerConvolution) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({1, 1, 3, 3});
  const std::string w = b.constant<uint8_t>({1, 1, 2, 2}, {1, 2, 3, 4});
  b.output(b.node("ConvInteger", {x, w, b.scalar<uint8_t>(1), b.scalar<uint8_t>(1)},
                  {{"pads", Dims{1, 1, 0, 0}}}));
  ASSERT_EQ(b.run_to<int32_t>({{2, 3, 4, 5, 6, 7, 8, 9, 10}}),
            (std::vector<int32_t>{3, 8, 13, 13, 25, 31, 25, 43, 49}));
}

TEST(OnnxRefused, EveryReasonIsGiven) {
  for (const auto& [op, reason] : std::vector<std::pair<std::string, std::string>>{
           {"LayerNormalization", "statistics of its input"}, {"Sin", "by the C library"}}) {
    OnnxBuilder b(17);
    const std::string x = b.integer_input<uint8_t>({2, 4}, 1.0f, 0);
    b.integer_output<uint8_t>(b.node(op, {x, b.constant<float>({4}, {1, 1, 1, 1})}), 1.0f, 0);
    EXPECT_NE(b.import().rule().find(reason), std::string::npos) << op;
  }
}

}  // namespace
}  // namespace qrt::testing::onnx_arithmetic_test
