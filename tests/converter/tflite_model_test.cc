// SPDX-License-Identifier: Apache-2.0
// TFLite files as files: recognition, both operator-code fields, data beside the flatbuffer, and
// what is refused or rejected, all reasons at once; damaged files never pass silently.
#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_model_test {
namespace {

// int8 [1, 4] -> FULLY_CONNECTED -> RELU -> int8 [1, 3]
TfliteBuilder small_model() {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.05f, -3);
  const int w = b.constant<int8_t>(TensorType::INT8, {3, 4},
                                   {1, -2, 3, 4, 50, 60, -70, 80, 90, -100, 11, 12}, {0.01f}, {0});
  const int c = b.constant<int32_t>(TensorType::INT32, {3}, {100, -200, 300});
  const int h = b.activation(TensorType::INT8, {1, 3}, 0.2f, 5);
  b.op(BuiltinOperator::FULLY_CONNECTED, {x, w, c}, {h}, tflite::FullyConnectedOptionsT());
  b.op(BuiltinOperator::RELU, {h}, {b.output(TensorType::INT8, {1, 3}, 0.15f, -20)});
  return b;
}

const Bytes kInput = {10, 250, 100, 128};

void expect_invalid(const TfliteBuilder& builder, const std::string& part) {
  Imported imported = builder.import();
  ASSERT_EQ(imported.status.code(), Code::kInvalidModel) << imported.status.message();
  ASSERT_NE(std::string(imported.status.message()).find(part), std::string::npos)
      << imported.status.message();
}

TEST(TfliteModel, NamesItsSource) {
  TfliteBuilder b = small_model();
  b.model.description = "made here";
  const Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kOk) << imported.status.message();
  ASSERT_EQ(imported.graph.source_format, "tflite");
  ASSERT_EQ(imported.graph.source_producer, "made here");
  ASSERT_EQ(imported.graph.reference, "tflite-ref");
  const Imported single = b.import(TfliteReference::kSingleRounding);
  ASSERT_EQ(single.graph.reference, "tflite-single");
  for (const convert::Finding& f : imported.report.findings()) ASSERT_EQ(f.level, "I0");
}

TEST(TfliteModel, EitherOperatorCodeFieldCounts) {
  const std::vector<Bytes> expected = small_model().run({kInput});
  TfliteBuilder old = small_model(), recent = small_model();
  for (auto& code : old.model.operator_codes) code->builtin_code = BuiltinOperator::ADD;
  for (auto& code : recent.model.operator_codes) code->deprecated_builtin_code = 0;
  ASSERT_EQ(old.run({kInput}), expected);
  ASSERT_EQ(recent.run({kInput}), expected);
}

// The weights' bytes may stand behind the flatbuffer instead of inside it.
TEST(TfliteModel, DataBesideTheFlatbuffer) {
  TfliteBuilder b = small_model();
  const Bytes weights = b.model.buffers[1]->data;
  b.model.buffers[1]->data.clear();
  b.model.buffers[1]->size = weights.size();
  b.model.buffers[1]->offset = 1000000;  // as long as the real one when written
  const size_t size = b.build().size();
  b.model.buffers[1]->offset = size;
  Bytes file = b.build();
  ASSERT_EQ(file.size(), size);
  file.insert(file.end(), weights.begin(), weights.end());
  const Imported inside = small_model().import();
  const Imported beside = import_tflite_bytes(file);
  ASSERT_EQ(beside.status.code(), Code::kOk) << beside.status.message();
  ASSERT_EQ(convert::dump(inside.graph), convert::dump(beside.graph));
  ASSERT_EQ(inside.graph.values[2].data, beside.graph.values[2].data);
  file.pop_back();
  const Imported cut = import_tflite_bytes(file);
  ASSERT_EQ(cut.status.code(), Code::kInvalidModel);
}

TEST(TfliteModel, UnsignedAndSignedEdgesKeepTheirTypes) {
  Imported imported = small_model().import();
  const convert::Graph& g = imported.graph;
  ASSERT_EQ(g.values[g.inputs[0]].type.dtype, DType::kInt8);
  ASSERT_EQ(g.values[g.inputs[0]].quantization.zero_point, std::vector<int32_t>{-3});
  ASSERT_EQ(g.values[g.outputs[0]].type.dtype, DType::kInt8);
  ASSERT_EQ(g.values[g.outputs[0]].quantization.zero_point, std::vector<int32_t>{-20});
}

// The first subgraph is the model of a file without signatures; others are left alone.
TEST(TfliteModel, TheFirstSubgraphRuns) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.5f, 0);
  b.op(BuiltinOperator::RELU, {x}, {b.output(TensorType::INT8, {1, 4}, 0.5f, 0)});
  auto other = std::make_unique<tflite::SubGraphT>();
  other->inputs = {99};
  other->outputs = {-7};
  b.model.subgraphs.push_back(std::move(other));
  const std::vector<int8_t> input = {-3, 0, 5, 127}, expected = {0, 0, 5, 127};
  ASSERT_EQ(b.run({to_bytes(input)}), std::vector<Bytes>{to_bytes(expected)});
}

TEST(TfliteModel, EveryReasonAtOnce) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.05f, 0);
  const int f = b.input(TensorType::FLOAT32, {1, 4});
  b.op(BuiltinOperator::WHILE, {x}, {b.output(TensorType::INT8, {1, 4}, 0.05f, 0)});
  b.op(BuiltinOperator::CUSTOM, {x}, {b.output(TensorType::INT8, {1, 4}, 0.05f, 0)});
  b.model.operator_codes.back()->custom_code = "Fft";
  b.op(BuiltinOperator::COS, {x}, {b.output(TensorType::INT8, {1, 4}, 0.05f, 0)});
  b.op(BuiltinOperator::RELU, {f}, {b.output(TensorType::FLOAT32, {1, 4})});
  Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported);
  ASSERT_EQ(imported.refusals(), 4);
  const std::string text = imported.report.text(false);
  for (const char* part : {"control flow", "custom operator 'Fft'", "COS", "is float32"})
    ASSERT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// Returns the only refusal, with what is to be done.
std::string refusal(const TfliteBuilder& b) {
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  EXPECT_EQ(imported.refusals(), 1);
  return imported.report.text(false);
}

// Files for accelerators are refused by name: their operators read scratch memory that nothing writes.
TEST(TfliteModel, FilesForAcceleratorsAreRefusedByName) {
  for (const auto& [name, title] :
       {std::pair<const char*, const char*>{"ethos-u", "an Arm Ethos-U (Vela)"},
        {"edgetpu-custom-op", "a Coral Edge TPU"},
        {"NeutronGraph", "an NXP eIQ Neutron NPU"},
        {"XC_conv2d_v2", "xmos xcore"}}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {1, 4}, 0.5f, 0);
    const int code = b.constant(TensorType::UINT8, {4}, Bytes(4, 1));
    const int scratch = b.tensor(TensorType::UINT8, {64}), fast = b.tensor(TensorType::UINT8, {64});
    b.op(BuiltinOperator::CUSTOM, {code, -1, scratch, fast, x},
         {b.output(TensorType::INT8, {1, 4}, 0.5f, 0)});
    b.model.operator_codes.back()->custom_code = name;
    const std::string text = refusal(b);
    for (const std::string& part : {"custom operator '" + std::string(name) + "'",
                                    "the file was compiled for " + std::string(title),
                                    std::string("convert the TFLite file that the compiler read")})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

// The message names the tensors before the unknown operator as the command line takes them.
TEST(TfliteModel, UnknownOperatorsSayWhereToEnd) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.5f, 0);
  const int first = b.activation(TensorType::INT8, {1, 4}, 0.5f, 0),
            second = b.activation(TensorType::INT8, {1, 4}, 0.5f, 0);
  b.at(first).name = "it's $HOME\n";
  b.op(BuiltinOperator::RELU, {x}, {first});
  b.op(BuiltinOperator::ABS, {x}, {second});
  b.op(BuiltinOperator::CUSTOM, {first, second, first, x}, {b.output(TensorType::FLOAT32, {1, 4})});
  b.model.operator_codes.back()->custom_code = "PosenetDecoderOp";
  const std::string text = refusal(b);
  EXPECT_NE(text.find("custom operator 'PosenetDecoderOp'): this custom operator is not supported"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("end the model before it (--outputs 'it'\\''s $HOME\\x0a' --outputs '" +
                      b.at(second).name + "'), or build it of the operators"),
            std::string::npos)
      << text;
}

TEST(TfliteModel, UnknownOperatorsOfInputsHaveNothingBeforeThem) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.5f, 0);
  b.op(BuiltinOperator::COS, {x}, {b.output(TensorType::INT8, {1, 4}, 0.05f, 0)});
  const std::string text = refusal(b);
  EXPECT_EQ(text.find("--outputs"), std::string::npos) << text;
  EXPECT_NE(text.find("build it of the operators that converter/import/tflite/README.md lists"),
            std::string::npos)
      << text;
}

TEST(TfliteModel, RefusesActivationsThatIntegersCannotDo) {
  const auto relu = [](TensorType type, std::vector<float> scale, std::vector<int64_t> zero) {
    TfliteBuilder b;
    const int x = b.input(type, {1, 4});
    if (!scale.empty()) {
      b.at(x).quantization = std::make_unique<tflite::QuantizationParametersT>();
      b.at(x).quantization->scale = scale;
      b.at(x).quantization->zero_point = zero;
      b.at(x).quantization->quantized_dimension = 1;
    }
    b.op(BuiltinOperator::RELU, {x}, {b.output(type, {1, 4}, 0.1f, 0)});
    return b;
  };
  expect_rule(relu(TensorType::INT8, {}, {}), "has no quantisation parameters");
  expect_rule(relu(TensorType::INT32, {0.1f}, {0}), "is int32");
  expect_rule(relu(TensorType::INT8, {0.0f}, {0}), "not a normal positive number");
  expect_rule(relu(TensorType::INT8, {0.1f}, {128}), "has the zero point 128");
  expect_rule(relu(TensorType::INT8, {0.1f, 0.1f, 0.1f, 0.1f}, {0, 0, 0, 0}), "per channel");
}

TEST(TfliteModel, RefusesTensorsWithoutElements) {
  TfliteBuilder b;
  const int x = b.tensor(TensorType::INT8, {0, 4}, {0.1f}, {0});
  b.at(x).buffer = 1;
  b.model.buffers.push_back(std::make_unique<tflite::BufferT>());
  b.op(BuiltinOperator::RELU, {x}, {b.output(TensorType::INT8, {0, 4}, 0.1f, 0)});
  expect_rule(b, "has no elements");
}

TEST(TfliteModel, RejectsBrokenGraphs) {
  TfliteBuilder b = small_model();
  b.graph().operators[0]->inputs[0] = 77;
  expect_invalid(b, "reads tensor 77 of 5");
  b = small_model();
  b.graph().operators[0]->opcode_index = 9;
  expect_invalid(b, "operator code 9 of 2");
  b = small_model();
  std::swap(b.graph().operators[0], b.graph().operators[1]);
  expect_invalid(b, "which nothing wrote before");
  b = small_model();
  b.graph().operators[1]->outputs = {0};
  expect_invalid(b, "writes tensor 0");
  b = small_model();
  b.at(1).buffer = 40;
  expect_invalid(b, "names buffer 40 of 3");
  b = small_model();
  b.at(1).shape = {3, 5};
  expect_invalid(b, "has 12 bytes of data");
  b = small_model();
  b.at(0).shape = {-1, 4};
  expect_invalid(b, "has a dimension of -1");
  b = small_model();
  b.at(0).shape = {1 << 30, 1 << 30};
  expect_invalid(b, "more than 2^40 elements");
  b = small_model();
  b.at(0).quantization->scale = {-1.0f};
  expect_invalid(b, "has a scale of -1");
  b = small_model();
  b.at(3).shape = {1, 4};
  expect_invalid(b, "output has shape");
  b = small_model();
  b.graph().outputs = {};
  b.model.subgraphs.clear();
  expect_invalid(b, "has no subgraph");
}

TEST(TfliteModel, RefusesOtherSchemas) {
  TfliteBuilder b = small_model();
  b.model.version = 4;
  Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported);
  ASSERT_EQ(imported.refusals(), 1);
}

// A changed file is a model, is refused with a reason, or is invalid; and what was imported
// converts.
TEST(TfliteModel, SurvivesDamagedBytes) {
  const Bytes sound = small_model().build();
  Random random;
  SCOPED_TRACE(random.trace());
  for (int i = 0; i < 600; ++i) {
    Bytes file = sound;
    if (i % 10 == 0)
      file.resize(static_cast<size_t>(random.integer(0, static_cast<int64_t>(file.size()) - 1)));
    for (int64_t k = random.integer(1, 4); k > 0 && !file.empty(); --k)
      file[static_cast<size_t>(random.integer(0, static_cast<int64_t>(file.size()) - 1))] =
          static_cast<uint8_t>(random.integer(0, 255));
    Imported imported = import_tflite_bytes(file);
    if (imported.status.code() == Code::kOk) {
      Bytes out;
      Status status = convert::run_passes(&imported.graph, nullptr);
      if (status.ok()) status = convert::write_model(imported.graph, &out);
      ASSERT_TRUE(status.ok() || status.code() == Code::kUnsupported) << status.message();
      continue;
    }
    ASSERT_TRUE(imported.status.code() == Code::kInvalidModel ||
                imported.status.code() == Code::kUnsupported)
        << imported.status.message();
    ASSERT_STRNE(imported.status.message(), "");
  }
}

}  // namespace
}  // namespace qrt::testing::tflite_model_test
