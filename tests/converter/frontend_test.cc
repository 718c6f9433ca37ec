// SPDX-License-Identifier: Apache-2.0
// The table of source formats: what every row must do, whatever its format.
#include "converter/import/frontend.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace qrt::testing::frontend_test {
namespace {

using convert::Frontend;

std::vector<uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

// A file of these bytes while this lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(::testing::TempDir() + "frontend_test." + std::to_string(getpid())) {
    FILE* file = fopen(path_.c_str(), "wb");
    EXPECT_NE(file, nullptr);
    fwrite(content.data(), 1, content.size(), file);
    fclose(file);
  }
  ~TemporaryFile() { remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

TEST(Frontend, IsRecognisedByTheFirstBytes) {
  EXPECT_STREQ(convert::recognise(bytes("\x1c\x01\x02\x03TFL3 and more")).name, "tflite");
  EXPECT_STREQ(convert::recognise(bytes("EDL2 and more")).name, "espdl");
  EXPECT_STREQ(convert::recognise(bytes("\x08\x07 has no mark")).name, "onnx");
  EXPECT_STREQ(convert::recognise(bytes("")).name, "onnx");
  // A mark at another place does not count.
  EXPECT_STREQ(convert::recognise(bytes("TFL3 in front")).name, "onnx");
}

TEST(Frontend, NamesFindTheirRows) {
  for (const Frontend& f : convert::frontends()) EXPECT_EQ(convert::find_frontend(f.name), &f);
  EXPECT_EQ(convert::find_frontend("caffe"), nullptr);
}

TEST(Frontend, DamagedFilesAreRefusedAsSuch) {
  const TemporaryFile garbage(std::string(300, '\x5a'));
  for (const Frontend& f : convert::frontends()) {
    convert::Graph graph;
    convert::Report report;
    const Status status = convert::import_model(f, garbage.path(), {}, &graph, &report);
    EXPECT_TRUE(status.code() == Code::kInvalidModel || status.code() == Code::kUnsupported)
        << f.name << ": " << status.message();
    EXPECT_STRNE(status.message(), "") << f.name;
  }
}

TEST(Frontend, MissingFilesAreNoDamagedOnes) {
  for (const Frontend& f : convert::frontends()) {
    if (!f.import) continue;
    convert::Graph graph;
    convert::Report report;
    const Status status = convert::import_model(f, "/nonexistent/model", {}, &graph, &report);
    EXPECT_EQ(status.code(), Code::kIoError) << f.name << ": " << status.message();
  }
}

// Returns the message of an import with one option.
std::string with_option(const char* format, const std::string& name, const std::string& value) {
  convert::Graph graph;
  convert::Report report;
  const Status status =
      convert::import_model(*convert::find_frontend(format), "m", {{name, value}}, &graph, &report);
  return status.code() == Code::kInvalidArgument ? status.message() : "";
}

TEST(Frontend, OptionsOfOtherFormatsAreRefused) {
  EXPECT_EQ(with_option("espdl", "reference", "tflite-ref"),
            "--reference tflite-ref is for TFLite and ONNX models, m is espdl");
  EXPECT_EQ(with_option("onnx", "reference", "tflite-ref"),
            "--reference tflite-ref is not for ONNX models, and m is one");
  EXPECT_EQ(with_option("tflite", "allow-float", "on"),
            "--allow-float is for ONNX models, m is tflite");
  EXPECT_EQ(with_option("tflite", "reference", "ort"),
            "--reference ort is not for TFLite models, and m is one");
  EXPECT_EQ(with_option("tflite", "reference", "tflite-single"), "");
}

TEST(Frontend, EspDlsArithmeticHasNoFloats) {
  convert::Graph graph;
  convert::Report report;
  const Status status =
      convert::import_model(*convert::find_frontend("onnx"), "m",
                            {{"reference", "espdl-p4"}, {"allow-float", "on"}}, &graph, &report);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_STREQ(status.message(), "--allow-float does not go with --reference espdl-p4");
}

}  // namespace
}  // namespace qrt::testing::frontend_test
