// SPDX-License-Identifier: Apache-2.0
// Models ended at tensors of their own (qrt_convert --outputs): what is behind them is not looked at,
// inputs that they do not need go.
#include <gtest/gtest.h>

#include "converter/import/frontend.h"
#include "tests/support/imported.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::cut_test {
namespace {

using convert::ImportOptions;

template <class Bytes>
Imported import_with(const char* format, const Bytes& bytes, const ImportOptions& options) {
  return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
    return convert::import_model(*convert::find_frontend(format), path, options, &to->graph,
                                 &to->report);
  });
}

std::vector<std::string> names(const Imported& imported, const std::vector<convert::ValueId>& ids) {
  std::vector<std::string> result;
  for (const convert::ValueId id : ids) result.push_back(imported.graph.values[id].name);
  return result;
}

using Strings = std::vector<std::string>;

// Returns a model of two branches with inputs of their own, each with an operator behind it that
// nobody implements.
std::string onnx_model(std::string* x, std::string* first, std::string* second) {
  OnnxBuilder b;
  *x = b.input<uint8_t>({2, 8});
  *first = b.q<uint8_t>(b.node("Relu", {b.dq<uint8_t>(*x, 0.1f, 128)}), 0.1f, 128);
  const std::string y = b.input<uint8_t>({2, 8});
  *second = b.q<uint8_t>(b.node("Sigmoid", {b.dq<uint8_t>(y, 0.1f, 128)}), 1.0f / 256, 0);
  b.output(b.node("Unheard", {*first, *second}));
  return b.bytes();
}

TEST(Cut, OnnxEndsAtTensors) {
  std::string x, first, second;
  const std::string bytes = onnx_model(&x, &first, &second);
  EXPECT_EQ(import_with("onnx", bytes, {}).status.code(), Code::kUnsupported);
  const Imported one = import_with("onnx", bytes, {{"outputs", first}});
  ASSERT_EQ(one.status.code(), Code::kOk) << one.status.message();
  EXPECT_EQ(names(one, one.graph.inputs), Strings{x});
  EXPECT_EQ(names(one, one.graph.outputs), Strings{first});
  const Imported both = import_with("onnx", bytes, {{"outputs", second + "\n" + first}});
  ASSERT_EQ(both.status.code(), Code::kOk) << both.status.message();
  EXPECT_EQ(both.graph.inputs.size(), 2u);
  EXPECT_EQ(names(both, both.graph.outputs), (Strings{second, first}));
}

TEST(Cut, RefusesTensorsThatAreNotThere) {
  std::string x, first, second;
  const std::string bytes = onnx_model(&x, &first, &second);
  const Imported unknown = import_with("onnx", bytes, {{"outputs", "nobody"}});
  EXPECT_EQ(unknown.status.code(), Code::kInvalidArgument);
  EXPECT_STREQ(unknown.status.message(), "--outputs: the model has no tensor 'nobody'");
  const Imported twice = import_with("onnx", bytes, {{"outputs", first + "\n" + first}});
  EXPECT_EQ(twice.status.code(), Code::kInvalidArgument);
  const Imported espdl = import_with("espdl", bytes, {{"outputs", first}});
  EXPECT_EQ(espdl.status.code(), Code::kInvalidArgument);
}

TEST(Cut, TfliteEndsAtTensors) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 8}, 0.1f, 3);
  const int unused = b.input(TensorType::INT8, {2, 8}, 0.1f, 3);
  const int first = b.activation(TensorType::INT8, {2, 8}, 0.1f, 3);
  b.op(BuiltinOperator::RELU, {x}, {first});
  b.op(BuiltinOperator::CUSTOM, {first, unused}, {b.output(TensorType::FLOAT32, {2})});
  const Bytes bytes = b.build();
  EXPECT_EQ(import_with("tflite", bytes, {}).status.code(), Code::kUnsupported);
  Imported cut = import_with("tflite", bytes, {{"outputs", b.at(first).name}});
  ASSERT_EQ(cut.status.code(), Code::kOk) << cut.status.message();
  EXPECT_EQ(names(cut, cut.graph.inputs), Strings{b.at(x).name});
  EXPECT_EQ(names(cut, cut.graph.outputs), Strings{b.at(first).name});
  EXPECT_EQ(import_with("tflite", bytes, {{"outputs", "nobody"}}).status.code(),
            Code::kInvalidArgument);
  // An input is a tensor, too.
  cut = import_with("tflite", bytes, {{"outputs", b.at(unused).name}});
  ASSERT_EQ(cut.status.code(), Code::kOk) << cut.status.message();
  EXPECT_EQ(names(cut, cut.graph.inputs), Strings{b.at(unused).name});
}

}  // namespace
}  // namespace qrt::testing::cut_test
