// SPDX-License-Identifier: Apache-2.0
// qrt_doctor on models of every format, and on files that are none.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/support/command.h"
#include "tests/support/cvm_models.h"
#include "tests/support/espdl_models.h"
#include "tests/support/every_op_model.h"
#include "tests/support/float_models.h"
#include "tests/support/part_models.h"
#include "tests/support/tflite_models.h"

namespace qrt::qrt_doctor_test {
namespace {

using testing::CommandResult;
using testing::OnnxBuilder;

class Doctor : public testing::CommandTest {
 protected:
  CommandResult examine(const std::string& file, const std::string& format = "text") const {
    return run("qrt_doctor", {file, "--seconds", "0.001", "--format", format});
  }

  // Checks that the output fits a screen and that its verdict is qrt_convert's.
  void check(const std::string& file) const {
    SCOPED_TRACE(file);
    const CommandResult r = examine(file);
    EXPECT_TRUE(r.status == 0 || r.status == 4) << r.status << r.err;
    EXPECT_EQ(r.err, "");
    std::istringstream lines(r.out);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_TRUE(line.size() <= 80 || line.find("qrt_") == 11) << line;
      for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
    }
    EXPECT_LE(count, 24u) << r.out;
    for (const char* key : {"file  ", "format  ", "converts  ", "next  "})
      EXPECT_NE(("\n" + r.out).find(std::string("\n") + key), std::string::npos) << key << r.out;
    const auto json = nlohmann::json::parse(examine(file, "json").out);
    EXPECT_EQ(json["converts"], r.status == 0);
    EXPECT_FALSE(json["next"].empty());
    if (json["format"] == "a .qrt model") return;
    std::vector<std::string> arguments = {file, "-o", path("converted.qrt")};
    for (const std::string option : json["options"]) arguments.push_back(option);
    EXPECT_EQ(run("qrt_convert", arguments).status == 0, r.status == 0);
    EXPECT_TRUE(r.status == 0 || json["refused"] == 0 || !json["reasons"].empty());
  }

  std::string digits(const std::string& name) const {
    return std::string(QRT_TESTS_DIR) + "/models/digits/" + name;
  }
};

TEST_F(Doctor, ExaminesModelsOfEveryFormat) {
  size_t count = 0;
  const auto add = [&](const std::string& extension, const auto& bytes) {
    check(write("model_" + std::to_string(count++) + extension, bytes));
  };
  for (const auto& model : testing::sample_tflite_models()) add(".tflite", model);
  for (const auto& model : testing::sample_espdl_models()) add(".espdl", model);
  add(".onnx", testing::float_models::image().bytes());
  add(".onnx", testing::float_models::attention().bytes());
  add(".qrt", testing::every_op_model().build());
  add(".qrt", testing::int16_model().build());
  add(".qrt", testing::dynamic_layer_model().build());
  for (const char* op : {"Relu", "Sigmoid", "Erf", "NoSuchOp", "Softmax"}) {
    OnnxBuilder b;
    b.integer_output<uint8_t>(b.node(op, {b.integer_input<uint8_t>({1, 4}, 0.5f, 3)}), 0.25f, 3);
    add(".onnx", b.bytes());
  }
  for (const char* name : {"digits.onnx", "float.onnx"}) {
    check(digits(name));
    ++count;
  }
  const testing::CvmModel cvm = testing::sample_cvm_model();
  write("cvm.params", cvm.params);
  check(write("cvm.json", cvm.symbol));
  EXPECT_GE(++count, 30u);
}

TEST_F(Doctor, TellsWhatToDoNext) {
  const std::string integers = examine(digits("digits.onnx")).out;
  EXPECT_NE(integers.find("converts   yes: "), std::string::npos) << integers;
  EXPECT_NE(integers.find("float      nothing: integers from edge to edge\n"), std::string::npos)
      << integers;
  EXPECT_NE(integers.find(" ms a run, "), std::string::npos) << integers;
  EXPECT_NE(integers.find("next       qrt_convert "), std::string::npos) << integers;
  const std::string real = examine(digits("float.onnx")).out;
  EXPECT_NE(real.find("next       qrt_quantize "), std::string::npos) << real;
  OnnxBuilder b;
  b.integer_output<uint8_t>(b.node("NoSuchOp", {b.integer_input<uint8_t>({1, 4}, 0.5f, 3)}), 0.25f,
                            3);
  const std::string refused = examine(write("no.onnx", b.bytes())).out;
  EXPECT_NE(refused.find("converts   no: 1 of 3 nodes is refused, 1 behind them not assessed\n"),
            std::string::npos)
      << refused;
  EXPECT_NE(refused.find("refused    NoSuchOp2 (NoSuchOp): qrt has no form"), std::string::npos)
      << refused;
  EXPECT_NE(refused.find("next       end the model before it"), std::string::npos) << refused;
}

// The reason is told in full, however long the file's path is, and the next command has the option that it asks for.
TEST_F(Doctor, NamesTheOptionThatAFileNeeds) {
  testing::EspdlBuilder b("");
  b.op("Relu", {b.input("x", testing::EspdlType::INT8, {1, 8}, -4)},
       {b.output("y", testing::EspdlType::INT8, {1, 8}, -4)});
  const std::string file = write(std::string(120, 'a') + ".espdl", b.build());
  check(file);
  const CommandResult r = examine(file);
  EXPECT_EQ(r.status, 4);
  const std::string words = std::regex_replace(r.out, std::regex("\\s+"), " ");
  EXPECT_NE(
      words.find("converts no: does not say for which chip it was exported, and rounding depends "
                 "on it: say --target esp32p4, esp32s3 or c next qrt_convert "),
      std::string::npos)
      << r.out;
  EXPECT_NE(words.find(".espdl --target esp32p4 -o "), std::string::npos) << r.out;
}

TEST_F(Doctor, NamesFilesThatAreNoModels) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.md", "# text\n"},
      {"a.png", "\x89PNG\r\n\x1a\n"},
      {"a.npy", std::string("\x93NUMPY\1\0", 8)},
      {"a.pt", "PK\3\4...."},
      {"a.h5", "\x89HDF\r\n"},
      {"a.gguf", "GGUF\3"},
      {"a.safetensors", std::string("\x10\0\0\0\0\0\0\0{\"w\":{", 14)},
      {"a.onnx", "<!DOCTYPE html>"},
      {"b.onnx", "version https://git-lfs.github.com/spec/v1\n"},
      {"c.onnx", std::string("\x08\x08:\xff\xff\xff\xff\x0f", 8)},
      {"d.qrt", std::string("\x10\0\0\0QRT1\0\0\0\0", 12)},
      {"e.tflite", std::string("\x1c\0\0\0TFL3", 8)},
      {"f.json", "{\"nodes\": 3}"},
      {"g.tar.gz", "\x1f\x8b\x08"},
  };
  for (const auto& [name, content] : files) {
    SCOPED_TRACE(name);
    expect_failure("qrt_doctor", {write(name, content)}, 3, name);
  }
  expect_failure("qrt_doctor", {write("empty", "")}, 3, "the file is empty");
  expect_failure("qrt_doctor", {path("absent")}, 5, "No such file");
  expect_failure("qrt_doctor", {path("")}, 3, "is a directory");
}

}  // namespace
}  // namespace qrt::qrt_doctor_test
