// SPDX-License-Identifier: Apache-2.0
// Reading of ONNX files: what a damaged or hostile file gives, external data, element types, names
// and order.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_model_test {
namespace {

// uint8 -> DequantizeLinear -> QuantizeLinear -> uint8 with other parameters: a Lut.
OnnxBuilder small_model() {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1, 4}, 0.5f, 3);
  b.integer_output<uint8_t>(x, 0.25f, 7);
  return b;
}

void expect_invalid(const Imported& imported, const std::string& part) {
  EXPECT_EQ(imported.status.code(), Code::kInvalidModel) << imported.status.message();
  EXPECT_NE(std::string(imported.status.message()).find(part), std::string::npos)
      << imported.status.message();
}

TEST(OnnxModel, KeepsNamesAndProducer) {
  OnnxBuilder b = small_model();
  b.model.set_producer_version("7");
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.source_format, "onnx");
  EXPECT_EQ(imported.graph.source_producer, "test 7");
  EXPECT_EQ(imported.graph.reference, "ort-x64-fma");
  EXPECT_EQ(imported.graph.values[imported.graph.inputs[0]].name, b.graph().input(0).name());
  EXPECT_EQ(imported.graph.values[imported.graph.outputs[0]].name, b.graph().output(0).name());
}

TEST(OnnxModel, MissingFileAndDirectoryAreIoErrors) {
  convert::Graph graph;
  convert::Report report;
  EXPECT_EQ(convert::import_onnx("/nonexistent.onnx", &graph, &report).code(), Code::kIoError);
  EXPECT_EQ(convert::import_onnx("/tmp", &graph, &report).code(), Code::kIoError);
}

TEST(OnnxModel, EmptyAndZeroFilesAreNotModels) {
  expect_invalid(OnnxBuilder::import_bytes(""), "has no graph");
  expect_invalid(OnnxBuilder::import_bytes(std::string(1000, '\0')), "not an ONNX model");
}

TEST(OnnxModel, EveryTruncationIsAnError) {
  OnnxBuilder b = small_model();
  b.model.mutable_opset_import()->RemoveLast();  // unused, and last in the file
  const std::string bytes = b.bytes();
  for (size_t n = 0; n < bytes.size(); ++n) {
    const Imported imported = OnnxBuilder::import_bytes(bytes.substr(0, n));
    ASSERT_FALSE(imported.status.ok()) << n;
    ASSERT_NE(std::string(imported.status.message()), "") << n;
  }
}

TEST(OnnxModel, ByteFlipsNeverCrash) {
  OnnxBuilder b;
  Random random;
  const std::string w = b.node(
      "DequantizeLinear", {b.constant<int8_t>({2, 3, 3, 3}, random_integers<int8_t>(&random, 54)),
                           b.scalar(0.1f), b.scalar<int8_t>(0)});
  const std::string x = b.integer_input<uint8_t>({1, 3, 5, 5}, 0.5f, 3);
  const std::string y = b.node("Conv", {x, w}, {{"pads", Dims{1, 1, 1, 1}}});
  const std::string z = b.qdq<uint8_t>(b.node("Relu", {y}), 0.25f, 7);
  b.output(b.node("Reshape", {z, b.constant<int64_t>({2}, {2, -1})}));
  const std::string bytes = b.bytes();
  for (int i = 0; i < 3000; ++i) {
    std::string flipped = bytes;
    for (int64_t n = random.integer(1, 3); n > 0; --n)
      flipped[static_cast<size_t>(random.integer(0, static_cast<int64_t>(bytes.size()) - 1))] ^=
          static_cast<char>(1 << random.integer(0, 7));
    Imported imported = OnnxBuilder::import_bytes(flipped);
    if (!imported.status.ok()) continue;
    Bytes file;
    if (run_passes(&imported.graph, nullptr).ok()) (void)write_model(imported.graph, &file);
  }
}

TEST(OnnxModel, RefusesOtherVersions) {
  OnnxBuilder old(6), young(29);
  for (OnnxBuilder* b : {&old, &young}) {
    b->output(b->node("Relu", {b->input({1})}));
    const Imported imported = b->import();
    EXPECT_EQ(imported.status.code(), Code::kUnsupported);
    EXPECT_EQ(imported.refusals(), 1);
  }
  OnnxBuilder ir = small_model();
  ir.model.set_ir_version(99);
  EXPECT_EQ(ir.import().status.code(), Code::kUnsupported);
}

TEST(OnnxModel, NamesDanglingInputsCyclesAndDuplicates) {
  OnnxBuilder dangling = small_model();
  dangling.graph().mutable_node(1)->set_input(0, "nowhere");
  expect_invalid(dangling.import(), "reads 'nowhere'");

  OnnxBuilder cycle = small_model();
  cycle.graph().mutable_node(0)->set_input(0, cycle.graph().node(1).output(0));
  expect_invalid(cycle.import(), "cycle");

  OnnxBuilder twice = small_model();
  twice.graph().mutable_node(1)->set_output(0, twice.graph().node(0).output(0));
  expect_invalid(twice.import(), "already defines");

  OnnxBuilder constants = small_model();
  constants.graph().mutable_initializer(1)->set_name(constants.graph().initializer(0).name());
  expect_invalid(constants.import(), "defined twice");

  OnnxBuilder output = small_model();
  output.output("nothing");
  expect_invalid(output.import(), "graph output 'nothing'");
}

TEST(OnnxModel, SortsNodes) {
  OnnxBuilder b = small_model();
  b.graph().mutable_node()->SwapElements(0, 1);
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.count(fb::OpOptions::Lut), 1);
}

TEST(OnnxModel, ChecksTheBytesOfConstants) {
  OnnxBuilder b = small_model();
  b.graph().mutable_initializer(0)->add_dims(2);
  expect_invalid(b.import(), b.graph().initializer(0).name());
  OnnxBuilder typed = small_model();
  auto* scale = typed.graph().mutable_initializer(0);
  scale->clear_raw_data();
  scale->add_float_data(0.5f);
  EXPECT_TRUE(typed.import().status.ok());
  scale->add_float_data(0.5f);
  expect_invalid(typed.import(), "bytes of data");
}

TEST(OnnxModel, InputsNeedATypeAndAShape) {
  OnnxBuilder untyped = small_model();
  untyped.graph().mutable_input(0)->clear_type();
  expect_invalid(untyped.import(), "has no tensor type");
  OnnxBuilder shapeless = small_model();
  shapeless.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  expect_invalid(shapeless.import(), "has no shape");
}

TEST(OnnxModel, HugeShapesAreErrors) {
  OnnxBuilder b;
  const std::string x = b.integer_input<uint8_t>({1 << 16, 1 << 15}, 0.5f, 3);
  b.integer_output<uint8_t>(x, 0.25f, 7);
  const Imported imported = b.import();
  EXPECT_FALSE(imported.status.ok());
  EXPECT_NE(imported.rule().find("2^31"), std::string::npos) << imported.report.text(true);
}

TEST(OnnxModel, DimensionsMayBeSymbolic) {
  OnnxBuilder batch;
  batch.integer_output<uint8_t>(batch.integer_input<uint8_t>({-1, 4}, 0.5f, 3), 0.25f, 7);
  const Imported one = batch.import();
  ASSERT_TRUE(one.status.ok()) << one.status.message();
  EXPECT_EQ(one.graph.values[one.graph.inputs[0]].type.shape, (Shape{1, 4}));

  OnnxBuilder width;
  width.integer_output<uint8_t>(width.integer_input<uint8_t>({1, -1}, 0.5f, 3), 0.25f, 7);
  const Imported two = width.import();
  ASSERT_TRUE(two.status.ok()) << two.status.message();
  ASSERT_EQ(two.graph.symbols.size(), 1u);
  EXPECT_EQ(two.graph.symbols[0].name, "N");
}

TEST(OnnxModel, RefusesEmptyInputs) {
  OnnxBuilder empty;
  empty.integer_output<uint8_t>(empty.integer_input<uint8_t>({1, 0}, 0.5f, 3), 0.25f, 7);
  const Imported imported = empty.import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_NE(imported.rule().find("a dimension is 0"), std::string::npos) << imported.rule();
}

TEST(OnnxModel, InitialisersMayBeListedAsInputs) {
  OnnxBuilder b = small_model();
  for (const auto& t : b.graph().initializer())
    OnnxBuilder::declare(b.graph().add_input(), t.name(), t.data_type(), {});
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.inputs.size(), 1u);
}

TEST(OnnxModel, FollowsConstantsThroughIdentityAndConstantNodes) {
  OnnxBuilder b = small_model();
  onnx::NodeProto* constant = b.graph().add_node();
  constant->set_op_type("Constant");
  constant->add_output("held");
  auto* value = constant->add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  *value->mutable_t() = b.graph().initializer(0);
  onnx::NodeProto* identity = b.graph().add_node();
  identity->set_op_type("Identity");
  identity->add_input("held");
  identity->add_output("passed");
  b.graph().mutable_node(0)->set_input(1, "passed");
  EXPECT_TRUE(b.import().status.ok());
}

// The scale of small_model's input lies in a file beside the model.
class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = ::testing::TempDir() + "qrt_external_" + std::to_string(getpid());
    mkdir(directory_.c_str(), 0700);
    const float scale = 0.5f;
    std::ofstream(directory_ + "/w.bin", std::ios::binary)
        .write("12345678", 8)
        .write(reinterpret_cast<const char*>(&scale), 4);
  }
  void TearDown() override {
    unlink((directory_ + "/w.bin").c_str());
    unlink((directory_ + "/m.onnx").c_str());
    rmdir(directory_.c_str());
  }
  Status import(const std::string& location, const std::string& offset, const std::string& length) {
    OnnxBuilder b = small_model();
    auto* t = b.graph().mutable_initializer(0);
    t->clear_raw_data();
    t->set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [t](const char* key, const std::string& value) {
      if (value.empty()) return;
      auto* entry = t->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    std::ofstream(directory_ + "/m.onnx", std::ios::binary) << b.bytes();
    convert::Graph graph;
    convert::Report report;
    return convert::import_onnx(directory_ + "/m.onnx", &graph, &report);
  }
  std::string directory_;
};

TEST_F(ExternalData, IsReadFromBesideTheModel) {
  const Status status = import("w.bin", "8", "4");
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(import("./w.bin", "8", "").ok());
}

TEST_F(ExternalData, MayNotLeaveTheDirectory) {
  for (const char* location : {"../w.bin", "/etc/passwd", "a/../../w.bin", ".."})
    EXPECT_EQ(import(location, "8", "4").code(), Code::kInvalidModel) << location;
}

TEST_F(ExternalData, IsBounded) {
  EXPECT_EQ(import("w.bin", "9", "4").code(), Code::kInvalidModel);
  EXPECT_EQ(import("w.bin", "8", "5").code(), Code::kInvalidModel);
  EXPECT_EQ(import("w.bin", "18446744073709551612", "4").code(), Code::kInvalidModel);
  EXPECT_EQ(import("w.bin", "-8", "4").code(), Code::kInvalidModel);
  EXPECT_EQ(import("", "8", "4").code(), Code::kInvalidModel);
  EXPECT_EQ(import("missing.bin", "0", "4").code(), Code::kInvalidModel);
  EXPECT_EQ(import(".", "0", "4").code(), Code::kInvalidModel);
}

}  // namespace
}  // namespace qrt::testing::onnx_model_test
