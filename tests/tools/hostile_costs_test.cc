// SPDX-License-Identifier: Apache-2.0
// Source files made to cost much.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tests/support/cost.h"
#include "tests/support/cvm_models.h"
#include "tests/support/espdl_builder.h"
#include "tests/support/hostile_models.h"
#include "tests/support/model_builder.h"
#include "tests/support/tflite_builder.h"
#include "tflite_generated.h"

namespace qrt::hostile_costs_test {
namespace {

using testing::add_node;
using testing::CommandResult;
using testing::sequence_of;

class HostileCosts : public testing::CostTest {
 protected:
  // Runs qrt_convert on the file.
  CommandResult convert_within_limits(const std::string& file,
                                      const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {file, "-o", path("out.qrt")}, files = {file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const std::string& argument : more)
      if (argument[0] == '/') files.push_back(argument);
    return run_within_cost("qrt_convert", arguments, files);
  }
};

// ---- time and memory ----

TEST_F(HostileCosts, OnnxChainOfTables) {
  const CommandResult r = convert_within_limits(
      write("c.onnx", sequence_of(20000, "Sigmoid", true).SerializeAsString()));
  EXPECT_EQ(r.status, 0) << r.err;
}

TEST_F(HostileCosts, OnnxChainOfAdds) {
  const CommandResult r =
      convert_within_limits(write("c.onnx", sequence_of(20000, "Add", true).SerializeAsString()));
  EXPECT_EQ(r.status, 0) << r.err;
}

TEST_F(HostileCosts, OnnxFileOfTooManyNodes) {
  for (const char* op : {"Add", "Identity", "Relu"}) {
    const CommandResult r =
        convert_within_limits(write("c.onnx", sequence_of(100000, op, false).SerializeAsString()));
    EXPECT_EQ(r.status, 4) << r.err;
    EXPECT_NE(r.err.find("the limit is 65536"), std::string::npos) << r.err;
  }
}

// As many operators as the runtime takes, and more than a source may have, of the other formats.
constexpr int kChains[] = {30000, 100000};

void expect_converted_or_too_long(const CommandResult& r, int operators) {
  EXPECT_EQ(r.status, operators == kChains[0] ? 0 : 4) << r.err;
  if (operators == kChains[0]) return;
  EXPECT_NE(r.err.find("the limit is 65536"), std::string::npos) << r.err;
}

TEST_F(HostileCosts, TfliteChainOfPools) {
  for (const int operators : kChains) {
    testing::TfliteBuilder b;
    int at = b.input(tflite::TensorType::INT8, {1, 2, 2, 4}, 0.5f);
    for (int i = 1; i <= operators; ++i) {
      const int y = i == operators ? b.output(tflite::TensorType::INT8, {1, 2, 2, 4}, 0.5f)
                                   : b.tensor(tflite::TensorType::INT8, {1, 2, 2, 4}, {0.5f}, {0});
      tflite::Pool2DOptionsT pool;
      pool.stride_w = pool.stride_h = 1;
      pool.filter_width = pool.filter_height = 2;
      b.op(tflite::BuiltinOperator::MAX_POOL_2D, {at}, {y}, pool);
      at = y;
    }
    expect_converted_or_too_long(convert_within_limits(write("c.tflite", b.build())), operators);
  }
}

TEST_F(HostileCosts, EspdlChainOfSums) {
  for (const int operators : kChains) {
    testing::EspdlBuilder b;
    std::string at = b.input("x", testing::EspdlType::INT8, {1, 4}, -4);
    for (int i = 1; i <= operators; ++i) {
      const std::string name = "t" + std::to_string(i);
      const std::string y = i == operators ? b.output(name, testing::EspdlType::INT8, {1, 4}, -4)
                                           : b.value(name, testing::EspdlType::INT8, {1, 4}, -4);
      b.op("Add", {at, at}, {y});
      at = y;
    }
    expect_converted_or_too_long(convert_within_limits(write("c.espdl", b.build())), operators);
  }
}

TEST_F(HostileCosts, CvmChainOfClips) {
  for (const int operators : kChains) {
    testing::CvmBuilder b;
    int at = b.data({1, 4}, 8);
    for (int i = 0; i < operators; ++i) at = b.op("cvm_clip", {at}, {1, 4}, "\"precision\": \"5\"");
    const testing::CvmModel m = b.build({at});
    expect_converted_or_too_long(
        convert_within_limits(write("c.json", m.symbol), {"--params", write("c.params", m.params)}),
        operators);
  }
}

// Tensors that share a table of scales and a name cost no more than the file's size allows, though
// both were once copied for each.
TEST_F(HostileCosts, TfliteTensorsThatShareTables) {
  for (const bool share_name : {false, true}) {
    flatbuffers::FlatBufferBuilder fbb;
    const auto scales = fbb.CreateVector(std::vector<float>(share_name ? 1 : 50000, 1.0f));
    const auto quantization = tflite::CreateQuantizationParameters(fbb, scales);
    const auto name = fbb.CreateString(std::string(share_name ? 200000 : 1, 'n'));
    const auto shape = fbb.CreateVector(std::vector<int32_t>{1});
    std::vector<flatbuffers::Offset<tflite::Tensor>> tensors;
    for (int i = 0; i < 10000; ++i) {
      tflite::TensorBuilder t(fbb);
      t.add_shape(shape);
      t.add_type(tflite::TensorType::INT8);
      t.add_name(name);
      t.add_quantization(quantization);
      tensors.push_back(t.Finish());
    }
    const auto all = fbb.CreateVector(tensors);
    const auto ends = fbb.CreateVector(std::vector<int32_t>{0});
    tflite::SubGraphBuilder g(fbb);
    g.add_tensors(all);
    g.add_inputs(ends);
    g.add_outputs(ends);
    const auto graphs =
        fbb.CreateVector(std::vector<flatbuffers::Offset<tflite::SubGraph>>{g.Finish()});
    const auto buffers = fbb.CreateVector(
        std::vector<flatbuffers::Offset<tflite::Buffer>>{tflite::CreateBuffer(fbb)});
    tflite::ModelBuilder m(fbb);
    m.add_version(3);
    m.add_subgraphs(graphs);
    m.add_buffers(buffers);
    tflite::FinishModelBuffer(fbb, m.Finish());
    const std::string file =
        write("s.tflite",
              std::string(reinterpret_cast<const char*>(fbb.GetBufferPointer()), fbb.GetSize()));
    const CommandResult r = convert_within_limits(file);
    EXPECT_EQ(r.status, 3) << r.err;
    EXPECT_NE(r.err.find("again and again"), std::string::npos) << r.err;
  }
}

// ---- many nodes that each make much of one tensor ----

constexpr int kSharers = 20000;

// Checks that a model is refused with the growth or the work named.
void expect_growth_refused(const CommandResult& r) {
  EXPECT_EQ(r.status, 4) << r.err.substr(0, 1000);
  EXPECT_TRUE(r.err.find("what is made of it would grow") != std::string::npos ||
              r.err.find("it asks for more work than a file of its size may") != std::string::npos)
      << r.err.substr(0, 1000);
}

void add_integers(onnx::ModelProto* model, const char* name, const std::vector<int64_t>& values) {
  onnx::TensorProto* t = model->mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(onnx::TensorProto::INT64);
  t->add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t v : values) t->add_int64_data(v);
}

TEST_F(HostileCosts, OnnxNodesThatEachMakeMuch) {
  // "t3" is the dequantised tensor [4] that chain() ends with.
  const struct {
    const char* op;
    std::vector<int64_t> second;
  } cases[] = {{"Tile", {1000000}},             // an index map each
               {"Pad", {1000000, 1000000}},     // an index map each, of a pending operator
               {"Expand", {1000, 1000000, 4}},  // refused itself, once its maps are made
               {"ConstantOfShape", {1000000}},  // a constant each
               {"Gather", std::vector<int64_t>(100000)}};
  for (const auto& c : cases) {
    onnx::ModelProto model = sequence_of(1, "Relu", true);
    add_integers(&model, "second", c.second);
    for (int i = 0; i < kSharers; ++i)
      add_node(&model, c.op,
               std::string(c.op) == "ConstantOfShape" ? std::vector<std::string>{"second"}
                                                      : std::vector<std::string>{"t5", "second"},
               "u" + std::to_string(i));
    expect_growth_refused(convert_within_limits(write("m.onnx", model.SerializeAsString())));
  }
}

// Parameters of channels that are all alike become those of a tensor, once they are read.
TEST_F(HostileCosts, OnnxParametersOfManyChannels) {
  constexpr int kChannels = 500000;
  onnx::ModelProto model = sequence_of(1, "Relu", true);
  onnx::GraphProto& g = *model.mutable_graph();
  onnx::TensorProto* scales = g.add_initializer();
  scales->set_name("scales");
  scales->set_data_type(onnx::TensorProto::FLOAT);
  scales->add_dims(kChannels);
  onnx::TensorProto* zeros = g.add_initializer();
  zeros->set_name("zeros");
  zeros->set_data_type(onnx::TensorProto::UINT8);
  zeros->add_dims(kChannels);
  for (int i = 0; i < kChannels; ++i) scales->add_float_data(0.5f);
  zeros->set_raw_data(std::string(kChannels, '\0'));
  onnx::ValueInfoProto* x = g.add_input();
  *x = g.input(0);
  x->set_name("wide");
  x->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(
      kChannels);
  for (int i = 0; i < 3000; ++i) {
    const std::string stored = "q" + std::to_string(i), real = "r" + std::to_string(i);
    for (onnx::NodeProto* n :
         {add_node(&model, "QuantizeLinear", {"wide", "scales", "zeros"}, stored),
          add_node(&model, "DequantizeLinear", {stored, "scales", "zeros"}, real)}) {
      onnx::AttributeProto* axis = n->add_attribute();
      axis->set_name("axis");
      axis->set_type(onnx::AttributeProto::INT);
      axis->set_i(0);
    }
  }
  expect_growth_refused(convert_within_limits(write("m.onnx", model.SerializeAsString())));
}

// Slices of a million axes cost no more than the file's size allows, though each reader of a
// tensor, and again each pair, asks whether a Slice takes everything.
TEST_F(HostileCosts, OnnxSlicesOfAMillionAxes) {
  onnx::ModelProto model = sequence_of(0, "Relu", true);
  add_integers(&model, "starts", std::vector<int64_t>(1000000));
  add_integers(&model, "ends", {1});
  onnx::GraphProto& g = *model.mutable_graph();
  // A thousand pairs in a row, and 60 readers for each. The pairs stand first in the file.
  std::string at = g.output(0).name();
  std::vector<std::string> pairs;
  for (int i = 0; i < 1000; ++i) {
    add_node(&model, "QuantizeLinear", {at, "s", "z"}, "q" + std::to_string(i));
    at = "d" + std::to_string(i);
    add_node(&model, "DequantizeLinear", {"q" + std::to_string(i), "s", "z"}, at);
    pairs.push_back(at);
  }
  for (int i = 0; i < 60000; ++i)
    add_node(&model, "Slice", {pairs[static_cast<size_t>(i / 60)], "starts", "ends"},
             "slice" + std::to_string(i));
  const CommandResult r = convert_within_limits(write("m.onnx", model.SerializeAsString()));
  EXPECT_EQ(r.status, 3) << r.err;
}

TEST_F(HostileCosts, OnnxNodesOfManyInputsAndOutputs) {
  for (const char* op : {"Max", "Concat", "Split"}) {
    onnx::ModelProto model = sequence_of(1, "Relu", true);
    onnx::NodeProto* n = add_node(&model, op, {"t5"}, "y");
    const bool splits = std::string(op) == "Split";
    for (int i = 1; i < 1000000; ++i)
      splits ? n->add_output("y" + std::to_string(i)) : n->add_input("t5");
    const CommandResult r = convert_within_limits(write("m.onnx", model.SerializeAsString()));
    EXPECT_EQ(r.status, 4) << r.err;
    EXPECT_NE(r.err.find("inputs and outputs, the limit is"), std::string::npos) << r.err;
  }
}

// Block lengths that no kernel has: of one element, of all, of more than there can be; and lengths of a product to match.
TEST_F(HostileCosts, OnnxWeightsInBlocksOfAnyLength) {
  constexpr int64_t kK = 4096, kMost = int64_t{1} << 31;
  const auto model = [](int64_t block, int64_t k, int64_t n, int64_t bits) {
    onnx::ModelProto m = sequence_of(0, "Relu", true);
    onnx::GraphProto& g = *m.mutable_graph();
    *g.add_input() = g.input(0);
    onnx::ValueInfoProto* x = g.mutable_input(g.input_size() - 1);
    x->set_name("rows");
    auto* shape = x->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->clear_dim();
    shape->add_dim()->set_dim_value(1);
    shape->add_dim()->set_dim_value(kK);
    onnx::TensorProto* codes = g.add_initializer();
    codes->set_name("codes");
    codes->set_data_type(onnx::TensorProto::UINT8);
    for (const int64_t d : {int64_t{16}, int64_t{1}, kK / 2}) codes->add_dims(d);
    codes->set_raw_data(std::string(16 * kK / 2, 'q'));
    onnx::TensorProto* scales = g.add_initializer();
    scales->set_name("block_scales");
    scales->set_data_type(onnx::TensorProto::FLOAT);
    scales->add_dims(16);
    for (int i = 0; i < 16; ++i) scales->add_float_data(0.5f);
    onnx::NodeProto* node = add_node(&m, "MatMulNBits", {"rows", "codes", "block_scales"}, "made");
    node->set_domain("com.microsoft");
    m.add_opset_import()->set_domain("com.microsoft");
    m.mutable_opset_import(m.opset_import_size() - 1)->set_version(1);
    for (const auto& [name, value] : {std::pair<const char*, int64_t>{"K", k},
                                      {"N", n},
                                      {"bits", bits},
                                      {"block_size", block},
                                      {"accuracy_level", 4}}) {
      onnx::AttributeProto* a = node->add_attribute();
      a->set_name(name);
      a->set_type(onnx::AttributeProto::INT);
      a->set_i(value);
    }
    g.add_output()->set_name("made");
    return m.SerializeAsString();
  };
  for (const auto& [block, k, n, bits] :
       std::vector<std::array<int64_t, 4>>{{1, kK, 16, 4},
                                           {kK, kK, 16, 4},
                                           {kMost, kK, 16, 4},
                                           {INT64_MAX, kK, 16, 4},
                                           {0, kK, 16, 4},
                                           {-1, kK, 16, 4},
                                           {32, kMost, 16, 4},
                                           {16, INT64_MAX, INT64_MAX, 8},
                                           {256, kK, kMost, 2},
                                           {32, -1, 16, 4},
                                           {32, kK, 16, INT64_MAX}}) {
    const CommandResult r =
        convert_within_limits(write("b.onnx", model(block, k, n, bits)), {"--allow-float"});
    EXPECT_TRUE(r.status == 3 || r.status == 4) << r.status << ": " << r.err;
    EXPECT_NE(r.err.find("#2 (MatMulNBits)"), std::string::npos) << r.err;
  }
}

// Operators that make much are refused: a table of pairs each, tables of softmaxes, index maps for
// every binary digit of a dimension, and places of every block.
TEST_F(HostileCosts, TfliteOperatorsThatMakeMuch) {
  using B = tflite::BuiltinOperator;
  using T = tflite::TensorType;
  const auto expect_refused = [&](B code, T type, int32_t n) {
    SCOPED_TRACE(tflite::EnumNameBuiltinOperator(code));
    testing::TfliteBuilder t;
    const float scale = type == T::INT8 ? 0.5f : 0;
    const int x = t.input(type, {n}, scale);
    const int axis = t.constant(T::INT32, {}, std::vector<int32_t>{0});
    const int begin = t.input(T::INT32, {1}), part = t.input(type, {1}, scale);
    const int real = t.tensor(T::FLOAT32, {n});
    if (code == B::SOFTMAX) t.op(B::DEQUANTIZE, {x}, {real});
    for (int i = 0; i < kSharers; ++i) {
      if (code == B::LESS) t.op(code, {x, x}, {t.output(T::BOOL, {n})});
      if (code == B::SOFTMAX) t.op(code, {real}, {t.output(T::FLOAT32, {n})});
      if (code == B::CUMSUM) t.op(code, {x, axis}, {t.output(type, {n}, scale)});
      if (code == B::DYNAMIC_UPDATE_SLICE)
        t.op(code, {x, part, begin}, {t.output(type, {n}, scale)});
    }
    expect_growth_refused(convert_within_limits(write("m.tflite", t.build())));
  };
  expect_refused(B::LESS, T::INT8, 4);
  expect_refused(B::SOFTMAX, T::INT8, 4);
  expect_refused(B::CUMSUM, T::INT32, 60000);
  expect_refused(B::DYNAMIC_UPDATE_SLICE, T::INT32, 60000);
}

TEST_F(HostileCosts, TfliteAndEspdlOperatorsOfManyInputs) {
  constexpr size_t kInputs = 600000;
  testing::TfliteBuilder t;
  const int x = t.input(tflite::TensorType::INT8, {1, 4}, 0.5f);
  t.op(tflite::BuiltinOperator::CONCATENATION, std::vector<int>(kInputs, x),
       {t.output(tflite::TensorType::INT8, {kInputs, 4}, 0.5f)}, tflite::ConcatenationOptionsT());
  testing::EspdlBuilder e;
  e.op("Concat",
       std::vector<std::string>(kInputs, e.input("x", testing::EspdlType::INT8, {1, 4}, -4)),
       {e.output("y", testing::EspdlType::INT8, {kInputs, 4}, -4)});
  for (const std::string& file : {write("m.tflite", t.build()), write("m.espdl", e.build())}) {
    const CommandResult r = convert_within_limits(file);
    EXPECT_EQ(r.status, 4) << r.err;
    EXPECT_NE(r.err.find("600001 inputs and outputs, the limit is 524288"), std::string::npos)
        << r.err;
  }
}

TEST_F(HostileCosts, TfliteLayersThatShareWeights) {
  testing::TfliteBuilder b;
  constexpr int32_t kSize = 1000;
  int at = b.input(tflite::TensorType::INT8, {1, kSize}, 0.5f);
  const int w = b.constant(tflite::TensorType::INT8, {kSize, kSize},
                           std::vector<int8_t>(kSize * kSize, 1), {0.001f}, {0});
  for (int i = 1; i <= 3000; ++i) {
    const int y = i == 3000 ? b.output(tflite::TensorType::INT8, {1, kSize}, 0.5f)
                            : b.tensor(tflite::TensorType::INT8, {1, kSize}, {0.5f}, {0});
    b.op(tflite::BuiltinOperator::FULLY_CONNECTED, {at, w, -1}, {y},
         tflite::FullyConnectedOptionsT());
    at = y;
  }
  expect_growth_refused(convert_within_limits(write("m.tflite", b.build())));
}

TEST_F(HostileCosts, TfliteGathersThatShareIndices) {
  testing::TfliteBuilder b;
  constexpr int32_t kSize = 100000;
  const int x = b.input(tflite::TensorType::INT8, {4}, 0.5f);
  const int indices =
      b.constant(tflite::TensorType::INT32, {kSize}, std::vector<int32_t>(kSize, 1));
  for (int i = 1; i <= kSharers; ++i)
    b.op(tflite::BuiltinOperator::GATHER, {x, indices},
         {i == kSharers ? b.output(tflite::TensorType::INT8, {kSize}, 0.5f)
                        : b.tensor(tflite::TensorType::INT8, {kSize}, {0.5f}, {0})},
         tflite::GatherOptionsT());
  expect_growth_refused(convert_within_limits(write("m.tflite", b.build())));
}

TEST_F(HostileCosts, EspdlLayersThatShareWeights) {
  testing::EspdlBuilder b;
  constexpr int64_t kSize = 1024;
  std::string at = b.input("x", testing::EspdlType::INT8, {1, kSize}, -4);
  const std::string w = b.constant("w", testing::EspdlType::INT8, {1, 1, kSize, kSize},
                                   std::vector<int8_t>(kSize * kSize, 1), {-7}, "(N/16)HWC16");
  for (int i = 1; i <= 3000; ++i) {
    const std::string name = "t" + std::to_string(i);
    const std::string y = i == 3000 ? b.output(name, testing::EspdlType::INT8, {1, kSize}, -4)
                                    : b.value(name, testing::EspdlType::INT8, {1, kSize}, -4);
    b.op("Gemm", {at, w}, {y});
    at = y;
  }
  expect_growth_refused(convert_within_limits(write("m.espdl", b.build())));
}

TEST_F(HostileCosts, CvmLayersThatShareWeights) {
  testing::CvmBuilder b;
  constexpr int kSize = 1000;
  int at = b.data({1, kSize}, 8);
  const int w = b.param("w", {kSize, kSize}, 8, std::vector<int32_t>(kSize * kSize, 1));
  for (int i = 0; i < 3000; ++i) {
    const int sums =
        b.op("dense", {at, w}, {1, kSize}, "\"units\": \"1000\", \"use_bias\": \"False\"");
    at = b.op("cvm_right_shift", {sums}, {1, kSize}, "\"precision\": \"8\", \"shift_bit\": \"9\"");
  }
  const testing::CvmModel m = b.build({at});
  expect_growth_refused(
      convert_within_limits(write("m.json", m.symbol), {"--params", write("m.params", m.params)}));
}

// ---- folding ----

onnx::NodeProto* add_cast(onnx::ModelProto* model, const std::string& from, const std::string& to,
                          int64_t type) {
  onnx::NodeProto* n = add_node(model, "Cast", {from}, to);
  onnx::AttributeProto* a = n->add_attribute();
  a->set_name("to");
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(type);
  return n;
}

// Constants that unfold are refused before they are made: a scalar becomes millions, and those something else.
TEST_F(HostileCosts, OnnxConstantsThatUnfold) {
  const struct {
    const char* op;
    std::vector<int64_t> second;
    int64_t to;
  } cases[] = {{"Expand", {4000000, 62}, onnx::TensorProto::INT64},
               {"Expand", {4000000, 5}, onnx::TensorProto::FLOAT},
               {"Expand", {4000000, 1}, onnx::TensorProto::BOOL},
               {"Tile", {4000000}, onnx::TensorProto::INT32},
               {"ConstantOfShape", {2000, 2000}, onnx::TensorProto::INT64}};
  for (const auto& c : cases)
    for (const int casts : {1, 40}) {
      onnx::ModelProto model = sequence_of(1, "Relu", true);
      onnx::TensorProto* one = model.mutable_graph()->add_initializer();
      one->set_name("one");
      one->set_data_type(onnx::TensorProto::INT8);
      one->add_dims(1);
      one->add_int32_data(1);
      add_integers(&model, "second", c.second);
      if (std::string(c.op) == "ConstantOfShape")
        add_node(&model, c.op, {"second"}, "c0");
      else
        add_node(&model, c.op, {"one", "second"}, "c0");
      for (int i = 0; i < casts; ++i) add_cast(&model, "c0", "c" + std::to_string(i + 1), c.to);
      const CommandResult r = convert_within_limits(write("m.onnx", model.SerializeAsString()));
      if (casts > 1) expect_growth_refused(r);
    }
}

// ---- messages of two bytes ----

// Returns field `number` of a message, with this content.
std::string field(int number, const std::string& content) {
  std::string head;
  for (size_t n : {static_cast<size_t>(number) << 3 | 2, content.size()}) {
    for (; n >= 128; n >>= 7) head += static_cast<char>(n | 128);
    head += static_cast<char>(n);
  }
  return head + content;
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(HostileCosts, OnnxEmptyMessages) {
  constexpr size_t kTimes = 5000000;
  // Attributes of a node, initialisers, nodes, value infos, entries of external data, strings, and
  // unknown fields.
  const std::string graphs[] = {field(1, repeated(field(5, ""), kTimes)),
                                repeated(field(5, ""), kTimes),
                                repeated(field(1, ""), kTimes),
                                repeated(field(13, ""), kTimes),
                                field(5, repeated(field(13, ""), kTimes)),
                                field(1, repeated(field(1, ""), kTimes)),
                                repeated(std::string("\xf8\x01\x00", 3), kTimes),
                                field(5, repeated(field(6, ""), kTimes)),
                                repeated("\xf3\x01\xf4\x01", kTimes / 2)};
  for (const std::string& graph : graphs) {
    const CommandResult r = convert_within_limits(write("m.onnx", field(7, graph)));
    // Strings and unknown fields take less than the limit: the file is read, and is no model.
    EXPECT_TRUE(r.status == 3 || r.status == 4) << r.err;
    if (graph == graphs[0] || graph == graphs[1] || graph == graphs[3]) {
      EXPECT_EQ(r.status, 4) << r.err;
      EXPECT_NE(r.err.find("for a file of its size"), std::string::npos) << r.err;
    }
  }
}

// Numbers of one byte that become eight are counted.
TEST_F(HostileCosts, OnnxNumbersOfOneByte) {
  const std::string numbers(20000000, '\1');
  for (const int number : {5, 7})
    convert_within_limits(write("m.onnx", field(7, field(5, field(number, numbers)))));
}

// ---- options of a custom operator ----

// Returns a vector of `n` references to one vector of `n` references to one of as many numbers.
std::string nested_vectors(uint32_t n) {
  std::string bytes;
  const auto number = [&](uint32_t v) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(v >> 8 * i);
  };
  constexpr char kInteger = 1 << 2 | 2, kVector = 10 << 2 | 2;
  size_t at = 0;
  for (int level = 0; level < 3; ++level) {
    const size_t below = at;
    bytes.resize((bytes.size() + 3) / 4 * 4);
    number(n);
    at = bytes.size();
    for (uint32_t i = 0; i < n; ++i)
      number(level == 0 ? 0 : static_cast<uint32_t>(bytes.size() - below));
    bytes.append(n, level == 0 ? kInteger : kVector);
  }
  bytes.resize((bytes.size() + 3) / 4 * 4);
  number(static_cast<uint32_t>(bytes.size() - at));
  return bytes + kVector + '\4';
}

TEST_F(HostileCosts, TfliteOptionsThatNestVectors) {
  for (const uint32_t n : {300u, 3000u, 30000u}) {
    testing::TfliteBuilder b;
    const int boxes = b.input(tflite::TensorType::UINT8, {1, 4, 4}, 0.01f);
    const int scores = b.input(tflite::TensorType::UINT8, {1, 4, 2}, 0.01f);
    const int anchors =
        b.constant(tflite::TensorType::UINT8, {4, 4}, std::vector<uint8_t>(16, 100), {0.01f}, {0});
    std::vector<int> outputs;
    for (int i = 0; i < 4; ++i) outputs.push_back(b.output(tflite::TensorType::FLOAT32, {1, 4}, 0));
    const std::string options = nested_vectors(n);
    b.op(tflite::BuiltinOperator::CUSTOM, {boxes, scores, anchors}, outputs).custom_options = {
        options.begin(), options.end()};
    b.model.operator_codes.back()->custom_code = "TFLite_Detection_PostProcess";
    const CommandResult r = convert_within_limits(write("m.tflite", b.build()));
    EXPECT_EQ(r.status, 3) << r.err;
    EXPECT_NE(r.err.find("its options are no map"), std::string::npos) << r.err;
  }
}

// ---- JSON ----

TEST_F(HostileCosts, CvmTextOfManyValues) {
  const std::string params = write("m.params", std::string("none"));
  for (const char* value : {"0,", "[],", "{},", "\"\",", "[[0]],", "{\"a\":{}},"}) {
    const CommandResult r = convert_within_limits(
        write("m.json", "{\"nodes\":[" + repeated(value, 10000000 / strlen(value)) + "0]}"),
        {"--params", params});
    EXPECT_TRUE(r.status == 3 || r.status == 4) << r.err;
  }
}

// External data counts once for each file, however its name is spelled: the bytes that may be read
// in all follow from the files' size.
TEST_F(HostileCosts, ExternalDataUnderManyNames) {
  constexpr int64_t kElements = int64_t{2} << 20;
  write("data.bin", std::string(4 * kElements, '\0'));
  onnx::ModelProto model = sequence_of(1, "Relu", true);
  std::string location = "data.bin";
  for (int i = 0; i < 200; ++i, location = "./" + location) {
    const std::string name = "c" + std::to_string(i);
    onnx::TensorProto* t = model.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::FLOAT);
    t->add_dims(kElements);
    t->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = t->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
    add_node(&model, "Identity", {name}, "same" + name);
  }
  const CommandResult r = convert_within_limits(write("m.onnx", model.SerializeAsString()));
  EXPECT_EQ(r.status, 3) << r.err;
  EXPECT_NE(r.err.find("more than twice the external data there is"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace qrt::hostile_costs_test
