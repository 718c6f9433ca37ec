// SPDX-License-Identifier: Apache-2.0
// Small source files whose single operators ask for much.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/cost.h"
#include "tests/support/espdl_builder.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/tflite_builder.h"

namespace qrt::requests_costs_test {
namespace {

using testing::Attr;
using testing::CommandResult;
using testing::Dims;
using testing::OnnxBuilder;
using testing::TfliteBuilder;
using B = tflite::BuiltinOperator;
using T = tflite::TensorType;

class RequestsCosts : public testing::CostTest {
 protected:
  // Expects qrt_convert to refuse the file, since the conversion would need too much.
  void expect_refused(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {file, "-o", path("out.qrt")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult r = run_within_cost("qrt_convert", arguments, {file});
    EXPECT_EQ(r.status, 4) << r.err.substr(0, 1000);
    const bool is_told = r.err.find("what is made of it would grow") != std::string::npos ||
                         r.err.find("it asks for more work") != std::string::npos;
    EXPECT_TRUE(is_told) << r.err.substr(0, 1000);
  }
  void expect_refused(const OnnxBuilder& b, const std::vector<std::string>& more = {}) {
    expect_refused(write("m.onnx", b.bytes()), more);
  }
  void expect_refused(const TfliteBuilder& b) { expect_refused(write("m.tflite", b.build())); }
};

// An average of 16 bits over too many channels is refused, since each channel takes a filter of
// ones.
TEST_F(RequestsCosts, AveragesOf16BitsOverManyChannels) {
  OnnxBuilder b(21);
  const std::string x = b.integer_input<int16_t>({1, 1000000, 1000, 2}, 0.5f, 0);
  b.integer_output<int16_t>(b.node("AveragePool", {x}, {Attr("kernel_shape", Dims{511, 1})}), 0.5f,
                            0);
  expect_refused(b);
}

// A padded pool along too long an axis is refused, since padding is added by a map with an index
// for each element of the axis.
TEST_F(RequestsCosts, PaddedPoolsOfALongAxis) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    OnnxBuilder b;
    const std::string x = b.integer_input<uint8_t>({1, 1, 500000000, 1}, 0.5f, 0);
    std::vector<Attr> attributes = {Attr("kernel_shape", Dims{2, 1}),
                                    Attr("pads", Dims{1, 0, 1, 0}), Attr("ceil_mode", 1),
                                    Attr("strides", Dims{2, 1})};
    if (std::string(op) == "AveragePool") attributes.emplace_back("count_include_pad", 1);
    b.integer_output<uint8_t>(b.node("Relu", {b.node(op, {x}, attributes)}), 0.5f, 3);
    const std::string file = write("m.onnx", b.bytes());
    const CommandResult r = run_within_cost("qrt_convert", {file, "-o", path("out.qrt")}, {file});
    EXPECT_EQ(r.status, 4) << r.err.substr(0, 1000);
    EXPECT_NE(r.err.find("at most 4194304 are supported"), std::string::npos) << r.err;
  }
}

// A transposed convolution with too wide strides is refused: the weights of its phases would be
// mostly zeros.
TEST_F(RequestsCosts, TransposedConvolutionsOfWideStrides) {
  OnnxBuilder onnx;
  const std::string w =
      onnx.dq(onnx.constant<uint8_t>({1000, 1000, 1, 1}, std::vector<uint8_t>(1000000, 1)), 0.5f,
              uint8_t{0});
  onnx.integer_output<uint8_t>(
      onnx.node("ConvTranspose", {onnx.integer_input<uint8_t>({1, 1000, 2, 2}, 0.5f, 0), w},
                {Attr("strides", Dims{8, 8})}),
      0.5f, 0);
  expect_refused(onnx);

  TfliteBuilder tflite;
  tflite::TransposeConvOptionsT o;
  o.stride_h = o.stride_w = 8;
  tflite.op(
      B::TRANSPOSE_CONV,
      {tflite.constant<int32_t>(T::INT32, {4}, {1, 16, 16, 1000}),
       tflite.constant(T::INT8, {1000, 1, 1, 1000}, std::vector<int8_t>(1000000, 1), {0.5f}, {0}),
       tflite.input(T::INT8, {1, 2, 2, 1000}, 0.5f)},
      {tflite.output(T::INT8, {1, 16, 16, 1000}, 0.5f)}, o);
  expect_refused(tflite);
}

// Slopes of a large image are refused, since slopes are repeated for each element of a row.
TEST_F(RequestsCosts, SlopesOfALargeImage) {
  TfliteBuilder b;
  b.op(B::PRELU,
       {b.input(T::INT8, {1, 4000, 4000, 4}, 0.5f),
        b.constant(T::INT8, {4000, 1, 1}, std::vector<int8_t>(4000, 3), {0.5f}, {0})},
       {b.output(T::INT8, {1, 4000, 4000, 4}, 0.5f)});

  expect_refused(b);
}

TEST_F(RequestsCosts, IntegersThatAreRepeated) {
  TfliteBuilder b;
  const int many = b.tensor(T::INT32, {8000, 8000});
  b.op(B::TILE,
       {b.constant<int32_t>(T::INT32, {1, 1}, {7}),
        b.constant<int32_t>(T::INT32, {2}, {8000, 8000})},
       {many});
  b.op(B::ADD, {many, b.input(T::INT32, {1, 1})}, {b.output(T::INT32, {8000, 8000})},
       tflite::AddOptionsT());
  expect_refused(b);
}

// An average of ESP-DL over too many channels is refused, since each channel takes a filter of
// ones.
TEST_F(RequestsCosts, EspdlAveragesOverManyChannels) {
  testing::EspdlBuilder b;
  auto& node =
      b.op("AveragePool", {b.input("x", testing::EspdlType::INT8, {1, 200, 200, 50000}, -4)},
           {b.output("y", testing::EspdlType::INT8, {1, 1, 1, 50000}, -5)});
  testing::set(node, "kernel_shape", {200, 200});
  testing::set(node, "pads", std::vector<int64_t>(4, 0));
  expect_refused(write("m.espdl", b.build()));
}

// Absent zero points are refused for too many scales that are a model input.
TEST_F(RequestsCosts, ZeroPointsOfManyScales) {
  OnnxBuilder b;
  const std::string x = b.input<int8_t>({1, 1000000000}), scales = b.input<float>({1000000000});
  b.output(b.node("DequantizeLinear", {x, scales}, {Attr("axis", 1)}));
  expect_refused(b);
}

// qrt_doctor does not wait for products that take an hour, in a file of 50 KB.
TEST_F(RequestsCosts, TheDoctorDoesNotWait) {
  OnnxBuilder b;
  const std::string w = b.dq(
      b.constant<uint8_t>({64, 64, 3, 3}, std::vector<uint8_t>(64 * 64 * 9, 1)), 0.5f, uint8_t{0});
  std::string x = b.integer_input<uint8_t>({1, 64, 1000, 1000}, 0.5f, 0);
  for (int i = 0; i < 60; ++i)
    x = b.qdq<uint8_t>(b.node("Conv", {x, w}, {Attr("pads", Dims{1, 1, 1, 1})}), 0.5f, 0);
  b.integer_output<uint8_t>(x, 0.5f, 0);
  const std::string file = write("m.onnx", b.bytes());
  const CommandResult r = run_within_cost("qrt_doctor", {file}, {file});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("not measured"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace qrt::requests_costs_test
