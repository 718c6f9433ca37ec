// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear: at the model's edges, in chains, per axis, missing zero
// points; and data movement between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_qdq_test {
namespace {

using convert::from_onnx::quantize_ort;

TEST(OnnxQdq, OneQuantizeNodeIsAModel) {
  const std::vector<float> x = {-1e30f, -0.3f, 0.125f, 0.375f, 2.0f, 1e30f, std::nanf("")};
  OnnxBuilder u8, s8;
  u8.output(u8.q<uint8_t>(u8.input({7}), 0.25f, 10));
  s8.output(s8.q<int8_t>(s8.input({7}), 0.25f, -10));
  ASSERT_EQ(u8.run_to<uint8_t>({to_bytes(x)}), (std::vector<uint8_t>{0, 9, 10, 12, 18, 255, 0}));
  ASSERT_EQ(s8.run_to<int8_t>({to_bytes(x)}),
            (std::vector<int8_t>{-128, -11, -10, -8, -2, 127, -128}));
}

TEST(OnnxQdq, OneDequantizeNodeIsAModel) {
  OnnxBuilder s8, s32;
  s8.output(s8.dq<int8_t>(s8.input<int8_t>({3}), 0.1f, -5));
  ASSERT_EQ(s8.run_to<float>({to_bytes(std::vector<int8_t>{-128, 0, 127})}),
            (std::vector<float>{-123 * 0.1f, 5 * 0.1f, 132 * 0.1f}));
  s32.output(s32.node("DequantizeLinear", {s32.input<int32_t>({2}), s32.scalar(0.1f)}));
  ASSERT_EQ(s32.run_to<float>({to_bytes(std::vector<int32_t>{16777217, -3})}),
            (std::vector<float>{16777216 * 0.1f, -3 * 0.1f}));
}

TEST(OnnxQdq, PerAxisAtTheEdges) {
  OnnxBuilder b;
  const std::string scale = b.constant<float>({2}, {0.5f, 0.25f}),
                    zero = b.constant<uint8_t>({2}, {1, 7});
  const std::string q = b.node("QuantizeLinear", {b.input({1, 2, 2}), scale, zero}, {{"axis", -2}});
  b.output(q);
  b.output(b.node("DequantizeLinear", {q, scale, zero}, {{"axis", 1}}));
  const auto outputs = b.run({to_bytes(std::vector<float>{1, 2, 1, 2})});
  ASSERT_EQ(outputs.size(), 2u);
  ASSERT_EQ(outputs[0], (Bytes{3, 5, 11, 15}));
  ASSERT_EQ(from_bytes<float>(outputs[1]), (std::vector<float>{1, 2, 1, 2}));
}

TEST(OnnxQdq, MissingZeroPointIsZeroAndUint8) {
  OnnxBuilder b;
  const std::string scale = b.scalar(0.5f);
  b.output(b.node("QuantizeLinear", {b.input({2}), scale}));
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(std::vector<float>{-3, 3})}), (std::vector<uint8_t>{0, 6}));
}

TEST(OnnxQdq, MicrosoftDomainIsTheSame) {
  OnnxBuilder b;
  const std::string scale = b.scalar(0.5f), zero = b.scalar<int8_t>(1);
  const std::string q = b.node("QuantizeLinear", {b.input({2}), scale, zero}, {}, "com.microsoft");
  b.output(b.node("DequantizeLinear", {q, scale, zero}, {}, "com.microsoft"));
  ASSERT_EQ(b.run_to<float>({to_bytes(std::vector<float>{-3, 3.1f})}), (std::vector<float>{-3, 3}));
}

TEST(OnnxQdq, APairWithEqualParametersLeavesNothing) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({4}, 0.1f, 3);
  b.integer_output<uint8_t>(x, 0.1f, 3);
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok());
  EXPECT_EQ(imported.count(fb::OpOptions::Lut), 0);
  ASSERT_EQ(b.run_to<uint8_t>({{0, 1, 254, 255}}), (std::vector<uint8_t>{0, 1, 254, 255}));
}

TEST(OnnxQdq, TwoPairsInARowShareTheirCommonRange) {
  OnnxBuilder b;
  const std::string x = b.input({4});
  // The ranges [-25.5, 0] and [-0.5, 12.25] have [-0.5, 0] in common.
  b.output(b.qdq<uint8_t>(b.qdq<uint8_t>(x, 0.1f, 255), 0.05f, 10));
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok());
  ASSERT_EQ(imported.graph.nodes.size(), 2u) << dump(imported.graph);
  const float scale = 0.5f / 255.0f;
  const auto& q = convert::options<fb::QuantizeOptionsT>(imported.graph.nodes[0]);
  EXPECT_EQ(q.zero_point[0], 255);
  float got;
  memcpy(&got, &q.scale[0], 4);
  EXPECT_FLOAT_EQ(got, scale);
}

TEST(OnnxQdq, PairsWithASecondReaderStayTwo) {
  OnnxBuilder b;
  const std::string middle = b.qdq<uint8_t>(b.input({4}), 0.1f, 255);
  b.output(middle);
  b.output(b.qdq<uint8_t>(middle, 0.05f, 10));
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok());
  EXPECT_EQ(imported.count(fb::OpOptions::Lut), 1) << dump(imported.graph);
}

TEST(OnnxQdq, TheSameTensorMayBeReadAndGivenOutInEveryForm) {
  OnnxBuilder b;
  const std::string q = b.q<int8_t>(b.input({2}), 0.5f, 1);
  const std::string d = b.dq<int8_t>(q, 0.5f, 1);
  b.output(q);
  b.output(d);
  b.output(q);
  b.output(b.node("Reshape", {d, b.constant<int64_t>({2}, {2, 1})}));
  const auto outputs = b.run({to_bytes(std::vector<float>{-1, 1})});
  ASSERT_EQ(outputs.size(), 4u);
  ASSERT_EQ(from_bytes<int8_t>(outputs[0]), (std::vector<int8_t>{-1, 3}));
  ASSERT_EQ(outputs[0], outputs[2]);
  ASSERT_EQ(from_bytes<float>(outputs[1]), (std::vector<float>{-1, 1}));
  ASSERT_EQ(outputs[1], outputs[3]);
}

TEST(OnnxQdq, InputsAndConstantsMayBeOutputs) {
  OnnxBuilder b;
  const std::string x = b.input<int8_t>({2});
  const std::string c = b.dq<uint8_t>(b.constant<uint8_t>({2}, {3, 5}), 0.5f, 1);
  b.input({3}, "unused");
  b.output(x);
  b.output(c);
  const auto outputs =
      b.run({to_bytes(std::vector<int8_t>{-128, 127}), to_bytes(std::vector<float>(3))});
  ASSERT_EQ(outputs.size(), 2u);
  ASSERT_EQ(from_bytes<int8_t>(outputs[0]), (std::vector<int8_t>{-128, 127}));
  ASSERT_EQ(from_bytes<float>(outputs[1]), (std::vector<float>{1, 2}));
}

TEST(OnnxQdq, ReluAtAFloatOutputIsExactOnTheGrid) {
  OnnxBuilder b;
  b.output(b.node("Relu", {b.integer_input<uint8_t>({3}, 0.3f, 7)}));
  ASSERT_EQ(b.run_to<float>({{0, 7, 9}}), (std::vector<float>{0, 0, 2 * 0.3f}));
}

TEST(OnnxQdq, EdgesTakeScalesThatAreNoUseAsMetadata) {
  for (const float scale : {-0.5f, 0.0f, 1e-42f}) {
    OnnxBuilder b;
    b.output(b.q<uint8_t>(b.input({4}), scale, 10));
    const std::vector<float> x = {-1, 0, 1e-42f, 3};
    std::vector<uint8_t> expected;
    for (float v : x) expected.push_back(static_cast<uint8_t>(quantize_ort(v, scale, 10, 0, 255)));
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(x)}), expected) << scale;
  }
}

// Parameters between integer operators must be constant.
TEST(OnnxQdq, RefusesParametersThatAreNotConstant) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2}, 0.5f, 3);
  b.output(b.node("QuantizeLinear", {b.node("Relu", {x}), b.input({})}));
  EXPECT_NE(b.import().rule().find("not a constant"), std::string::npos);
}

TEST(OnnxMove, ShapesAndPermutationsActOnIntegers) {
  Random random;
  const auto x = random_integers<uint8_t>(&random, 24);
  OnnxBuilder b;
  std::string y = b.integer_input<uint8_t>({1, 2, 3, 4}, 0.5f, 3);
  y = b.node("Squeeze", {y, b.constant<int64_t>({1}, {0})});
  y = b.node("Transpose", {y}, {{"perm", Dims{2, 0, 1}}});
  y = b.node("Unsqueeze", {y, b.constant<int64_t>({2}, {-1, 0})});
  y = b.node("Flatten", {b.node("Dropout", {b.node("Identity", {y})})}, {{"axis", 2}});
  y = b.node("Reshape", {y, b.constant<int64_t>({3}, {0, -1, 3})});
  b.integer_output<uint8_t>(y, 0.5f, 3);
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.values[imported.graph.outputs[0]].type.shape, (Shape{4, 2, 3}));
  std::vector<uint8_t> expected;
  for (size_t k = 0; k < 4; ++k)
    for (size_t ij = 0; ij < 6; ++ij) expected.push_back(x[ij * 4 + k]);
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(x)}), expected);
}

TEST(OnnxMove, TargetsMayBeComputedFromShapes) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 3, 4}, 0.5f, 3);
  const std::string rows = b.node("Gather", {b.node("Shape", {x}), b.constant<int64_t>({1}, {0})});
  const std::string rest = b.constant<int64_t>({1}, {-1});
  b.integer_output<uint8_t>(b.node("Reshape", {x, b.node("Concat", {rows, rest}, {{"axis", 0}})}),
                            0.5f, 3);
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  EXPECT_EQ(imported.graph.values[imported.graph.outputs[0]].type.shape, (Shape{2, 12}));
}

TEST(OnnxMove, ConcatRescalesEveryInput) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 4}, 0.5f, 3),
                    y = b.integer_input<uint8_t>({1, 4}, 0.3f, 9);
  const std::string c = b.dq<uint8_t>(b.constant<uint8_t>({1, 1}, {77}), 0.1f, 2);
  b.integer_output<uint8_t>(b.node("Concat", {x, y, c}, {{"axis", -1}}), 0.5f, 3);
  const Bytes p = {0, 3, 100, 255}, q = {0, 9, 100, 255};
  std::vector<uint8_t> expected(p.begin(), p.end());
  for (uint8_t v : q)
    expected.push_back(
        static_cast<uint8_t>(quantize_ort(static_cast<float>(v - 9) * 0.3f, 0.5f, 3, 0, 255)));
  expected.push_back(static_cast<uint8_t>(quantize_ort(75 * 0.1f, 0.5f, 3, 0, 255)));
  ASSERT_EQ(b.run_to<uint8_t>({p, q}), expected);
}

TEST(OnnxMove, DamagedShapesAreInvalid) {
  const auto code = [](const char* op, const Dims& target) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({1, 2, 3}, 0.5f, 3);
    const std::string t = b.constant<int64_t>({static_cast<int64_t>(target.size())}, target);
    b.integer_output<uint8_t>(b.node(op, {x, t}), 0.5f, 3);
    return b.import().status.code();
  };
  EXPECT_EQ(code("Reshape", {2, 2}), Code::kInvalidModel);
  EXPECT_EQ(code("Reshape", {-1, -1}), Code::kInvalidModel);
  EXPECT_EQ(code("Reshape", {-1, 4}), Code::kInvalidModel);
  EXPECT_EQ(code("Reshape", {INT64_MAX, INT64_MAX}), Code::kInvalidModel);
  EXPECT_EQ(code("Reshape", {1, 1, 1, 0}), Code::kInvalidModel);
  EXPECT_EQ(code("Squeeze", {1}), Code::kInvalidModel);
  EXPECT_EQ(code("Squeeze", {7}), Code::kInvalidModel);
  EXPECT_EQ(code("Unsqueeze", {0, 0}), Code::kInvalidModel);
}

// Returns the QLinearSoftmax of one row, by ONNX Runtime's formula.
std::vector<uint8_t> softmax_reference(const std::vector<uint8_t>& row, float sx, float sy,
                                       int zy) {
  float table[256];
  convert::from_onnx::ort_softmax_table(sx, static_cast<int64_t>(row.size()), table);
  const int m = *std::max_element(row.begin(), row.end());
  const float k = std::floor(1.0f / sy);
  float sum = 0;
  for (uint8_t q : row) sum += table[255 + q - m];
  std::vector<uint8_t> y;
  for (uint8_t q : row) {
    const float scaled = table[255 + q - m] * k;
    const int v = static_cast<int>(std::nearbyint(scaled / sum)) + zy;
    y.push_back(static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v));
  }
  return y;
}

TEST(OnnxSoftmax, RowsOfTheLastAxis) {
  Random random;
  const auto row = random_integers<uint8_t>(&random, 10);
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 10}, 0.1f, 30);
  b.integer_output<uint8_t>(b.node("Softmax", {x}), 1.0f / 256, 0);
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(row)}), softmax_reference(row, 0.1f, 1.0f / 256, 0));
}

TEST(OnnxSoftmax, BeforeOpset13AllAxesFromTheFirstAreOneRow) {
  Random random;
  const auto row = random_integers<uint8_t>(&random, 12);
  OnnxBuilder b(11);
  const std::string x = b.integer_input<uint8_t>({1, 3, 4}, 0.1f, 30);
  b.integer_output<uint8_t>(b.node("Softmax", {x}), 1.0f / 256, 5);
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(row)}), softmax_reference(row, 0.1f, 1.0f / 256, 5));
}

TEST(OnnxSoftmax, RefusesAFloatResult) {
  OnnxBuilder b;
  b.output(b.node("Softmax", {b.integer_input<uint8_t>({1, 10}, 0.1f, 30)}));
  EXPECT_NE(b.import().rule().find("without a QuantizeLinear"), std::string::npos);
}

TEST(OnnxDoubleQdq, RefusesRangesWithOnlyZeroInCommon) {
  OnnxBuilder b;
  b.output(b.qdq<uint8_t>(b.qdq<uint8_t>(b.input({2, 3}), 0.5f, 0), 0.5f, 255));
  EXPECT_NE(b.import().rule().find("have only 0 in common"), std::string::npos);
}

// Ranges with only zero in common are refused behind an operator that could be made in float, too,
// which does not change what the pairs become.
TEST(OnnxDoubleQdq, RefusesRangesWithOnlyZeroInCommonBehindAFloatOperator) {
  OnnxBuilder b;
  b.allow_float = true;
  const std::string x = b.node(
      "Add", {b.qdq<uint8_t>(b.input({2, 3}), 0.5f, 3), b.qdq<uint8_t>(b.input({2, 3}), 0.25f, 3)});
  b.output(b.qdq<uint8_t>(b.qdq<uint8_t>(x, 0.5f, 0), 0.5f, 255));
  EXPECT_NE(b.import().rule().find("have only 0 in common"), std::string::npos);
}

// Three pairs in front of a Transpose and another reader are refused: the Transpose has got a pair
// of its own before the third pair merges.
TEST(OnnxDoubleQdq, RefusesThreePairsInFrontOfATransposeAndAnother) {
  OnnxBuilder b;
  const std::string x = b.qdq<uint8_t>(b.qdq<uint8_t>(b.input({3, 3}), 0.05f, 128), 0.04f, 128);
  const std::string y = b.qdq<uint8_t>(x, 0.1f, 128);
  b.output(b.qdq<uint8_t>(b.node("MatMul", {y, b.node("Transpose", {y})}), 0.5f, 128));
  EXPECT_NE(b.import().rule().find("merge in ONNX Runtime, but for one"), std::string::npos);
}

// Equal pairs stay as they are if they are found late: the shape that shows that an Expand changes
// nothing is not known yet when the pair in front of the Expand is read.
TEST(OnnxDoubleQdq, EqualPairsThatAreFoundLateStayAsTheyAre) {
  OnnxBuilder b;
  const auto one = [&](int64_t v) { return b.constant<int64_t>({1}, {v}); };
  const std::string x = b.qdq<uint8_t>(b.input({2, 6}), 0.03f, 100);
  const std::string part = b.node("Slice", {x, one(0), one(3), one(1)});
  const std::string y = b.node("Expand", {part, b.constant<int64_t>({2}, {2, 3})});
  b.output(b.qdq<uint8_t>(y, 0.03f, 100));
  const Imported imported = b.import();
  EXPECT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.refusals(), 0);
}

// A product of scales that is no number is refused: even without an integer form, ONNX Runtime's
// product is one of integers.
TEST(OnnxMatMul, RefusesScalesWhoseProductIsNone) {
  OnnxBuilder b;
  b.allow_float = true;
  const std::string x = b.qdq<uint8_t>(b.input({2, 3}), 1e-23f, 128);
  const std::string y = b.qdq<uint8_t>(b.input({3, 4}), 1e-23f, 128);
  b.output(b.qdq<uint8_t>(b.node("MatMul", {x, y}), 1e-40f, 128));
  EXPECT_NE(b.import().rule().find("not a normal positive number"), std::string::npos);
}

// QuantizeLinear/DequantizeLinear pairs behind a refused operator are not merged, since the
// stand-in for the operator's result is no integer tensor.
TEST(OnnxDoubleQdq, BehindARefusedOperator) {
  OnnxBuilder b;
  std::string x = b.node("Softmax", {b.integer_input<uint8_t>({2, 3}, 0.5f, 3)});
  x = b.node("Transpose", {b.qdq<uint8_t>(x, 2.0f, 0)}, {{"perm", Dims{1, 0}}});
  x = b.node("Transpose", {x}, {{"perm", Dims{1, 0}}});
  b.output(b.qdq<uint8_t>(b.qdq<uint8_t>(x, 3.0f, 0), 2.5f, 0));
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  EXPECT_EQ(imported.refusals(), 1);
}

}  // namespace
}  // namespace qrt::testing::onnx_qdq_test
