// SPDX-License-Identifier: Apache-2.0
// Constants are computed at conversion: limits and casts of weights, scales that are quantised
// themselves; and operator sets below 10, whose numbers are attributes.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_folding_test {
namespace {

Bytes bytes(std::initializer_list<int> v) { return Bytes(v.begin(), v.end()); }

// Checks that a layer whose weights are made by `weights` gives the same bytes as one that has
// these weights as constants.
template <class Make>
void expect_same_layer(const std::vector<int8_t>& folded, const Make& weights) {
  std::vector<std::vector<uint8_t>> results;
  for (const bool made : {true, false}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({2, 4}, 0.5f, 3);
    const std::string w = made ? weights(&b) : b.constant<int8_t>({4, 2}, folded);
    const std::string real = b.node("DequantizeLinear", {w, b.scalar(0.25f), b.scalar<int8_t>(0)});
    b.integer_output<uint8_t>(b.node("MatMul", {x, real}), 0.5f, 100);
    results.push_back(b.run_to<uint8_t>({bytes({0, 9, 255, 3, 77, 12, 5, 200})}));
  }
  EXPECT_EQ(results[0], results[1]);
}

const std::vector<int8_t> kWeights = {-128, 127, 5, -9, 8, -8, 7, 0};

TEST(OnnxFolding, ClipOfConstantIntegers) {  // Brevitas QCDQ
  expect_same_layer({-8, 7, 5, -8, 7, -8, 7, 0}, [](OnnxBuilder* b) {
    return b->node("Clip", {b->constant<int8_t>({4, 2}, kWeights), b->scalar<int8_t>(-8),
                            b->scalar<int8_t>(7)});
  });
  expect_same_layer({-128, 7, 5, -9, 7, -8, 7, 0}, [](OnnxBuilder* b) {
    return b->node("Clip", {b->constant<int8_t>({4, 2}, kWeights), "", b->scalar<int8_t>(7)});
  });
}

TEST(OnnxFolding, QuantizeThenClipOfConstantFloats) {
  expect_same_layer({-8, 7, 5, -3, 7, -8, 7, 0}, [](OnnxBuilder* b) {
    const std::vector<float> real = {-32, 31, 1.25f, -0.75f, 2, -2, 1.75f, 0};
    const std::string q = b->q<int8_t>(b->constant<float>({4, 2}, real), 0.25f, 0);
    return b->node("Clip", {q, b->scalar<int8_t>(-8), b->scalar<int8_t>(7)});
  });
}

TEST(OnnxFolding, CastsArithmeticAndMovesOfConstants) {
  expect_same_layer(kWeights, [](OnnxBuilder* b) {
    const std::string wide = b->constant<int32_t>({4, 2}, {-128, 383, 261, -9, 8, -8, 7, 256});
    return b->node("Cast", {wide}, {{"to", 3}});  // the low bytes
  });
  expect_same_layer(kWeights, [](OnnxBuilder* b) {
    const std::string real =
        b->constant<float>({4, 2}, {-128.9f, 127.5f, 5.9f, -9.9f, 8, -8.1f, 7.99f, -0.5f});
    return b->node("Cast", {real}, {{"to", 3}});  // toward zero
  });
  expect_same_layer(kWeights, [](OnnxBuilder* b) {
    std::vector<int32_t> turned = {-64, 2, 4, 3, 63, -5, -4, 0};  // [2, 4], half of it
    const std::string t = b->node("Transpose", {b->constant<int32_t>({2, 4}, turned)});
    const std::string odd = b->constant<int32_t>({4, 2}, {0, 1, 1, 1, 0, 0, 1, 0});
    const std::string sum = b->node("Add", {b->node("Mul", {t, b->scalar<int32_t>(2)}), odd});
    return b->node("CastLike", {sum, b->scalar<int8_t>(0)});
  });
}

// More elements than shapes have.
TEST(OnnxFolding, LargeConstants) {
  OnnxBuilder b;
  const int64_t n = 20000;
  const std::vector<int8_t> w(static_cast<size_t>(n), 100);
  const std::string x = b.input<int8_t>({n});
  b.output(b.node("Min", {x, b.node("Clip", {b.constant<int8_t>({n}, w), b.scalar<int8_t>(-8),
                                             b.scalar<int8_t>(7)})}));
  EXPECT_EQ(b.run({Bytes(static_cast<size_t>(n), 50)})[0], Bytes(static_cast<size_t>(n), 7));
}

// AIMET LPBQ.
TEST(OnnxFolding, ScaleThatIsQuantisedItself) {
  std::vector<std::vector<uint8_t>> results;
  for (const bool quantised : {true, false}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({2, 2}, 0.5f, 3);
    const std::string scale =
        quantised ? b.node("DequantizeLinear", {b.constant<uint8_t>({3}, {4, 8, 2}),
                                                b.scalar(0.125f), b.scalar<uint8_t>(0)})
                  : b.constant<float>({3}, {0.5f, 1.0f, 0.25f});
    const std::string w = b.node("DequantizeLinear",
                                 {b.constant<int8_t>({2, 3}, {1, -2, 30, 4, 50, -60}), scale,
                                  b.constant<int8_t>({3}, {0, 0, 0})},
                                 {{"axis", 1}});
    b.integer_output<uint8_t>(b.node("MatMul", {x, w}), 0.5f, 100);
    results.push_back(b.run_to<uint8_t>({bytes({0, 9, 25, 3})}));
  }
  EXPECT_EQ(results[0], results[1]);
}

// A bias of 8 bits is folded to the numbers that it stands for.
TEST(OnnxFolding, BiasOfEightBits) {
  std::vector<std::vector<uint8_t>> results;
  for (const bool quantised : {true, false}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({1, 2, 2, 2}, 0.5f, 3);
    const std::string w = b.node(
        "DequantizeLinear",
        {b.constant<int8_t>({2, 2, 1, 1}, {1, -2, 30, 4}), b.scalar(0.25f), b.scalar<int8_t>(0)});
    const std::string bias = quantised ? b.dq<int8_t>(b.constant<int8_t>({2}, {100, -7}), 0.5f, 1)
                                       : b.constant<float>({2}, {49.5f, -4.0f});
    b.integer_output<uint8_t>(b.node("Conv", {x, w, bias}), 0.5f, 100);
    results.push_back(b.run_to<uint8_t>({bytes({0, 9, 25, 3, 7, 200, 31, 90})}));
  }
  ASSERT_EQ(results[0].size(), 8u);
  EXPECT_EQ(results[0], results[1]);
}

TEST(OnnxFolding, DividingByZeroIsNotFolded) {
  OnnxBuilder b;
  const std::string zero =
      b.node("Div", {b.constant<int32_t>({2}, {4, 6}), b.constant<int32_t>({2}, {2, 0})});
  b.output(b.node("Add", {b.input<int32_t>({2}), zero}));
  EXPECT_EQ(b.import().status.code(), Code::kUnsupported);
}

// --- QONNX

// A Quant is QuantizeLinear, Clip and DequantizeLinear, both of weights along the outputs and of activations.
TEST(OnnxQonnx, QuantIsAPairWithLimits) {
  const std::vector<float> w = {0.3f, -0.6f, 1.7f, 0.8f, -3.0f, 2.0f, 0.1f, -0.1f};
  std::vector<std::vector<uint8_t>> results;
  for (const bool quant : {true, false}) {
    OnnxBuilder b;
    auto* set = b.model.add_opset_import();
    set->set_domain("qonnx.custom_op.general");
    set->set_version(1);
    const std::string x = b.integer_input<uint8_t>({1, 4, 1, 3}, 0.5f, 100);
    const auto channel = [&](const Dims& dims) { return b.constant<float>(dims, {0.1f, 0.25f}); };
    std::string real;
    if (quant) {
      real = b.node("Quant",
                    {b.constant<float>({2, 4, 1, 1}, w), channel({2, 1, 1, 1}), b.scalar(0.0f),
                     b.scalar(4.0f)},
                    {{"signed", 1}, {"narrow", 1}, {"rounding_mode", "ROUND"}},
                    "qonnx.custom_op.general");
    } else {
      const std::string zero = b.constant<int8_t>({2}, {0, 0});
      std::string q =
          b.node("QuantizeLinear", {b.constant<float>({2, 4, 1, 1}, w), channel({2}), zero},
                 {{"axis", 0}});
      q = b.node("Clip", {q, b.scalar<int8_t>(-7), b.scalar<int8_t>(7)});
      real = b.node("DequantizeLinear", {q, channel({2}), zero}, {{"axis", 0}});
    }
    std::string y = b.node("Conv", {x, real});
    if (quant) {
      y = b.node("Quant", {y, b.scalar(2.0f), b.scalar(5.0f), b.scalar(6.0f)},
                 {{"signed", 0}, {"narrow", 0}}, "qonnx.custom_op.general");
    } else {
      y = b.node("Clip", {b.q<uint8_t>(y, 2.0f, 5), b.scalar<uint8_t>(0), b.scalar<uint8_t>(63)});
      y = b.node("DequantizeLinear", {y, b.scalar(2.0f), b.scalar<uint8_t>(5)});
    }
    b.integer_output<uint8_t>(y, 1.0f, 100);
    results.push_back(
        b.run_to<uint8_t>({bytes({0, 9, 255, 3, 77, 12, 5, 200, 130, 131, 140, 90})}));
  }
  ASSERT_EQ(results[0].size(), 6u);
  EXPECT_EQ(results[0], results[1]);
}

TEST(OnnxQonnx, OtherWidthsAndRoundingsAreRefused) {
  for (const auto& [width, rounding] : std::vector<std::pair<float, const char*>>{
           {16.0f, "ROUND"}, {4.0f, "FLOOR"}, {2.5f, "ROUND"}}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({4}, 0.5f, 100);
    const std::string y = b.node("Quant", {x, b.scalar(2.0f), b.scalar(0.0f), b.scalar(width)},
                                 {{"rounding_mode", rounding}}, "qonnx.custom_op.general");
    b.integer_output<uint8_t>(y, 1.0f, 100);
    EXPECT_EQ(b.import().status.code(), Code::kUnsupported);
  }
}

// --- operator sets 7 to 9

TEST(OnnxOldOpsets, SliceTopKAndUpsampleHaveTheirNumbersAsAttributes) {
  for (const int64_t opset : {7, 8, 9}) {
    OnnxBuilder b(opset);
    const std::string x = b.input<uint8_t>({1, 1, 2, 3});
    b.output(b.node("Slice", {x}, {{"starts", Dims{1}}, {"ends", Dims{3}}, {"axes", Dims{3}}}));
    b.output(b.node("Slice", {x}, {{"starts", Dims{0, 0, 1}}, {"ends", Dims{1, 1, 2}}}));
    b.output(b.node("TopK", {x}, {{"k", 2}, {"axis", 3}}));
    const std::vector<Bytes> out = b.run({bytes({3, 1, 2, 7, 9, 8})});
    ASSERT_EQ(out.size(), 3u);
    EXPECT_EQ(out[0], bytes({1, 2, 9, 8}));
    EXPECT_EQ(out[1], bytes({7, 9, 8}));
    EXPECT_EQ(out[2], bytes({3, 2, 9, 8}));
  }
  OnnxBuilder b(7);
  onnx::AttributeProto scales;
  scales.set_name("scales");
  scales.set_type(onnx::AttributeProto::FLOATS);
  for (float s : {1.0f, 1.0f, 2.0f, 1.0f}) scales.add_floats(s);
  const std::string y =
      b.node("Upsample", {b.integer_input<uint8_t>({1, 1, 2, 2}, 0.5f, 3)}, {{"mode", "nearest"}});
  *b.graph().mutable_node(b.graph().node_size() - 1)->add_attribute() = scales;
  b.graph().mutable_node(0)->set_domain("com.microsoft");
  b.output(
      b.node("QuantizeLinear", {y, b.scalar(0.5f), b.scalar<uint8_t>(3)}, {}, "com.microsoft"));
  EXPECT_EQ(b.run({bytes({1, 2, 3, 4})})[0], bytes({1, 2, 1, 2, 3, 4, 3, 4}));
}

// A quantised layer of com.microsoft's operators gives the same in an old operator set.
TEST(OnnxOldOpsets, LayerGivesTheSameAsInAYoungerSet) {
  std::vector<std::vector<uint8_t>> results;
  for (const int64_t opset : {7, 8, 9, 13}) {
    OnnxBuilder b(opset);
    const auto dq = [&](const std::string& x, const std::string& scale, const std::string& zero) {
      return b.node("DequantizeLinear", {x, scale, zero}, {}, "com.microsoft");
    };
    const std::string x =
        dq(b.input<uint8_t>({1, 2, 3, 3}), b.scalar(0.5f), b.scalar<uint8_t>(100));
    const std::string w =
        dq(b.constant<int8_t>({2, 2, 1, 1}, {5, -6, 70, 8}), b.scalar(0.25f), b.scalar<int8_t>(0));
    std::string y = b.node("Conv", {x, w});
    y = b.node("Dropout", {y},
               opset < 12 ? std::vector<Attr>{{"ratio", 0.5f}} : std::vector<Attr>{});
    y = b.node("QuantizeLinear", {y, b.scalar(2.0f), b.scalar<uint8_t>(128)}, {}, "com.microsoft");
    b.output(y);
    Bytes in;
    for (int i = 0; i < 18; ++i) in.push_back(static_cast<uint8_t>(i * 14));
    results.push_back(b.run_to<uint8_t>({in}));
  }
  for (const auto& result : results) EXPECT_EQ(result, results[3]);
}

}  // namespace
}  // namespace qrt::testing::onnx_folding_test
