// SPDX-License-Identifier: Apache-2.0
// Models with a symbolic batch, against ONNX Runtime's outputs for three images
// (tests/onnxruntime/numbers.mjs made those). Where the images of a batch are apart the batch is open, and
// a session of three gives these numbers. Elsewhere it is closed, the converter says by which node, and
// only the same model with the batch written as 3 gives them.
#include <gtest/gtest.h>

#include "tests/converter/symbolic_batch_cases.h"

namespace qrt::symbolic_batch_test {
namespace {

using testing::Bytes;
using testing::Dims;
using testing::Imported;
using testing::input_of;
using testing::kBatch;
using testing::kScale;
using testing::kSymbolicBatchCases;
using testing::kZero;
using testing::OnnxBuilder;
using Case = testing::SymbolicBatchCase;

class SymbolicBatch : public ::testing::TestWithParam<Case> {};

// A batch of 3 in the model gives the graph's numbers, whatever is known of its batch.
TEST_P(SymbolicBatch, ABatchOfThreeInTheModel) {
  const Case& c = GetParam();
  ASSERT_EQ(build(c, kBatch).run({input_of(c)}), (std::vector<Bytes>{c.expected}));
}

TEST_P(SymbolicBatch, OpenWhereImagesAreApart) {
  const Case& c = GetParam();
  testing::Imported imported = build(c, -1).import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_TRUE(imported.graph.batch_is_symbolic);
  convert::Graph graph = imported.graph;
  const Status status = run_passes(&graph, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(graph.batch_is_open, c.is_open) << graph.batch_closed;
  if (graph.batch_is_open) {
    EXPECT_EQ(c.dims[0], static_cast<int64_t>(kBatch));
    const auto run = testing::run_graph(imported.graph, true, {input_of(c)}, kBatch);
    ASSERT_EQ(run.outputs, (std::vector<Bytes>{c.expected}));
    return;
  }
  Bytes file;
  ASSERT_TRUE(write_model(graph, &file).ok());
  if (!graph.symbols.empty()) {
    // Images that are not apart are a dimension like any other.
    ASSERT_EQ(graph.symbols[0].name, "N");
    testing::RunOptions at_size;
    at_size.dims = {{"N", kBatch}};
    const testing::RunResult run = testing::run_model(file, {input_of(c)}, at_size);
    EXPECT_EQ(run.outputs, (std::vector<Bytes>{c.expected})) << run.message;
    return;
  }
  EXPECT_NE(graph.batch_closed.find("'mixes'"), std::string::npos) << graph.batch_closed;
  testing::RunOptions options;
  options.batch = kBatch;
  const testing::RunResult run = testing::run_model(file, {input_of(c)}, options);
  EXPECT_EQ(run.status, QRT_INVALID_ARGUMENT);
  EXPECT_EQ(run.message, "the model's batch is fixed to 1, not 3");
}

INSTANTIATE_TEST_SUITE_P(, SymbolicBatch, ::testing::ValuesIn(kSymbolicBatchCases),
                         [](const auto& info) { return std::string(info.param.name); });

// The batch is closed where an input has none: ONNX Runtime takes one mask for all images.
TEST(SymbolicBatches, ClosedWhereAnInputHasNone) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({-1, 4}, kScale, kZero);
  const std::string y = b.integer_input<uint8_t>({1, 4}, kScale, kZero);
  b.integer_output<uint8_t>(b.node("Add", {x, y}), kScale, kZero);
  const testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok());
  EXPECT_NE(imported.graph.batch_closed.find("has no batch in front"), std::string::npos)
      << imported.graph.batch_closed;
}

// A Reshape of a fixed size leaves the model one batch.
TEST(SymbolicBatches, FixedByAReshape) {
  for (const Dims& to : {Dims{8, 2}, Dims{4, -1, 4}, Dims{-1, 16}}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({-1, 2}, 0.5f, 0);
    const std::string shape = b.constant<int64_t>({static_cast<int64_t>(to.size())}, to);
    b.integer_output<uint8_t>(b.node("Reshape", {x, shape}), 0.5f, 0);
    const Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok()) << imported.status.message();
    EXPECT_EQ(imported.graph.default_batch, 8);
    EXPECT_EQ(imported.graph.batch_closed, "node Reshape2 (Reshape) needs a batch of 8");
  }
}

TEST(SymbolicBatches, NoneThatFitsIsRefused) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({-1, 2}, 0.5f, 0);
  for (const int64_t rows : {8, 6})
    b.integer_output<uint8_t>(b.node("Reshape", {x, b.constant<int64_t>({2}, {rows, 2})}), 0.5f, 0);
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  ASSERT_EQ(imported.report.count(convert::Outcome::kRefused), 1u);
  EXPECT_NE(imported.report.findings()[0].remedy.find("--input-shape"), std::string::npos);
}

// Operators in float keep images apart as those of integers do, and so does a layer behind them.
TEST(SymbolicBatches, OpenAtAConvThatNothingQuantises) {
  for (const int64_t groups : {1, 2})
    for (const Dims& kernel : {Dims{3, 2}, Dims{4, 4}}) {
      OnnxBuilder b(17);
      const std::string x = b.integer_input<uint8_t>({-1, 4, 4, 4}, 0.5f, 128);
      const Dims dims = {6, 4 / groups, kernel[0], kernel[1]};
      const auto count = static_cast<size_t>(dims[0] * dims[1] * dims[2] * dims[3]);
      const std::string w =
          b.dq<int8_t>(b.constant<int8_t>(dims, std::vector<int8_t>(count, 3)), 0.5f, 0);
      b.output(b.node("Relu", {b.node("Conv", {x, w}, {{"group", groups}})}));
      const testing::Imported imported = b.import();
      ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
      EXPECT_EQ(imported.graph.batch_closed, "") << groups << ", " << kernel[0];
    }
}

TEST(SymbolicBatches, OpenBehindAFloatForm) {
  for (const char* op : {"InstanceNormalization", "Softmax", "LayerNormalization"}) {
    OnnxBuilder b(17);
    b.allow_float = true;
    const std::string x = b.integer_input<uint8_t>({-1, 2, 3, 4}, 0.5f, 128);
    const std::string ones = b.constant<float>({2}, {1, 1}),
                      row = b.constant<float>({4}, {1, 1, 1, 1});
    const std::string normal =
        std::string(op) == "Softmax"
            ? b.node(op, {x}, {{"axis", -1}})
            : b.node(op, {x, std::string(op) == "LayerNormalization" ? row : ones,
                          std::string(op) == "LayerNormalization" ? row : ones});
    const std::string w =
        b.dq<int8_t>(b.constant<int8_t>({3, 2, 1, 1}, {1, 2, 3, 4, 5, 6}), 0.5f, 0);
    b.integer_output<uint8_t>(b.node("Conv", {b.qdq<uint8_t>(normal, 0.02f, 128), w}), 0.5f, 128);
    b.integer_output<uint8_t>(b.node("Conv", {normal, w}), 0.5f, 128);
    const testing::Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok()) << op << imported.report.text(true);
    EXPECT_EQ(imported.graph.batch_closed, "") << op;
  }
}

TEST(SymbolicBatches, BesideANumber) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({3, 4}, kScale, kZero);
  const std::string y = b.integer_input<uint8_t>({-1, 4}, kScale, kZero);
  b.integer_output<uint8_t>(b.node("Max", {x, y}), kScale, kZero);
  const testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  EXPECT_EQ(imported.graph.default_batch, 1);
  const Bytes three = {1, 2, 3, 4, 50, 60, 70, 80, 9, 10, 11, 12}, one = {5, 6, 7, 8};
  const auto run = testing::run_graph(imported.graph, true, {three, one}, 1);
  ASSERT_EQ(run.outputs, (std::vector<Bytes>{{5, 6, 7, 8, 50, 60, 70, 80, 9, 10, 11, 12}}));
}

// The batch stays open with a constant that the file repeats for every image.
TEST(SymbolicBatches, OpenWithAConstantRepeatedForEveryImage) {
  OnnxBuilder b;
  const std::string input = b.input<uint8_t>({-1, 4});
  const std::string shape = b.node("Shape", {input});
  const std::string row = b.constant<uint8_t>({1, 4}, {1, 2, 3, 4});
  const std::string rows = b.node("Expand", {row, shape});
  b.integer_output<uint8_t>(
      b.node("Add", {b.dq<uint8_t>(input, kScale, kZero), b.dq<uint8_t>(rows, kScale, 0)}), kScale,
      kZero);
  const testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  EXPECT_EQ(imported.graph.batch_closed, "");
  Bytes input_codes = {100, 101, 102, 103, 10, 20, 30, 40, 200, 210, 220, 230};
  const auto run = testing::run_graph(imported.graph, true, {input_codes}, kBatch);
  ASSERT_EQ(run.outputs,
            (std::vector<Bytes>{{101, 103, 105, 107, 11, 22, 33, 44, 201, 212, 223, 234}}));
}

}  // namespace
}  // namespace qrt::symbolic_batch_test
