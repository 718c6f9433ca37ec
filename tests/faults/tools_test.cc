// SPDX-License-Identifier: Apache-2.0
// Whatever the system refuses a tool, the tool ends with a result or with status 5 and a message: no crash, no hang,
// no half file, and nothing that looks like a result and is none.
#include <gtest/gtest.h>

#include "tests/faults/programs.h"

namespace qrt::tools_test {
namespace {

using testing::CommandResult;
using testing::Files;
using testing::Program;

class Tools : public testing::ProgramTest {
 protected:
  void expect_survival(const Program& program) {
    const CommandResult good = run_with("", program);
    ASSERT_EQ(good.status, 0) << good.err;
    const Files written = files();
    std::map<std::string, long> counts;
    for (const std::string& kind : kKinds) counts[kind] = count(kind);
    for (const std::string& kind : kKinds)
      for (const char* mode : {"once", "on"})
        for (const long call : testing::chosen(counts[kind], 25, 50))
          expect_result_or_message(kind + ":" + std::to_string(call) + ":" + mode, program, good,
                                   written);
    // Reads and writes that pass less than was asked for are no errors.
    for (const char* kind : {"read", "write"}) {
      const std::string fault = std::string(kind) + ":0:short";
      const CommandResult r = run_with(fault, program);
      ++injected_;
      EXPECT_EQ(r.status, 0) << fault << ": " << r.err;
      if (!program.is_repeatable) continue;
      EXPECT_TRUE(r.out == good.out) << fault << " prints something else";
      EXPECT_TRUE(files() == written) << fault << " writes something else";
    }
    printf("%s: %ld faults, of %ld allocations and %ld other calls\n", program.tool.c_str(),
           injected_, counts["alloc"], counts["file"] + counts["stat"] + counts["read"]);
  }

 private:
  void expect_result_or_message(const std::string& fault, const Program& program,
                                const CommandResult& good, const Files& written) {
    const CommandResult r = run_with(fault, program);
    const Files left = files();
    ++injected_;
    if (r.status == 0) {
      if (!program.is_repeatable) return;
      EXPECT_TRUE(r.out == good.out) << fault << " prints something else";
      EXPECT_TRUE(left == written) << fault << " writes something else";
      return;
    }
    EXPECT_EQ(r.status, 5) << fault << ": " << r.err;
    EXPECT_NE(r.err.find(program.tool + ": error: "), std::string::npos) << fault << ": " << r.err;
    for (const auto& [name, content] : left)
      EXPECT_TRUE(written.count(name) != 0 &&
                  (!program.is_repeatable || written.at(name) == content))
          << fault << " left " << name << " of " << content.size() << " bytes";
  }

  const std::vector<std::string> kKinds = {"alloc", "map",  "thread", "open",   "stat", "read",
                                           "write", "mode", "sync",   "rename", "mkdir"};
  long injected_ = 0;
};

TEST_F(Tools, ConvertOnnx) {
  expect_survival(
      {"qrt_convert", {digits("digits.onnx"), "-o", out("m.qrt"), "--explain=json", "--lint"}});
}

TEST_F(Tools, ConvertOnnxWithExternalData) {
  // The digits, their initializers in a file beside them.
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read(digits("digits.onnx"))));
  std::string data;
  for (onnx::TensorProto& t : *model.mutable_graph()->mutable_initializer()) {
    if (!t.has_raw_data()) continue;
    const std::pair<const char*, std::string> entries[] = {
        {"location", "data"},
        {"offset", std::to_string(data.size())},
        {"length", std::to_string(t.raw_data().size())}};
    for (const auto& [key, value] : entries) {
      auto* entry = t.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    t.set_data_location(onnx::TensorProto::EXTERNAL);
    data += t.raw_data();
    t.clear_raw_data();
  }
  ASSERT_FALSE(data.empty());
  write("data", data);
  expect_survival(
      {"qrt_convert", {write("m.onnx", model.SerializeAsString()), "-o", out("m.qrt")}});
}

TEST_F(Tools, ConvertTflite) {
  expect_survival({"qrt_convert",
                   {write("m.tflite", testing::tflite_models::conv().build()), "-o", out("m.qrt"),
                    "--explain"}});
}

TEST_F(Tools, ConvertTfliteOfDynamicRange) {
  expect_survival({"qrt_convert",
                   {write("m.tflite", testing::tflite_models::dynamic_range().build()), "-o",
                    out("m.qrt"), "--explain"}});
}

TEST_F(Tools, ConvertEspdl) {
  expect_survival(
      {"qrt_convert", {write("m.espdl", testing::sample_espdl_models()[0]), "-o", out("m.qrt")}});
}

TEST_F(Tools, ConvertCvm) {
  const testing::CvmModel m = testing::sample_cvm_model();
  expect_survival(
      {"qrt_convert",
       {write("m.json", m.symbol), "--params", write("m.params", m.params), "-o", out("m.qrt")}});
}

TEST_F(Tools, ConvertTestData) {
  // An image as a TensorProto, and what the network makes of it as an array.
  tool::NpyArray image, logits;
  ASSERT_TRUE(tool::read_npy(images(), &image).ok());
  ASSERT_TRUE(tool::read_npy(digits("logits.npy"), &logits).ok());
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t d : {1, 1, 8, 8}) proto.add_dims(d);
  proto.set_raw_data(image.data.data(), 64 * sizeof(float));
  std::filesystem::create_directory(path("data"));
  write("data/input_0.pb", proto.SerializeAsString());
  ASSERT_TRUE(tool::write_npy(path("data/output_0.npy"), DType::kFloat32, {1, 10},
                              logits.data.data(), 10 * sizeof(float))
                  .ok());
  expect_survival({"qrt_convert",
                   {digits("digits.onnx"), "--check", "--keep-test-values", "--test-data",
                    path("data"), "-o", out("m.qrt")}});
}

TEST_F(Tools, Run) {
  expect_survival(
      {"qrt_run",
       {digits_qrt(), images(), "--dump-all", "--output-dir", out("run"), "--threads", "1"}});
}

TEST_F(Tools, Inspect) {
  expect_survival({"qrt_inspect", {digits_qrt(), "--format", "json"}});
  expect_survival({"qrt_inspect", {digits_qrt(), "--format", "dot"}});
}

TEST_F(Tools, RunNpz) {
  const std::string archive =
      write("x.npz", testing::zip({{"image.npy", read(images())}}, /*packed=*/true));
  expect_survival({"qrt_run", {digits_qrt(), archive, "--output-dir", out("run")}});
}

TEST_F(Tools, Bench) {
  expect_survival(
      {"qrt_bench", {digits_qrt(), "--seconds", "0.01", "--profile", "--format", "json"}, false});
}

TEST_F(Tools, BenchStreams) {
  expect_survival(
      {"qrt_bench",
       {digits_qrt(), "--seconds", "0.01", "--streams", "3", "--threads", "2", "--shared-pool"},
       false});
}

TEST_F(Tools, Diff) {
  const std::string model = digits_qrt();
  ASSERT_EQ(
      run("qrt_run", {model, images(), "--dump-all", "--output-dir", path("reference")}).status, 0);
  expect_survival({"qrt_diff", {model, path("reference")}});
}

TEST_F(Tools, Quantize) {
  std::vector<std::string> arguments = small_quantization();
  arguments.insert(arguments.end(), {"--report", out("m.json")});
  expect_survival({"qrt_quantize", arguments});
}

}  // namespace
}  // namespace qrt::tools_test
