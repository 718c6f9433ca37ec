// SPDX-License-Identifier: Apache-2.0
// Source files in which many operators read what one file holds or one operator makes: each reads it anew.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tests/support/cost.h"
#include "tests/support/cvm_models.h"
#include "tests/support/espdl_builder.h"
#include "tests/support/hostile_models.h"
#include "tests/support/tflite_builder.h"

namespace qrt::reader_costs_test {
namespace {

using testing::add_node;
using testing::CommandResult;
using testing::sequence_of;

class ReaderCosts : public testing::CostTest {
 protected:
  CommandResult convert(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {file, "-o", path("out.qrt")}, files = {file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const std::string& argument : more)
      if (argument[0] == '/') files.push_back(argument);
    return run_within_cost("qrt_convert", arguments, files);
  }
  CommandResult convert(const onnx::ModelProto& model, const std::vector<std::string>& more = {}) {
    return convert(write("m.onnx", model.SerializeAsString()), more);
  }
  static void expect_refused(const CommandResult& r, const std::string& reason) {
    EXPECT_EQ(r.status, 4) << r.err.substr(0, 1000);
    EXPECT_NE(r.err.find(reason), std::string::npos) << r.err.substr(0, 1000);
  }
};

constexpr char kTooMuchWork[] = "asks for more work than a file of its size may";

onnx::TensorProto* add_constant(onnx::ModelProto* model, const char* name, int type,
                                int64_t elements, const std::string& data) {
  onnx::TensorProto* t = model->mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(type);
  t->add_dims(elements);
  t->set_raw_data(data);
  return t;
}

void add_output(onnx::ModelProto* model, const std::string& name) {
  onnx::ValueInfoProto* v = model->mutable_graph()->add_output();
  v->set_name(name);
  v->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
}

// ---- constants ----

// Constants that operators look at as a whole, and are then refused for, cost no more than the
// file's size allows.
TEST_F(ReaderCosts, OnnxConstants) {
  constexpr int64_t kElements = 250000;
  std::string floats(kElements * sizeof(float), '\0');
  for (int64_t i = 0; i < kElements; ++i) {
    const float v = 0.5f * static_cast<float>(i);
    floats.replace(static_cast<size_t>(i) * sizeof v, sizeof v, reinterpret_cast<const char*>(&v),
                   sizeof v);
  }
  const struct {
    const char* op;
    std::vector<std::string> inputs;
  } cases[] = {{"Add", {"t5", "c"}},
               {"PRelu", {"t5", "c"}},
               {"Clip", {"t5", "c", "c"}},
               {"Greater", {"t5", "c"}},
               {"Where", {"b", "t5", "c"}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    onnx::ModelProto model = sequence_of(1, "Relu", true);
    model.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_value(kElements);
    add_constant(&model, "c", onnx::TensorProto::FLOAT, kElements, floats);
    add_constant(&model, "b", onnx::TensorProto::BOOL, kElements, std::string(kElements, '\1'));
    for (int i = 0; i < 8000; ++i) add_node(&model, c.op, c.inputs, "u" + std::to_string(i));
    expect_refused(convert(model), kTooMuchWork);
  }
}

TEST_F(ReaderCosts, TfliteConstants) {
  constexpr int32_t kElements = 250000;
  testing::TfliteBuilder b;
  const int x = b.input(tflite::TensorType::INT8, {kElements}, 0.5f);
  const int c =
      b.constant(tflite::TensorType::FLOAT32, {kElements}, std::vector<float>(kElements, 1.5f));
  for (int i = 0; i < 8000; ++i)
    b.op(tflite::BuiltinOperator::PRELU, {x, c},
         {b.output(tflite::TensorType::INT8, {kElements}, 0.5f)});
  expect_refused(convert(write("m.tflite", b.build())), kTooMuchWork);
}

TEST_F(ReaderCosts, EspdlConstants) {
  constexpr int64_t kElements = 1 << 20;
  testing::EspdlBuilder b;
  const std::string x = b.input("x", testing::EspdlType::INT8, {1, kElements}, -4);
  const std::string c = b.constant("c", testing::EspdlType::INT8, {1, kElements},
                                   std::vector<int8_t>(kElements, 1), {-4});
  for (int i = 0; i < 8000; ++i)
    b.op("Mod", {x, c},
         {b.output("y" + std::to_string(i), testing::EspdlType::INT8, {1, kElements}, -4)});
  EXPECT_EQ(convert(write("m.espdl", b.build())).status, 4);
}

TEST_F(ReaderCosts, CvmConstants) {
  constexpr int kElements = 250000;
  testing::CvmBuilder b;
  const int x = b.data({1, kElements}, 8);
  const int c = b.param("c", {1, kElements}, 8, std::vector<int32_t>(kElements, 1));
  int at = x;
  for (int i = 0; i < 8000; ++i) {
    at = b.op("broadcast_add", {at, c}, {1, kElements}, "");
    at = b.op("cvm_clip", {at}, {1, kElements}, "\"precision\": \"8\"");
  }
  const testing::CvmModel m = b.build({at});
  EXPECT_EQ(convert(write("m.json", m.symbol), {"--params", write("m.params", m.params)}).status,
            4);
}

// ---- operators that wait for a QuantizeLinear ----

// Returns chain()'s tensor joined with one of another scale, so that "c0" waits.
onnx::ModelProto waiting() {
  onnx::ModelProto model = sequence_of(1, "Relu", true);
  onnx::TensorProto* scale = model.mutable_graph()->add_initializer();
  scale->set_name("s2");
  scale->set_data_type(onnx::TensorProto::FLOAT);
  scale->add_float_data(0.25f);
  add_node(&model, "QuantizeLinear", {"x", "s2", "z"}, "q2");
  add_node(&model, "DequantizeLinear", {"q2", "s2", "z"}, "d2");
  return model;
}

void concat(onnx::ModelProto* model, const std::string& a, const std::string& b,
            const std::string& y) {
  onnx::AttributeProto* axis = add_node(model, "Concat", {a, b}, y)->add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(0);
}

void quantize(onnx::ModelProto* model, const std::string& x) {
  add_node(model, "QuantizeLinear", {x, "s", "z"}, "yq");
  add_node(model, "DequantizeLinear", {"yq", "s", "z"}, "y");
  add_output(model, "y");
}

constexpr char kGrows[] = "what is made of it would grow";

// Joins of joins are refused: each joins the previous one with itself, so that after twenty it is
// made a million times.
TEST_F(ReaderCosts, OnnxJoinsOfJoins) {
  for (const bool allow_float : {false, true}) {
    onnx::ModelProto model = waiting();
    concat(&model, "t5", "d2", "c0");
    for (int i = 0; i < 20; ++i) {
      const std::string before = "c" + std::to_string(i);
      concat(&model, before, before, "c" + std::to_string(i + 1));
    }
    quantize(&model, "c20");
    expect_refused(convert(model, allow_float ? std::vector<std::string>{"--allow-float"}
                                              : std::vector<std::string>()),
                   kGrows);
  }
}

// Outputs along a sequence of joins are refused, as every one is made from the beginning.
TEST_F(ReaderCosts, OnnxOutputsOfAChainOfJoins) {
  onnx::ModelProto model = waiting();
  concat(&model, "t5", "d2", "c0");
  for (int i = 0; i < 900; ++i) {
    concat(&model, "c" + std::to_string(i), "d2", "c" + std::to_string(i + 1));
    add_output(&model, "c" + std::to_string(i + 1));
  }
  quantize(&model, "c900");
  expect_refused(convert(model), kGrows);
}

// Nested joins are refused beyond 1000 pending operators: the stack has an end.
TEST_F(ReaderCosts, OnnxLongChainOfJoins) {
  for (const int length : {900, 20000}) {
    onnx::ModelProto model = waiting();
    concat(&model, "t5", "d2", "c0");
    for (int i = 0; i < length; ++i)
      concat(&model, "c" + std::to_string(i), "d2", "c" + std::to_string(i + 1));
    quantize(&model, "c" + std::to_string(length));
    const CommandResult r = convert(model);
    if (length == 900)
      EXPECT_EQ(r.status, 0) << r.err.substr(0, 1000);
    else
      expect_refused(r, "more than 1000 operators wait");
  }
}

// Many readers of a sequence of moves are refused: moves behind a pending operator are kept with
// it, and copied for each reader.
TEST_F(ReaderCosts, OnnxReadersOfAChainOfMoves) {
  onnx::ModelProto model = waiting();
  concat(&model, "t5", "d2", "c0");
  constexpr int kLength = 10000;
  for (int i = 0; i < kLength; ++i) {
    const std::string x = "c" + std::to_string(i);
    add_node(&model, "Relu", {x}, "c" + std::to_string(i + 1));
    add_node(&model, "Sin", {x}, "r" + std::to_string(i));
  }
  quantize(&model, "c" + std::to_string(kLength));
  EXPECT_EQ(convert(model).status, 4);
}

}  // namespace
}  // namespace qrt::reader_costs_test
