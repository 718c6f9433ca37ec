// SPDX-License-Identifier: Apache-2.0
// Reading float ONNX files: old and new forms of operators, float16, and what is refused.
#include "tests/quantize/float_cases.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::floats::float_reader_test {
namespace {

// Runs a file's model on one input.
std::vector<float> run_bytes(const OnnxBuilder& b, const Tensor& x) {
  FloatModel model;
  const Status status = read_bytes(b.bytes(), &model);
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok()) return {};
  const auto outputs = run_model(model, {{model.inputs[0].name, x}});
  return outputs.empty() ? std::vector<float>() : outputs.begin()->second.reals;
}

std::string why_not_read(const OnnxBuilder& b) {
  FloatModel model;
  const Status status = read_bytes(b.bytes(), &model);
  EXPECT_FALSE(status.ok());
  return status.message();
}

const Tensor kRow = real_tensor({1, 4}, {-1, 2, 5, 8});

TEST(FloatReader, AttributesOfOldOpsetsAreInputs) {
  {
    OnnxBuilder b(7);
    b.output(b.node("Clip", {b.input({1, 4})}, {Attr("min", 0.0f), Attr("max", 6.0f)}));
    EXPECT_EQ(run_bytes(b, kRow), (std::vector<float>{0, 2, 5, 6}));
  }
  {
    OnnxBuilder b(9);
    b.output(b.node("Slice", {b.input({1, 4})},
                    {Attr("starts", Dims{1}), Attr("ends", Dims{3}), Attr("axes", Dims{1})}));
    EXPECT_EQ(run_bytes(b, kRow), (std::vector<float>{2, 5}));
  }
  {
    OnnxBuilder b(8);
    b.output(
        b.node("Pad", {b.input({1, 4})}, {Attr("pads", Dims{0, 1, 0, 0}), Attr("value", 7.0f)}));
    EXPECT_EQ(run_bytes(b, kRow), (std::vector<float>{7, -1, 2, 5, 8}));
  }
  {
    OnnxBuilder b(11);
    const std::string x = b.node("Unsqueeze", {b.input({1, 4})}, {Attr("axes", Dims{0})});
    b.output(b.node("ReduceSum", {x}, {Attr("axes", Dims{2}), Attr("keepdims", 0)}));
    EXPECT_EQ(run_bytes(b, kRow), (std::vector<float>{14}));
  }
  {
    OnnxBuilder b(17);
    b.output(b.node("ReduceMean", {b.input({1, 4})}, {Attr("axes", Dims{1})}));
    EXPECT_EQ(run_bytes(b, kRow), (std::vector<float>{3.5}));
  }
}

// Before opset 13 the rows of a Softmax are all dimensions from the axis on.
TEST(FloatReader, OldSoftmaxHasRowsOfSeveralDimensions) {
  OnnxBuilder b(11);
  b.output(b.node("Softmax", {b.input({1, 2, 2})}));
  const auto y = run_bytes(b, real_tensor({1, 2, 2}, {0, 0, 0, 0}));
  EXPECT_EQ(y, (std::vector<float>{0.25, 0.25, 0.25, 0.25}));
}

TEST(FloatReader, OldResizesCountFromTheCorner) {
  OnnxBuilder b(9);
  const auto scales = b.constant<float>({4}, {1, 1, 1, 2});
  b.output(b.node("Upsample", {b.input({1, 1, 1, 2}), scales}, {Attr("mode", "linear")}));
  EXPECT_EQ(run_bytes(b, real_tensor({1, 1, 1, 2}, {1, 3})), (std::vector<float>{1, 2, 3, 3}));
}

TEST(FloatReader, SwishAndDropoutOfYoungAndOldOpsets) {
  OnnxBuilder b(24);
  b.output(b.node("Swish", {b.input({1, 4})}, {Attr("alpha", 2.0f)}));
  std::vector<float> want;
  for (float v : kRow.reals) want.push_back(v / (1 + std::exp(-2 * v)));
  expect_near(run_bytes(b, kRow), want, 1e-6f);
  OnnxBuilder old(10);
  old.output(old.node("Dropout", {old.input({1, 4})}, {Attr("ratio", 0.5f)}));
  EXPECT_EQ(run_bytes(old, kRow), kRow.reals);
}

// float16 weights, edges and casts become float32.
TEST(FloatReader, WidensFloat16) {
  OnnxBuilder b;
  OnnxBuilder::declare(b.graph().add_input(), "x", onnx::TensorProto::FLOAT16, {1, 2});
  onnx::TensorProto* w = b.graph().add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT16);
  w->add_dims(2);
  w->add_int32_data(0x3e00);  // 1.5
  w->add_int32_data(0xc000);  // -2
  const std::string y = b.node("Mul", {"x", "w"});
  b.output(b.node("Cast", {y}, {Attr("to", 10)}));
  EXPECT_EQ(run_bytes(b, real_tensor({1, 2}, {2, 3})), (std::vector<float>{3, -6}));
}

TEST(FloatReader, RunsWhatIsQuantisedAlready) {
  OnnxBuilder b;
  b.output(b.qdq<uint8_t>(b.input({1, 4}), 0.5f, 1));
  EXPECT_EQ(run_bytes(b, real_tensor({1, 4}, {-1, 0.8f, 0.75f, 200})),
            (std::vector<float>{-0.5f, 1, 1, 127}));
  OnnxBuilder by_channel;
  const std::string codes = by_channel.constant<int8_t>({2, 2}, {1, 2, 3, -128});
  const std::string weights = by_channel.node(
      "DequantizeLinear",
      {codes, by_channel.constant<float>({2}, {1, 10}), by_channel.constant<int8_t>({2}, {0, 0})},
      {Attr("axis", 0)});
  by_channel.output(by_channel.node("MatMul", {by_channel.input({1, 2}), weights}));
  EXPECT_EQ(run_bytes(by_channel, real_tensor({1, 2}, {1, 1})), (std::vector<float>{31, -1278}));
}

TEST(FloatReader, NamesAllUnknownOperatorsAtOnce) {
  OnnxBuilder b;
  const std::string x = b.input({1, 4});
  b.output(b.node("FoldSpace", {b.node("Ponder", {x}, {}, "com.microsoft")}));
  const std::string why = why_not_read(b);
  EXPECT_NE(why.find("FoldSpace"), std::string::npos) << why;
  EXPECT_NE(why.find("com.microsoft.Ponder"), std::string::npos) << why;
}

// The converter and the runtime run what the interpreter has no form of.
TEST(FloatReader, RunsOperatorsOfTheRuntime) {
  OnnxBuilder scatter(16);
  scatter.output(
      scatter.node("ScatterND", {scatter.input({1, 4}), scatter.constant<int64_t>({1, 2}, {0, 2}),
                                 scatter.constant<float>({1}, {9})}));
  EXPECT_EQ(run_bytes(scatter, kRow), (std::vector<float>{-1, 2, 9, 8}));
  OnnxBuilder sums;
  sums.output(sums.node("CumSum", {sums.input({1, 4}), sums.scalar<int64_t>(1)}));
  EXPECT_EQ(run_bytes(sums, kRow), (std::vector<float>{-1, 1, 6, 14}));
  // Indices that are computed, but known as soon as the shape is.
  OnnxBuilder computed(16);
  const std::string x = computed.input({1, 4});
  const std::string last =
      computed.node("Sub", {computed.node("Shape", {x}), computed.constant<int64_t>({2}, {1, 1})});
  const std::string at = computed.node("Reshape", {last, computed.constant<int64_t>({2}, {1, 2})});
  computed.output(computed.node("ScatterND", {x, at, computed.constant<float>({1}, {7})}));
  EXPECT_EQ(run_bytes(computed, kRow), (std::vector<float>{-1, 2, 5, 7}));
}

TEST(FloatReader, TakesBranchesOfConstantConditions) {
  for (const bool taken : {false, true}) {
    OnnxBuilder b;
    const std::string x = b.input({1, 4});
    const std::string rate = b.scalar<int64_t>(taken ? 16000 : 8000);
    b.output(b.node("If", {b.node("Equal", {rate, b.scalar<int64_t>(16000)})}));
    onnx::NodeProto* node = b.graph().mutable_node(1);
    for (const char* name : {"then_branch", "else_branch"}) {
      auto* branch = node->add_attribute();
      branch->set_name(name);
      branch->set_type(onnx::AttributeProto::GRAPH);
      branch->mutable_g()->set_name(name);
      onnx::NodeProto* inner = branch->mutable_g()->add_node();
      inner->set_op_type(std::string(name) == "then_branch" ? "Neg" : "Abs");
      inner->add_input(x);
      inner->add_output(name);
      branch->mutable_g()->add_output()->set_name(name);
    }
    EXPECT_EQ(run_bytes(b, kRow),
              taken ? (std::vector<float>{1, -2, -5, -8}) : (std::vector<float>{1, 2, 5, 8}));
  }
}

TEST(FloatReader, RefusesSubgraphsAndTraining) {
  OnnxBuilder b;
  b.output(b.node("If", {b.input({1})}));
  auto* branch = b.graph().mutable_node(0)->add_attribute();
  branch->set_name("then_branch");
  branch->set_type(onnx::AttributeProto::GRAPH);
  branch->mutable_g();
  EXPECT_NE(why_not_read(b).find("subgraph"), std::string::npos);
  OnnxBuilder norm(15);
  const auto c = [&] { return norm.constant<float>({4}, {1, 1, 1, 1}); };
  const std::string x = norm.input({1, 4});
  norm.output(norm.node("BatchNormalization", {x, c(), c(), c(), c()}, {Attr("training_mode", 1)}));
  EXPECT_NE(why_not_read(norm).find("training mode"), std::string::npos);
}

TEST(FloatReader, EveryCutOfAFileIsAnError) {
  OnnxBuilder b;
  const std::string x = b.input({1, 4});
  b.output(b.node("Add", {x, b.constant<float>({4}, {1, 2, 3, 4})}));
  const std::string bytes = b.bytes();
  FloatModel model;
  ASSERT_TRUE(read_bytes(bytes, &model).ok());
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Status status = read_bytes(bytes.substr(0, n), &model);
    // A file cut between its graph and the opsets behind it is read: the opsets may be missing.
    const bool is_named =
        status.code() == Code::kInvalidModel || status.code() == Code::kUnsupported;
    EXPECT_TRUE(status.ok() || is_named) << status.message();
  }
  EXPECT_EQ(quantize::read_float_model("/nonexistent.onnx", &model).code(), Code::kIoError);
}

TEST(FloatReader, FeedsAreChecked) {
  OnnxBuilder b;
  b.output(b.node("Relu", {b.input({-1, 4})}));
  FloatModel model;
  ASSERT_TRUE(read_bytes(b.bytes(), &model).ok());
  Interpreter interpreter;
  ASSERT_TRUE(interpreter.create(model, 1).ok());
  EXPECT_EQ(interpreter.run({}, nullptr, nullptr).code(), Code::kInvalidArgument);
  const Status status =
      interpreter.run({{model.inputs[0].name, real_tensor({1, 3}, {1, 2, 3})}}, nullptr, nullptr);
  EXPECT_NE(std::string(status.message()).find("[-1, 4]"), std::string::npos) << status.message();
  const Status contradicted =
      quantize::fix_input_shapes({{{model.inputs[0].name, {2, 5}}}}, &model);
  EXPECT_EQ(contradicted.code(), Code::kInvalidModel);
}

}  // namespace
}  // namespace qrt::testing::floats::float_reader_test
