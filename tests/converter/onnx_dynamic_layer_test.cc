// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation as quantize_dynamic, Optimum and transformers.js write it, with ONNX Runtime
// 1.30's results: layers with float results, without --allow-float.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/integer_build.h"
#include "tests/support/onnx_builder.h"

namespace qrt::onnx_dynamic_layer_test {
namespace {

using testing::Bytes;
using testing::Dims;
using testing::Imported;
using testing::OnnxBuilder;

struct Quantised {
  std::string x, scale, zero_point;
};

Quantised quantise(OnnxBuilder* b, const std::string& x) {
  Quantised q = {b->node("DynamicQuantizeLinear", {x}), "scale of " + x, "zero point of " + x};
  auto* node = b->graph().mutable_node(b->graph().node_size() - 1);
  node->add_output(q.scale);
  node->add_output(q.zero_point);
  return q;
}

std::string scaled(OnnxBuilder* b, const std::string& acc, const Quantised& x,
                   const std::string& w_scale) {
  const std::string real = b->node("Cast", {acc}, {{"to", 1}});
  return b->node("Mul", {real, b->node("Mul", {x.scale, w_scale})});
}

template <class T>
std::vector<T> series(size_t n, int step, int modulus, int start) {
  std::vector<T> v;
  for (size_t i = 0; i < n; ++i)
    v.push_back(static_cast<T>(static_cast<int>(i) * step % modulus + start));
  return v;
}

// -1.25 to 2.6875 in sixteenths.
Bytes input_of(size_t n) {
  std::vector<float> v;
  for (int i : series<int>(n, 29, 64, -20)) v.push_back(static_cast<float>(i) / 16);
  return testing::to_bytes(v);
}

std::vector<uint32_t> bits(const std::vector<Bytes>& outputs) {
  return outputs.empty() ? std::vector<uint32_t>() : testing::from_bytes<uint32_t>(outputs[0]);
}

OnnxBuilder product_model() {
  OnnxBuilder b;
  const Quantised x = quantise(&b, b.input({2, 5}));
  const std::string acc = b.node(
      "MatMulInteger", {x.x, b.constant({5, 3}, series<int8_t>(15, 37, 255, -127)), x.zero_point});
  const std::string y = scaled(&b, acc, x, b.constant<float>({3}, {0.013f, 0.0071f, 0.0233f}));
  b.output(b.node("Add", {b.constant<float>({3}, {0.1f, -0.7f, 0.31f}), y}));
  return b;
}

TEST(OnnxDynamicLayer, ProductHasOnnxRuntimesBits) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers with float results";
  EXPECT_EQ(bits(product_model().run({input_of(10)})),
            (std::vector<uint32_t>{0x40cf424f, 0xbefde8cd, 0xc0f2ae36, 0xc00bfd06, 0xbf1c19b6,
                                   0x40e654a8}));
}

// With known scales and zero points of the activations, a run computes nothing but the product.
TEST(OnnxDynamicLayer, ProductOfActivationsWithKnownParameters) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers with float results";
  for (const bool conv : {false, true}) {
    OnnxBuilder b;
    const std::string scale = b.scalar(0.0625f), zero = b.scalar<uint8_t>(20);
    const std::string x =
        b.node("QuantizeLinear", {b.input(conv ? Dims{1, 2, 1, 1} : Dims{1, 2}), scale, zero});
    const std::string w = b.constant<int8_t>(conv ? Dims{2, 2, 1, 1} : Dims{2, 2}, {3, -5, 7, 127});
    const std::string acc = b.node(conv ? "ConvInteger" : "MatMulInteger", {x, w, zero});
    const std::string real = b.node("Cast", {acc}, {{"to", 1}});
    const std::string y = b.node("Mul", {real, b.scalar(0.001f)});
    b.output(b.node("Relu", {b.node("Add", {y, b.scalar(0.1f)})}));
    // 1 and -1 are 16 and -16 steps.
    const std::vector<int> sums = {conv ? 16 * 3 + 16 * 5 : 16 * 3 - 16 * 7,
                                   conv ? 16 * 7 - 16 * 127 : -16 * 5 - 16 * 127};
    std::vector<float> expected;
    for (const int sum : sums)
      expected.push_back(std::max(static_cast<float>(sum) * 0.001f + 0.1f, 0.0f));
    EXPECT_EQ(b.run_to<float>({testing::to_bytes(std::vector<float>{1, -1})}), expected);
  }
}

TEST(OnnxDynamicLayer, ConvolutionHasOnnxRuntimesBits) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers with float results";
  OnnxBuilder b;
  const Quantised x = quantise(&b, b.input({1, 2, 4, 4}));
  const std::string acc = b.node("ConvInteger",
                                 {x.x, b.constant({2, 2, 3, 3}, series<uint8_t>(36, 71, 256, 0)),
                                  x.zero_point, b.scalar<uint8_t>(121)},
                                 {{"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
  const std::string y = scaled(&b, acc, x, b.scalar(0.0037f));
  b.output(b.node("Add", {y, b.constant<float>({1, 2, 1, 1}, {0.25f, -0.6f})}));
  EXPECT_EQ(bits(b.run({input_of(32)})),
            (std::vector<uint32_t>{0x40177bb4, 0x3ebb7089, 0xbfabbef1, 0xbe5f6fba, 0x3fc007f1,
                                   0xbf0ed5da, 0xc01000a6, 0xbfab42e2}));
}

// Scales and bias go into the layer, so that only the quantisation and the layer are left.
TEST(OnnxDynamicLayer, ScalesAndBiasGoIntoTheLayer) {
  testing::Imported imported = product_model().import();
  ASSERT_TRUE(imported.status.ok());
  ASSERT_EQ(imported.refusals(), 0);
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  ASSERT_EQ(imported.graph.nodes.size(), 2u) << convert::dump(imported.graph);
  EXPECT_NE(imported.graph.nodes[0].options.AsDynamicQuantize(), nullptr);
  EXPECT_NE(imported.graph.nodes[1].options.AsFullyConnected(), nullptr);
  EXPECT_EQ(imported.graph.nodes[1].inputs.size(), 7u);
}

// A scale that another operator reads, too, and a product that is an output stay outside the layer.
TEST(OnnxDynamicLayer, ResultsThatOthersReadStay) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers with float results";
  OnnxBuilder b;
  const Quantised x = quantise(&b, b.input({2, 5}));
  const std::string acc = b.node(
      "MatMulInteger", {x.x, b.constant({5, 3}, series<int8_t>(15, 37, 255, -127)), x.zero_point});
  const std::string real = b.node("Cast", {acc}, {{"to", 1}});
  b.output(b.node("Mul", {real, b.node("Mul", {x.scale, b.scalar(0.013f)})}));
  b.output(real);
  const std::vector<Bytes> outputs = b.run({input_of(10)});
  ASSERT_EQ(outputs.size(), 2u);
  const auto reals = testing::from_bytes<float>(outputs[1]);
  const float scale = (2.375f + 1.25f) / 255;  // of ten numbers
  const auto scaled = testing::from_bytes<float>(outputs[0]);
  for (size_t i = 0; i < reals.size(); ++i) EXPECT_EQ(scaled[i], reals[i] * (scale * 0.013f)) << i;
}

// Operators that ONNX Runtime's optimiser fuses have the bits of the single nodes.
TEST(OnnxDynamicLayer, FusedByOnnxRuntime) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers with float results";
  const std::vector<int8_t> w = series<int8_t>(15, 37, 255, -127);
  const std::vector<float> scale = {0.013f, 0.0071f, 0.0233f}, bias = {0.1f, -0.7f, 0.31f};
  const std::vector<uint32_t> expected = {0x40cf424f, 0xbefde8cd, 0xc0f2ae36,
                                          0xc00bfd06, 0xbf1c19b6, 0x40e654a8};
  OnnxBuilder whole;
  whole.output(whole.node("DynamicQuantizeMatMul",
                          {whole.input({2, 5}), whole.constant({5, 3}, w),
                           whole.constant({3}, scale), "", whole.constant({3}, bias)},
                          {}, "com.microsoft"));
  EXPECT_EQ(bits(whole.run({input_of(10)})), expected);
  OnnxBuilder half;
  const Quantised x = quantise(&half, half.input({2, 5}));
  half.output(half.node("MatMulIntegerToFloat",
                        {x.x, half.constant({5, 3}, w), x.scale, half.constant({3}, scale),
                         x.zero_point, "", half.constant({3}, bias)},
                        {}, "com.microsoft"));
  EXPECT_EQ(bits(half.run({input_of(10)})), expected);
}

// Gelu by Erf between dynamic layers, with its factors in either order, becomes one operator.
TEST(OnnxDynamicLayer, GeluOfErfIsOneOperator) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  for (const bool half_first : {false, true}) {
    OnnxBuilder b;
    b.allow_float = true;
    const std::string x = b.input({2, 5});
    const std::string erf = b.node("Erf", {b.node("Div", {x, b.scalar(1.41421354f)})});
    const std::string one = b.node("Add", {erf, b.scalar(1.0f)});
    b.output(half_first ? b.node("Mul", {b.node("Mul", {b.scalar(0.5f), x}), one})
                        : b.node("Mul", {b.node("Mul", {x, one}), b.scalar(0.5f)}));
    Imported imported = b.import();
    ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
    ASSERT_EQ(imported.graph.nodes.size(), 1u) << convert::dump(imported.graph);
    EXPECT_EQ(imported.only<fb::FloatOptionsT>().function, fb::FloatFunction::FUSED_GELU);
    const std::vector<Bytes> outputs = b.run({input_of(10)});
    ASSERT_EQ(outputs.size(), 1u);
    const auto y = testing::from_bytes<float>(outputs[0]),
               in = testing::from_bytes<float>(input_of(10));
    for (size_t i = 0; i < y.size(); ++i) {
      const double v = static_cast<double>(in[i]);
      EXPECT_NEAR(static_cast<double>(y[i]), 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))), 1e-6)
          << i;
    }
  }
}

// Activations and pools between dynamic layers need no --allow-float, as their float operators have
// ONNX Runtime's bits.
TEST(OnnxDynamicLayer, OperatorsBetweenLayersNeedNoFlag) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  const auto expect_converts = [](const char* what, const auto& make) {
    OnnxBuilder b(14);
    const Quantised x = quantise(&b, b.input({1, 2, 4, 4}));
    const std::string acc =
        b.node("ConvInteger",
               {x.x, b.constant({2, 2, 1, 1}, series<int8_t>(4, 37, 255, -127)), x.zero_point});
    const std::string y = make(&b, scaled(&b, acc, x, b.scalar(0.01f)));
    const Quantised second = quantise(&b, y);
    b.output(second.x);
    const Imported imported = b.import();
    EXPECT_TRUE(imported.status.ok()) << what << ": " << imported.status.message();
  };
  for (const char* op :
       {"HardSwish", "HardSigmoid", "Sigmoid", "Tanh", "LeakyRelu", "GlobalMaxPool"})
    expect_converts(op, [&](OnnxBuilder* b, const std::string& v) { return b->node(op, {v}); });
  expect_converts("Clip", [](OnnxBuilder* b, const std::string& v) {
    return b->node("Clip", {v, b->scalar(0.0f), b->scalar(6.0f)});
  });
  expect_converts("SiLU", [](OnnxBuilder* b, const std::string& v) {
    return b->node("Mul", {v, b->node("Sigmoid", {v})});
  });
  expect_converts("MaxPool", [](OnnxBuilder* b, const std::string& v) {
    return b->node("MaxPool", {v}, {{"kernel_shape", Dims{2, 2}}});
  });
  // An average's sum has an order of its own: it is float by the nature of such a graph.
  expect_converts("GlobalAveragePool", [](OnnxBuilder* b, const std::string& v) {
    return b->node("GlobalAveragePool", {v});
  });
}

TEST(OnnxDynamicLayer, OtherFloatArithmeticNeedsAllowFloat) {
  OnnxBuilder b;
  const std::string x = b.input({2, 5});
  b.output(b.node("Mul", {x, x}));
  EXPECT_EQ(b.import().refusals(), 1);
}

}  // namespace
}  // namespace qrt::onnx_dynamic_layer_test
