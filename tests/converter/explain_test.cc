// SPDX-License-Identifier: Apache-2.0
// Every node has its place in the report, also those behind a refused one: what a refused node
// would have made stands in, where its type and shape can be told, and its readers are judged on
// it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/onnx_builder.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::explain_test {
namespace {

using Lines = std::vector<std::string>;

// Returns an operator that no version will ever have, behind a pair of its own.
std::string refused(OnnxBuilder* b, const std::string& x) { return b->node("Unheard", {x}); }

void declare_shape(OnnxBuilder* b, const std::string& tensor, const Dims& dims) {
  OnnxBuilder::declare(b->graph().add_value_info(), tensor, 1, dims);
}

TEST(ExplainOnnx, ReadersOfARefusedNodeAreJudged) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 4}, 0.1f, 3), bad = refused(&b, x);
  declare_shape(&b, bad, {2, 4});
  const std::string y = b.qdq<uint8_t>(bad, 0.1f, 3);
  b.integer_output<uint8_t>(b.node("Add", {x, y}), 0.2f, 5);
  b.integer_output<uint8_t>(b.node("Unknown", {y}), 0.2f, 5);
  const Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_EQ(imported.outcomes(),
            (Lines{"DequantizeLinear: folded", "Unheard: refused",
                   "QuantizeLinear: depends on refused node Unheard2", "DequantizeLinear: folded",
                   "Add: Add", "QuantizeLinear: fused into Add", "Unknown: refused",
                   "QuantizeLinear: depends on refused node Unknown7"}));
}

TEST(ExplainOnnx, ShapesComeFromTheOperatorWhereTheFileHasNone) {
  for (const char* op : {"LpNormalization", "Pow", "ReduceL2"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b;
    const std::string x = b.integer_input<int8_t>({2, 4}, 0.1f, 3);
    const std::string bad = std::string(op) == "Pow"        ? b.node(op, {x, b.scalar(7.5f)})
                            : std::string(op) == "ReduceL2" ? b.node(op, {x}, {{"axes", Dims{-1}}})
                                                            : b.node(op, {x});
    b.integer_output<int8_t>(b.node("Unheard", {b.qdq<int8_t>(bad, 0.1f, 3)}), 0.2f, 5);
    b.integer_output<int8_t>(b.node("Add", {x, b.qdq<int8_t>(bad, 0.1f, 3)}), 0.2f, 5);
    const Lines lines = b.import().outcomes();
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "Add: Add"), 1);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), std::string(op) + ": refused"), 1);
    EXPECT_EQ(lines.size(), static_cast<size_t>(b.graph().node_size()));
  }
}

TEST(ExplainOnnx, WhatHasNoShapeIsNotAssessedButNamed) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 4}, 0.1f, 3), bad = refused(&b, x);
  const std::string sum = b.node("Add", {x, b.qdq<uint8_t>(bad, 0.1f, 3)});
  b.integer_output<uint8_t>(b.node("Relu", {sum}), 0.2f, 5);
  const std::string why = "depends on refused node Unheard2";
  EXPECT_EQ(
      b.import().outcomes(),
      (Lines{"DequantizeLinear: folded", "Unheard: refused", "QuantizeLinear: " + why,
             "DequantizeLinear: " + why, "Add: " + why, "Relu: " + why, "QuantizeLinear: " + why}));
}

TEST(ExplainOnnx, FloatReadersAreNotAssessedAndTheirQuantisedResultStandsIn) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 4}, 0.1f, 3), bad = refused(&b, x);
  declare_shape(&b, bad, {2, 4});
  const std::string relu = b.node("Relu", {bad});
  b.integer_output<uint8_t>(b.node("Unknown", {b.qdq<uint8_t>(relu, 0.1f, 3)}), 0.1f, 3);
  const std::string why = "depends on refused node Unheard2";
  EXPECT_EQ(b.import().outcomes(),
            (Lines{"DequantizeLinear: folded", "Unheard: refused", "Relu: " + why,
                   "QuantizeLinear: " + why, "DequantizeLinear: folded", "Unknown: refused",
                   "QuantizeLinear: depends on refused node Unknown6"}));
}

TEST(ExplainOnnx, AnOperatorThatOnlyARefusedNodeReadsIsNotCalledConverted) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 4}, 0.1f, 3);
  b.output(refused(&b, b.node("Relu", {b.node("Add", {x, x})})));
  EXPECT_EQ(b.import().outcomes(),
            (Lines{"DequantizeLinear: folded", "Add: its result goes to node Unheard4",
                   "Relu: its result goes to node Unheard4", "Unheard: refused"}));
}

TEST(ExplainOnnx, AQuantisationThatIsRefusedItselfIsNamed) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 4}, 0.1f, 3), bad = refused(&b, x);
  declare_shape(&b, bad, {2, 4});
  b.output(b.node("QuantizeLinear", {bad, b.scalar(0.5f), b.scalar<int32_t>(0)}));
  EXPECT_EQ(b.import().refusals(), 2);
}

TEST(ExplainOnnx, IntegerResultsOfARefusedNodeStandInByTheirZeroPoint) {
  OnnxBuilder b;
  const std::string x = b.input<uint8_t>({2, 4}), bad = b.node("Unheard", {x});
  declare_shape(&b, bad, {2, 4});
  b.graph().mutable_value_info(0)->mutable_type()->mutable_tensor_type()->clear_elem_type();
  const std::string s = b.scalar(0.5f), z = b.scalar<uint8_t>(7);
  b.output(b.node("QLinearAdd", {bad, s, z, x, s, z, s, z}, {}, "com.microsoft"));
  EXPECT_EQ(b.import().outcomes(), (Lines{"Unheard: refused", "com.microsoft.QLinearAdd: Add"}));
}

TEST(ExplainOnnx, RefusedInputsAreNamedToo) {
  OnnxBuilder b;
  const std::string x = b.input({2, 4});
  b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);  // string
  b.output(b.node("Relu", {x}));
  EXPECT_EQ(b.import().outcomes(),
            (Lines{"input: refused", "Relu: depends on refused input '" + x + "'"}));
}

// A file that declares a wrong shape for a tensor that is never made is not damaged by that.
TEST(ExplainOnnx, AStandInThatCannotBeIsNotAssessed) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({2, 4}, 0.1f, 3), bad = refused(&b, x);
  declare_shape(&b, bad, {3, 5});
  b.integer_output<uint8_t>(b.node("Add", {x, b.qdq<uint8_t>(bad, 0.1f, 3)}), 0.2f, 5);
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_EQ(imported.outcomes()[4], "Add: depends on refused node Unheard2");
}

TEST(ExplainTflite, ReadersOfARefusedOperatorAreJudged) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.5f, 3);
  const int bad = b.activation(TensorType::INT8, {1, 4}, 0.5f, 3);
  const int good = b.activation(TensorType::INT8, {1, 4}, 0.5f, 3);
  const int y = b.output(TensorType::INT8, {1, 4}, 0.5f, 3);
  b.op(BuiltinOperator::HASHTABLE_LOOKUP, {x}, {bad});
  b.op(BuiltinOperator::RELU, {bad}, {good});
  b.op(BuiltinOperator::HASHTABLE_LOOKUP, {good}, {y});
  Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported);
  const auto& findings = imported.report.findings();
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].outcome, convert::Outcome::kRefused);
  EXPECT_EQ(findings[1].outcome, convert::Outcome::kConverted);
  EXPECT_EQ(findings[2].outcome, convert::Outcome::kRefused);
}

TEST(ExplainTflite, WhatIsNoActivationIsNotAssessedButNamed) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.5f, 3);
  const int shape = b.tensor(TensorType::INT32, {2});
  const int y = b.output(TensorType::INT8, {2, 2}, 0.5f, 3);
  b.op(BuiltinOperator::HASHTABLE_LOOKUP, {x}, {shape});
  b.op(BuiltinOperator::RESHAPE, {x, shape}, {y});
  Imported imported = b.import();
  const auto& findings = imported.report.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].outcome, convert::Outcome::kNotAssessed);
  EXPECT_EQ(findings[1].rule, "depends on refused operator " + findings[0].node);
}

}  // namespace
}  // namespace qrt::testing::explain_test
