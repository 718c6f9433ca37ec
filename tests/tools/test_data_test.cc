// SPDX-License-Identifier: Apache-2.0
// qrt_convert --test-data: folders of input_0.pb, output_0.pb ... as they lie beside ONNX models.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "onnx/onnx_pb.h"
#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/open_dims.h"

namespace qrt::test_data_test {
namespace {

using testing::CommandResult;
using testing::Dims;

// The digits network, and what ONNX Runtime makes of its images.
class TestData : public testing::CommandTest {
 protected:
  TestData() {
    std::filesystem::create_directory(path("data"));
    EXPECT_TRUE(tool::read_npy(digits("images.npy"), &images_).ok());
    EXPECT_TRUE(tool::read_npy(digits("logits.npy"), &logits_).ok());
  }
  static std::string digits(const std::string& name) {
    return QRT_TESTS_DIR "/models/digits/" + name;
  }
  // Returns the elements of the first `batch` images.
  static tool::NpyArray first(const tool::NpyArray& all, int64_t batch) {
    tool::NpyArray some = all;
    some.shape[0] = batch;
    some.data.resize(static_cast<size_t>(some.shape.elements()) * sizeof(float));
    return some;
  }
  static onnx::TensorProto proto(const std::string& name, const tool::NpyArray& array) {
    onnx::TensorProto t;
    t.set_name(name);
    t.set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t d : array.shape) t.add_dims(d);
    t.set_raw_data(array.data.data(), array.data.size());
    return t;
  }
  void write_data(const onnx::TensorProto& input, const onnx::TensorProto& output) const {
    write("data/input_0.pb", input.SerializeAsString());
    write("data/output_0.pb", output.SerializeAsString());
  }
  CommandResult check(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {digits("digits.onnx"), "--check", "--test-data", path("data")});
    return run("qrt_convert", more);
  }
  void expect_refusal(int status, const std::string& part) const {
    expect_failure("qrt_convert", {digits("digits.onnx"), "--check", "--test-data", path("data")},
                   status, part);
  }

  tool::NpyArray images_, logits_;
};

TEST_F(TestData, IsRunAtItsOwnBatch) {
  for (const int64_t batch : {1, 5}) {
    write_data(proto("image", first(images_, batch)), proto("logits", first(logits_, batch)));
    const CommandResult r = check();
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.out, "check 'logits': all " + std::to_string(10 * batch) + " equal\n");
  }
}

TEST_F(TestData, OfOtherValuesIsToldApart) {
  tool::NpyArray other = first(logits_, 1);
  const float wrong = 1000;
  memcpy(other.data.data() + 12, &wrong, sizeof wrong);
  write_data(proto("image", first(images_, 1)), proto("logits", other));
  const CommandResult r = check();
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.out.rfind("check 'logits': 1 of 10 differ, at most by ", 0), 0u) << r.out;
}

TEST_F(TestData, WithoutNamesGoesByNumber) {
  write_data(proto("", first(images_, 1)), proto("y", first(logits_, 1)));
  EXPECT_EQ(check().status, 0) << check().err;
}

TEST_F(TestData, MayBeArrays) {
  const tool::NpyArray x = first(images_, 2), y = first(logits_, 2);
  const auto save = [&](const char* name, const tool::NpyArray& a) {
    EXPECT_TRUE(tool::write_npy(path(name), a.dtype, a.shape, a.data.data(), a.data.size()).ok());
  };
  save("data/input_0.npy", x);
  save("data/output_0.npy", y);
  EXPECT_EQ(check().out, "check 'logits': all 20 equal\n");
}

TEST_F(TestData, IsKeptForDevices) {
  write_data(proto("image", first(images_, 1)), proto("logits", first(logits_, 1)));
  const std::string kept = path("kept.qrt");
  const CommandResult r = run("qrt_convert", {digits("digits.onnx"), "--keep-test-values",
                                              "--test-data", path("data"), "-o", kept});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(run("qrt_run", {kept, "--check"}).out, "check output 0 'logits': all 10 equal\n");
  // At another batch than the file's own.
  write_data(proto("image", first(images_, 3)), proto("logits", first(logits_, 3)));
  ASSERT_EQ(run("qrt_convert", {digits("digits.onnx"), "--keep-test-values", "--test-data",
                                path("data"), "-o", kept})
                .status,
            0);
  EXPECT_EQ(run("qrt_run", {kept, "--check"}).out, "check output 0 'logits': all 30 equal\n");
  write_data(proto("image", first(images_, 3)), proto("logits", first(logits_, 2)));
  expect_failure(
      "qrt_convert",
      {digits("digits.onnx"), "--keep-test-values", "--test-data", path("data"), "-o", kept}, 3,
      "the test values of the output 'logits' are float32 of shape [2, 10]");
}

// Test data may have any sizes that the model takes: a pool of images whose height and width are open.
TEST_F(TestData, MayHaveAnySizesThatTheModelTakes) {
  testing::OnnxBuilder b;
  const std::string x = b.input<uint8_t>({1, 1, -1, -1}, "image");
  b.output(b.node("MaxPool", {x}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}}));
  testing::number_open_dims(&b.graph());
  const std::string model = write("pool.onnx", b.bytes()), kept = path("kept.qrt");
  const auto save = [&](const char* name, const Shape& shape, const std::vector<uint8_t>& data) {
    EXPECT_TRUE(tool::write_npy(path(name), DType::kUInt8, shape, data.data(), data.size()).ok());
  };
  save("data/input_0.npy", {1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  save("data/output_0.npy", {1, 1, 1, 2}, {6, 8});
  const CommandResult r = run("qrt_convert", {model, "--check", "--keep-test-values", "--test-data",
                                              path("data"), "-o", kept});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("all 2 equal\n"), std::string::npos) << r.out;
  EXPECT_NE(run("qrt_run", {kept, "--check"}).out.find("all 2 equal\n"), std::string::npos);
  save("data/output_0.npy", {1, 1, 2, 2}, {6, 8, 6, 8});
  expect_failure("qrt_convert", {model, "--check", "--test-data", path("data")}, 3,
                 "the model takes 2 bytes of uint8");
}

TEST_F(TestData, ThatIsMissingDamagedOrLeftOverIsRefused) {
  expect_refusal(2, "data: holds no input_0.pb or .npy, and the model has 1 inputs");
  write_data(proto("image", first(images_, 1)), proto("logits", first(logits_, 1)));
  write("data/input_1.pb", read(path("data/input_0.pb")));
  expect_refusal(2,
                 "data: 1 array is for no tensor of the model: 'input_1.pb'; the model has 2 "
                 "tensors: 'input_0 image', 'output_0 logits'");
  std::filesystem::remove(path("data/input_1.pb"));
  for (const char* name : {"output_2.pb", "outputs_0.pb", "input_0.npy", "logits.npy"}) {
    write(std::string("data/") + name, read(path("data/output_0.pb")));
    expect_refusal(2, std::string("is for no tensor of the model: '") + name + "'");
    std::filesystem::remove(path(std::string("data/") + name));
  }
  write("data/README.txt", "how they were made");
  EXPECT_EQ(check().status, 0);
  const std::string whole = read(path("data/input_0.pb"));
  write("data/input_0.pb", whole.substr(0, whole.size() - 1));
  expect_refusal(3, "data/input_0.pb' is not an ONNX tensor: its bytes are not a protobuf");
  onnx::TensorProto t = proto("image", first(images_, 1));
  t.set_dims(0, 2);
  write("data/input_0.pb", t.SerializeAsString());
  expect_refusal(3, "data/input_0.pb: tensor 'image': 256 bytes of data");
  t = proto("image", first(images_, 1));
  t.set_data_type(onnx::TensorProto::DOUBLE);
  t.set_raw_data(std::string(512, '\0'));
  write("data/input_0.pb", t.SerializeAsString());
  expect_refusal(4, "data/input_0.pb: element type float64 is not supported");
  expect_failure("qrt_convert",
                 {digits("digits.onnx"), "--test-data", path("data"), "-o", path("m")}, 2,
                 "--test-data needs --check or --keep-test-values");
  expect_failure("qrt_convert", {digits("digits.onnx"), "--check"}, 2, "by --test-data");
}

}  // namespace
}  // namespace qrt::test_data_test
