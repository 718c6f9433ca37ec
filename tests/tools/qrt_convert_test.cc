// SPDX-License-Identifier: Apache-2.0
// qrt_convert as a user or a script meets it. The models are made here, through ONNX's own
// protobuf.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "onnx/onnx_pb.h"
#include "tests/support/command.h"
#include "tests/support/espdl_models.h"
#include "tests/support/tflite_signatures.h"

namespace qrt::qrt_convert_test {
namespace {

using testing::CommandResult;

class Convert : public testing::CommandTest {
 protected:
  Convert() {
    model_.set_ir_version(8);
    model_.set_producer_name("tests");
    model_.add_opset_import()->set_version(13);
    auto* graph = model_.mutable_graph();
    graph->set_name("g");
    describe(graph->add_input(), "x");
    describe(graph->add_output(), "y");
    auto* scale = graph->add_initializer();
    scale->set_name("s");
    scale->set_data_type(onnx::TensorProto::FLOAT);
    scale->add_float_data(0.25f);
    auto* zero_point = graph->add_initializer();
    zero_point->set_name("z");
    zero_point->set_data_type(onnx::TensorProto::UINT8);
    zero_point->add_int32_data(100);
  }

  static void describe(onnx::ValueInfoProto* info, const std::string& name) {
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (int64_t d : {1, 4}) type->mutable_shape()->add_dim()->set_dim_value(d);
  }

  void node(const std::string& op, const std::vector<std::string>& inputs,
            const std::string& output) {
    auto* n = model_.mutable_graph()->add_node();
    n->set_op_type(op);
    n->set_name("the_" + output);
    for (const std::string& i : inputs) n->add_input(i);
    n->add_output(output);
  }

  // Returns a model x -> Q -> DQ -> [op ->] Q -> DQ -> y.
  std::string quantised(const std::string& op) {
    node("QuantizeLinear", {"x", "s", "z"}, "q");
    node("DequantizeLinear", {"q", "s", "z"}, "f");
    node(op, {"f"}, "g");
    node("QuantizeLinear", {"g", "s", "z"}, "p");
    node("DequantizeLinear", {"p", "s", "z"}, "y");
    return write("model.onnx", model_.SerializeAsString());
  }

  onnx::ModelProto model_;
};

TEST_F(Convert, WritesAModelThatRuns) {
  const std::string onnx = quantised("Relu");
  const CommandResult r = run("qrt_convert", {onnx, "-o", path("m.qrt")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out + r.err, "");
  EXPECT_EQ(run("qrt_inspect", {path("m.qrt")}).status, 0);
  struct stat info;
  ASSERT_EQ(stat(path("m.qrt").c_str(), &info), 0);
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(info.st_mode & 0777u, 0666u & ~mask);
  for (const auto& entry : std::filesystem::directory_iterator(path("")))
    EXPECT_EQ(entry.path().string().find("m.qrt."), std::string::npos) << "left behind";
}

TEST_F(Convert, MakesStates) {
  auto* graph = model_.mutable_graph();
  describe(graph->add_input(), "h");
  describe(graph->add_output(), "hn");
  node("Identity", {"x"}, "hn");
  const std::string onnx = quantised("Relu");
  const CommandResult r = run("qrt_convert", {onnx, "-o", path("m.qrt"), "--state", "h=hn"});
  ASSERT_EQ(r.status, 0) << r.err;
  const std::string told = run("qrt_inspect", {path("m.qrt")}).out;
  EXPECT_NE(told.find("\nstate            h: float32 [1, 4]\n"), std::string::npos) << told;
  EXPECT_EQ(told.find("hn:"), std::string::npos) << told;
  expect_failure("qrt_convert", {onnx, "-o", path("m.qrt"), "--state", "h=z"}, 2,
                 "the model has no output 'z': it has 'y', 'hn'");
  expect_failure("qrt_convert", {onnx, "-o", path("m.qrt"), "--state", "h"}, 2,
                 "give the names of an input and an output as IN=OUT");
}

TEST_F(Convert, TheSameModelGivesTheSameBytes) {
  const std::string onnx = quantised("Sigmoid");
  ASSERT_EQ(run("qrt_convert", {onnx, "-o", path("a.qrt")}).status, 0);
  ASSERT_EQ(run("qrt_convert", {onnx, "-o", path("b.qrt"), "--from", "onnx"}).status, 0);
  EXPECT_EQ(read(path("a.qrt")), read(path("b.qrt")));
}

TEST_F(Convert, ExplainsEveryNode) {
  const std::string onnx = quantised("Relu");
  const CommandResult text = run("qrt_convert", {"--explain", onnx});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("the_g (Relu) -> "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("0 of 5 nodes refused"), std::string::npos) << text.out;
  const CommandResult json = run("qrt_convert", {onnx, "--explain=json", "-o", path("m.qrt")});
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(nlohmann::json::parse(json.out)["converted"], 5);
  EXPECT_TRUE(std::filesystem::exists(path("m.qrt")));
  expect_failure("qrt_convert", {onnx, "--explain=xml"}, 2, "xml");
}

TEST_F(Convert, RunsInFloatOnlyIfAsked) {
  node("QuantizeLinear", {"x", "s", "z"}, "q");
  node("DequantizeLinear", {"q", "s", "z"}, "f");
  node("ReduceSum", {"f"}, "sum");
  node("Div", {"f", "sum"}, "g");
  node("QuantizeLinear", {"g", "s", "z"}, "p");
  node("DequantizeLinear", {"p", "s", "z"}, "y");
  const std::string onnx = write("float.onnx", model_.SerializeAsString());
  const CommandResult refused = run("qrt_convert", {onnx, "-o", path("m.qrt")});
  EXPECT_EQ(refused.status, 4);
  EXPECT_NE(refused.err.find("--allow-float"), std::string::npos) << refused.err;
  const CommandResult allowed =
      run("qrt_convert", {onnx, "-o", path("m.qrt"), "--allow-float", "--explain"});
  ASSERT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_NE(allowed.out.find("the_sum (ReduceSum) -> Float [F]"), std::string::npos) << allowed.out;
  EXPECT_NE(allowed.out.find("the_g (Div) -> Float [I1]"), std::string::npos) << allowed.out;
  EXPECT_EQ(allowed.err.find("quantised"), std::string::npos) << allowed.err;
  const CommandResult inspected = run("qrt_inspect", {path("m.qrt"), "--format", "json"});
  const auto json = nlohmann::json::parse(inspected.out);
  int floats = 0;
  for (const auto& op : json["operators"]) floats += op["level"] == "F";
  EXPECT_EQ(floats, 1) << inspected.out;
  EXPECT_EQ(json["model"]["reference"], "ort-x64-fma+float");
  EXPECT_NE(run("qrt_inspect", {path("m.qrt")}).out.find("ort-x64-fma+float"), std::string::npos);
  const CommandResult level =
      run("qrt_convert", {onnx, "--allow-float", "--explain", "--require-level", "I1"});
  EXPECT_EQ(level.status, 1);
  EXPECT_NE(level.err.find("above I1: the_sum (ReduceSum) -> Float [F]"), std::string::npos)
      << level.err;
  EXPECT_EQ(level.err.find("the_g"), std::string::npos) << level.err;
}

TEST_F(Convert, SaysThatAModelIsNotQuantised) {
  node("ReduceSum", {"x"}, "sum");
  node("Div", {"x", "sum"}, "y");
  const std::string onnx = write("float.onnx", model_.SerializeAsString());
  const std::string hint = "qrt_quantize";
  const CommandResult refused = run("qrt_convert", {onnx, "-o", path("m.qrt")});
  EXPECT_EQ(refused.status, 4);
  EXPECT_NE(refused.err.find(hint), std::string::npos) << refused.err;
  const CommandResult allowed = run("qrt_convert", {onnx, "-o", path("m.qrt"), "--allow-float"});
  EXPECT_EQ(allowed.status, 0);
  EXPECT_NE(allowed.err.find("note: nothing in this model is quantised"), std::string::npos)
      << allowed.err;
  EXPECT_NE(allowed.err.find(hint), std::string::npos) << allowed.err;
}

TEST_F(Convert, LintsWithAnExitStatusOfItsOwn) {
  const std::string fine = quantised("Neg");
  const CommandResult none = run("qrt_convert", {"--lint", fine});
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_EQ(none.out, "0 warnings\n");
  // A scale of zero is legal in ONNX: everything is quantised to the zero point.
  model_.mutable_graph()->mutable_initializer(0)->set_float_data(0, 0.0f);
  const std::string onnx = write("zero.onnx", model_.SerializeAsString());
  const CommandResult text = run("qrt_convert", {onnx, "--lint", "-o", path("m.qrt")});
  EXPECT_EQ(text.status, 1) << text.err;
  EXPECT_NE(text.out.find(": scale: the scale of 's' is 0: zero"), std::string::npos) << text.out;
  EXPECT_TRUE(std::filesystem::exists(path("m.qrt")));
  const CommandResult json = run("qrt_convert", {onnx, "--lint=json", "--explain=json"});
  EXPECT_EQ(json.status, 1);
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed["warnings"][0]["rule"], "scale");
  EXPECT_EQ(parsed["nodes"].size(), 5u);
  expect_failure("qrt_convert", {onnx, "--lint=xml"}, 2, "xml");
  node("Det", {"y"}, "more");
  const CommandResult refused =
      run("qrt_convert", {write("refused.onnx", model_.SerializeAsString()), "--lint"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_NE(refused.err.find(": scale: "), std::string::npos) << refused.err;
}

TEST_F(Convert, RefusesWithAReportOfAllNodes) {
  node("Erf", {"x"}, "a");
  node("Det", {"a"}, "b");
  const std::string onnx = quantised("Relu");
  const CommandResult r = run("qrt_convert", {onnx, "-o", path("m.qrt")});
  EXPECT_EQ(r.status, 4);
  EXPECT_EQ(r.err.rfind("refused  the_a (Erf): ", 0), 0u) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_FALSE(std::filesystem::exists(path("m.qrt")));
  const CommandResult json = run("qrt_convert", {onnx, "--explain=json"});
  EXPECT_EQ(json.status, 4);
  EXPECT_GE(nlohmann::json::parse(json.out)["refused"], 1);
}

TEST_F(Convert, ChecksTheLevelAskedFor) {
  const std::string tables = quantised("Relu");
  EXPECT_EQ(run("qrt_convert", {tables, "-o", path("m.qrt"), "--require-level", "I0"}).status, 0);
  model_.mutable_graph()->clear_node();
  node("QuantizeLinear", {"x", "s", "z"}, "q");
  node("DequantizeLinear", {"q", "s", "z"}, "f");
  describe(model_.mutable_graph()->add_input(), "x2");
  node("QuantizeLinear", {"x2", "s", "z"}, "q2");
  node("DequantizeLinear", {"q2", "s", "z"}, "f2");
  node("Add", {"f", "f2"}, "g");
  node("QuantizeLinear", {"g", "s", "z"}, "p");
  node("DequantizeLinear", {"p", "s", "z"}, "y");
  const std::string add = write("add.onnx", model_.SerializeAsString());
  EXPECT_EQ(run("qrt_convert", {add, "-o", path("n.qrt"), "--require-level", "I1"}).status, 0);
  std::filesystem::remove(path("n.qrt"));
  expect_failure("qrt_convert", {add, "-o", path("n.qrt"), "--require-level", "I0"}, 1,
                 "the_g (Add)");
  EXPECT_FALSE(std::filesystem::exists(path("n.qrt")));
}

TEST_F(Convert, TellsBadInputsApart) {
  const std::vector<std::string> out = {"-o", path("m.qrt")};
  const auto expect = [&](const std::string& input, int status, const std::string& part) {
    expect_failure("qrt_convert", {input, out[0], out[1]}, status, part);
    EXPECT_FALSE(std::filesystem::exists(path("m.qrt")));
  };
  expect(path("none.onnx"), 5, "none.onnx: No such file");
  expect(path(""), 3, "is a directory");
  expect(write("empty.onnx", ""), 3, "empty");
  expect(write("zeros.onnx", std::string(4096, '\0')), 3, "zeros.onnx");
  expect(write("a.qrt", std::string("\x10\0\0\0QRT1\0\0\0\0", 12)), 3, "is a .qrt file already");
  expect(write("m.tflite", std::string("\x10\0\0\0TFL3\0\0\0\0", 12)), 3,
         "its flatbuffer is damaged");
  expect(write("m.espdl", "EDL2 and more"), 3, "cut short");
  // A file of no format is named by its mark or by the format that its name promises.
  expect(write("m.pt", "PK\3\4 and more"), 3, "m.pt: is a zip archive, as PyTorch and Keras");
  expect(write("m.h5", "\x89HDF\r\n"), 3, "m.h5: is an HDF5 file");
  expect(write("m.gguf", "GGUF\3"), 3, "m.gguf: is a GGUF file");
  expect(write("n.tflite", "nonsense"), 3, "n.tflite: is no TFLite file, whose name it has");
  expect(write("n.espdl", "nonsense"), 3, "n.espdl: is no ESP-DL file, whose name it has");
  expect(write("n.onnx", "nonsense"), 3, "n.onnx' is not an ONNX model");
}

TEST_F(Convert, SignaturesOfTfliteModels) {
  const std::string two = write("two.tflite", testing::two_signatures().build());
  EXPECT_EQ(run("qrt_convert", {two, "--list"}).out, "0 positive\n1 size\n");
  const std::string choice =
      "two.tflite: has 2 signatures: choose one with --signature NAME or INDEX (0: 'positive', "
      "1: 'size')";
  expect_failure("qrt_convert", {two, "-o", path("m.qrt")}, 2, choice);
  expect_failure("qrt_convert", {two, "--explain"}, 2, choice);
  const CommandResult done = run("qrt_convert", {two, "--signature", "size", "-o", path("m.qrt")});
  EXPECT_EQ(done.status, 0) << done.err;
  const CommandResult explained = run("qrt_convert", {two, "--signature=1", "--explain"});
  EXPECT_EQ(explained.status, 0);
  EXPECT_NE(explained.out.find("ABS"), std::string::npos) << explained.out;
  const std::string shown = run("qrt_inspect", {path("m.qrt")}).out;
  for (const char* part : {" x: int8", " y: int8", " size\n"})
    EXPECT_NE(shown.find(part), std::string::npos) << shown;
}

// ESP-DL models are converted: the target is asked for, packs are listed, and the exporter's test
// values are run.
TEST_F(Convert, EspdlModels) {
  using testing::EspdlBuilder;
  using testing::EspdlType;
  EspdlBuilder b("");
  b.op("Relu", {b.input("x", EspdlType::INT8, {4}, -4)}, {b.output("y", EspdlType::INT8, {4}, -4)});
  const auto values = [](const char* name, std::vector<int8_t> v) {
    return EspdlBuilder::tensor(name, EspdlType::INT8, {4}, v, {-4});
  };
  b.model.graph->test_inputs_value.push_back(values("x", {-1, 2, -3, 4}));
  b.model.graph->test_outputs_value.push_back(values("y", {0, 2, 0, 4}));
  const auto file = [&](const char* name, const testing::Bytes& bytes) {
    return write(name, std::string(bytes.begin(), bytes.end()));
  };
  const std::string one = file("one.espdl", b.build());
  expect_failure("qrt_convert", {one, "-o", path("m.qrt")}, 2,
                 "say --target esp32p4, esp32s3 or c");
  const CommandResult good = run("qrt_convert", {one, "--target", "esp32s3", "--check"});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_EQ(good.out, "check 'y': all 4 equal\n");
  b.model.graph->test_outputs_value[0] = values("y", {0, 2, 0, 9});
  const CommandResult bad =
      run("qrt_convert", {file("bad.espdl", b.build()), "--target", "c", "--check"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_EQ(bad.out, "check 'y': 1 of 4 differ, at most by 5\n");
  // Kept in the file, every byte counts; a model without them says so.
  const std::string kept = path("kept.qrt");
  ASSERT_EQ(run("qrt_convert", {one, "--target", "c", "--keep-test-values", "-o", kept}).status, 0);
  const CommandResult equal = run("qrt_run", {kept, "--check", "--threads", "2"});
  EXPECT_EQ(equal.status, 0) << equal.err;
  EXPECT_EQ(equal.out, "check output 0 'y': all 4 equal\n");
  const std::string other = path("other.qrt");
  ASSERT_EQ(
      run("qrt_convert", {path("bad.espdl"), "--target", "c", "--keep-test-values", "-o", other})
          .status,
      0);
  const CommandResult differs = run("qrt_run", {other, "--check", "--isa", "scalar"});
  EXPECT_EQ(differs.status, 1);
  EXPECT_EQ(differs.out,
            "check output 0 'y': 1 of 4 differ, the first at 3: 4, expected 9; greatest "
            "difference 5\n");
  ASSERT_EQ(run("qrt_convert", {one, "--target", "c", "-o", path("none.qrt")}).status, 0);
  expect_failure("qrt_run", {path("none.qrt"), "--check"}, 2, "holds no test values");
  expect_failure("qrt_run", {kept, "--check", "x.npy"}, 2, "takes its inputs from the model");
  expect_failure("qrt_convert",
                 {one, "--target", "c", "--float-io", "--keep-test-values", "-o", path("m.qrt")}, 3,
                 "the test values of the input 'x' are int8");
  b.model.graph->test_inputs_value.clear();
  b.model.graph->test_outputs_value.clear();
  expect_failure(
      "qrt_convert",
      {file("no.espdl", b.build()), "--target", "c", "--keep-test-values", "-o", path("m.qrt")}, 2,
      "--keep-test-values: ");
  const std::string pack =
      file("pack.espdl", testing::espdl_pack("PDL1", {{"face", b.build()}, {"hand", b.build()}}));
  EXPECT_EQ(run("qrt_convert", {pack, "--list"}).out, "0 face\n1 hand\n");
  expect_failure("qrt_convert", {pack, "--target", "c", "-o", path("m.qrt")}, 2, "--model NAME");
  EXPECT_EQ(
      run("qrt_convert", {pack, "--target", "c", "--model", "hand", "-o", path("m.qrt")}).status,
      0);
}

TEST_F(Convert, ChecksItsArguments) {
  const std::string onnx = quantised("Relu");
  expect_failure("qrt_convert", {}, 2, "MODEL is required");
  expect_failure("qrt_convert", {onnx}, 2, "-o is required");
  expect_failure("qrt_convert", {onnx, "-o", path("m.qrt"), "--from", "caffe"}, 2, "--from");
  expect_failure("qrt_convert", {onnx, "-o", path("m.qrt"), "--require-level", "I2"}, 2,
                 "--require-level");
  expect_failure("qrt_convert", {onnx, "-o", path("m.qrt"), "--reference", "tflite-single"}, 2,
                 "--reference tflite-single is not for ONNX models");
  expect_failure("qrt_convert", {onnx, "-o", path("no/such/m.qrt")}, 5, "no/such/m.qrt");
}

TEST_F(Convert, NeverOverwritesWhatTheModelIsReadFrom) {
  // The scale lies in one file beside the model; another file belongs to a tensor that nothing
  // reads.
  auto* scale = model_.mutable_graph()->mutable_initializer(0);
  scale->clear_float_data();
  const float value = 0.25f;
  write("scale.bin", std::string(reinterpret_cast<const char*>(&value), sizeof value));
  write("unread.bin", "0123");
  auto* unread = model_.mutable_graph()->add_initializer();
  unread->set_name("unread");
  unread->set_data_type(onnx::TensorProto::FLOAT);
  for (onnx::TensorProto* tensor : {scale, unread}) {
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    auto* location = tensor->add_external_data();
    location->set_key("location");
    location->set_value(tensor == scale ? "scale.bin" : "unread.bin");
  }
  const std::string onnx = quantised("Relu"), content = read(onnx);
  std::filesystem::create_symlink(onnx, path("symbolic.qrt"));
  std::filesystem::create_hard_link(onnx, path("hard.qrt"));
  for (const char* name :
       {"model.onnx", "./model.onnx", "symbolic.qrt", "hard.qrt", "scale.bin", "unread.bin"}) {
    const auto size = std::filesystem::file_size(path(name));
    expect_failure("qrt_convert", {onnx, "-o", path(name)}, 2,
                   std::string(name) + " would overwrite ");
    EXPECT_EQ(std::filesystem::file_size(path(name)), size) << name;
  }
  EXPECT_EQ(read(onnx), content);
  EXPECT_TRUE(std::filesystem::is_symlink(path("symbolic.qrt")));
  EXPECT_EQ(run("qrt_convert", {onnx, "-o", path("other.qrt")}).status, 0);
}

TEST_F(Convert, CountsRefusedNodesInOneWay) {
  node("QuantizeLinear", {"x", "s", "z"}, "q");
  node("DequantizeLinear", {"q", "s", "z"}, "f");
  node("Det", {"f"}, "y");
  describe(model_.mutable_graph()->add_output(), "x");  // an output that no node makes
  const CommandResult r =
      run("qrt_convert", {write("m.onnx", model_.SerializeAsString()), "-o", path("m.qrt")});
  EXPECT_EQ(r.status, 4);
  size_t counts = 0;
  for (size_t at = 0; (at = r.err.find(" nodes refused", at)) != std::string::npos; ++at) {
    EXPECT_EQ(r.err.substr(at - 6, 6), "1 of 3") << r.err;
    ++counts;
  }
  EXPECT_EQ(counts, 2u) << r.err;
}

// A batch that --input-shape asks to keep open is an error where it cannot be open, and no note
// beside a written model.
TEST_F(Convert, RefusesToCloseABatchThatWasAskedOpen) {
  const std::string onnx = quantised("Transpose"), qrt = path("m.qrt");
  const CommandResult r = run("qrt_convert", {onnx, "-o", qrt, "--input-shape", "?x4"});
  EXPECT_EQ(r.status, 4);
  EXPECT_EQ(r.err,
            "qrt_convert: error: " + onnx +
                ": the batch cannot stay open, as --input-shape asks by its ?: node 'q/transposed' "
                "(Transpose) "
                "runs in a form that does not keep the images of a batch apart; give it a number "
                "instead of the ?\n");
  struct stat unused;
  EXPECT_NE(stat(qrt.c_str(), &unused), 0);
  EXPECT_EQ(run("qrt_convert", {onnx, "-o", qrt, "--input-shape", "1x4"}).status, 0);
}

TEST_F(Convert, FloatModelsAreToldOfQrtQuantize) {
  node("Relu", {"x"}, "r");
  node("Det", {"r"}, "y");
  const std::string quantize = "qrt_quantize";
  const std::string onnx = write("m.onnx", model_.SerializeAsString());
  expect_failure("qrt_convert", {onnx, "-o", path("m.qrt")}, 4, quantize);
  model_.mutable_graph()->clear_node();
  const CommandResult r = run("qrt_convert", {quantised("Det"), "-o", path("m.qrt")});
  EXPECT_EQ(r.status, 4);
  EXPECT_EQ(r.err.find(quantize), std::string::npos) << r.err;
}

TEST_F(Convert, LeavesTheOldFileWhenItFails) {
  const std::string onnx = quantised("Det");
  write("m.qrt", "old");
  EXPECT_EQ(run("qrt_convert", {onnx, "-o", path("m.qrt")}).status, 4);
  EXPECT_EQ(read(path("m.qrt")), "old");
}

TEST_F(Convert, WritesToPipesAndDevices) {
  EXPECT_EQ(run("qrt_convert", {quantised("Relu"), "-o", "/dev/null"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

// /dev/stdout of a program whose output goes to a file: the file is written, and the link stays. "-" is
// the same.
TEST_F(Convert, WritesToWhatADescriptorIsOpenOn) {
  const std::string onnx = quantised("Relu");
  ASSERT_EQ(run("qrt_convert", {onnx, "-o", path("m.qrt")}).status, 0);
  std::filesystem::create_symlink("/proc/self/fd/1", path("first"));
  std::filesystem::create_symlink("first", path("second"));
  const CommandResult r = run("qrt_convert", {onnx, "-o", path("second")});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, read(path("m.qrt")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("second")));
  EXPECT_EQ(run("qrt_convert", {onnx, "-o", "-"}).out, r.out);
  for (const char* option : {"--explain", "--lint=json", "--check"})
    expect_failure("qrt_convert", {onnx, "-o", "-", option}, 2, "and nothing else");
}

TEST_F(Convert, VerboseShowsTheGraph) {
  const CommandResult r = run("qrt_convert", {quantised("Relu"), "-o", path("m.qrt"), "--verbose"});
  EXPECT_EQ(r.status, 0);
  EXPECT_NE(r.err.find("final graph 'g'"), std::string::npos) << r.err;
  EXPECT_EQ(r.out, "");
}

TEST_F(Convert, DamagedModelsNeverCrash) {
  const std::string good = read(quantised("Relu"));
  for (size_t size = 0; size < good.size(); size += 13) {
    const CommandResult r =
        run("qrt_convert", {write("d.onnx", good.substr(0, size)), "-o", path("m.qrt")});
    EXPECT_TRUE(r.status == 3 || r.status == 4) << size << ": " << r.status << " " << r.err;
  }
}

}  // namespace
}  // namespace qrt::qrt_convert_test
