// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike and BitCast at run time: every small type to every other, with ONNX Runtime 1.30's
// bits on x86-64.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/edge/numbers.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_cast_test {
namespace {

constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kBool = 9,
              kHalf = 10, kBfloat16 = 16, kE4M3FN = 17, kUint4 = 21, kInt4 = 22, kE2M1 = 23,
              kUint2 = 25, kInt2 = 26;

Bytes bytes(std::initializer_list<int> v) { return Bytes(v.begin(), v.end()); }

// Runs a Cast on an input of `n` elements.
Bytes cast(int from, int to, int64_t n, const Bytes& x, const std::vector<Attr>& more = {}) {
  OnnxBuilder b(25);
  const std::string input = b.input({n});
  b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(from);
  std::vector<Attr> attributes = {{"to", to}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  b.output(b.node("Cast", {input}, attributes));
  const std::vector<Bytes> out = b.run({x});
  return out.empty() ? Bytes() : out[0];
}

// Numbers at ties and limits, with ONNX Runtime's results beside them.
const std::vector<float> kReals = {
    0.5f,    1.5f,     -0.5f,     -1.5f,    2.7f,      -2.7f,         7.9f,   8.5f,
    -8.9f,   -9.5f,    15.9f,     16.2f,    100.4f,    -100.6f,       255.5f, 256.5f,
    -300.2f, 1000.7f,  65535.5f,  70000.3f, -70000.9f, 2147483520.0f, 3e9f,   -3e9f,
    1e20f,   INFINITY, -INFINITY, NAN,      0.0f,      -0.0f,         127.5f, 128.5f};

TEST(OnnxCast, FloatsToBytesLoseTheirFractionAndKeepTheLowBits) {
  const Bytes x = to_bytes(kReals);
  std::vector<uint8_t> low;
  for (float v : kReals) {
    const float t = std::trunc(v);
    const bool fits = t >= -2147483648.0f && t < 2147483648.0f;
    low.push_back(static_cast<uint8_t>(fits ? static_cast<int32_t>(t) : INT32_MIN));
  }
  const auto n = static_cast<int64_t>(kReals.size());
  EXPECT_EQ(cast(kFloat, kUint8, n, x), low);
  EXPECT_EQ(cast(kFloat, kInt8, n, x), low);
}

// Floats are rounded to 4 and 2 bits half away from zero, as in ONNX Runtime, whose results stand here.
TEST(OnnxCast, FloatsToFourAndTwoBits) {
  const std::vector<int> want4 = {1, 2,  -1, -2, 3,  -3, -8, -7, 7, 6, 0, 0, 4, -5, 0, 1,
                                  4, -7, 0,  0,  -1, 0,  0,  0,  0, 0, 0, 0, 0, 0,  0, 1};
  const std::vector<int> want2 = {1, -2, -1, -2, -1, 1, 0, 1, -1, -2, 0, 0, 0, -1, 0, 1,
                                  0, 1,  0,  0,  -1, 0, 0, 0, 0,  0,  0, 0, 0, 0,  0, 1};
  Bytes packed4(16), packed2(8);
  for (size_t i = 0; i < want4.size(); ++i) {
    packed4[i / 2] = static_cast<uint8_t>(packed4[i / 2] | (want4[i] & 15) << (i % 2 * 4));
    packed2[i / 4] = static_cast<uint8_t>(packed2[i / 4] | (want2[i] & 3) << (i % 4 * 2));
  }
  const Bytes x = to_bytes(kReals);
  EXPECT_EQ(cast(kFloat, kInt4, 32, x), packed4);
  EXPECT_EQ(cast(kFloat, kUint4, 32, x), packed4);
  EXPECT_EQ(cast(kFloat, kInt2, 32, x), packed2);
  EXPECT_EQ(cast(kFloat, kUint2, 32, x), packed2);
}

TEST(OnnxCast, FloatsToWiderIntegers) {
  const Bytes x = to_bytes(std::vector<float>{-1.9f, 70000.6f, 2.5f, 3e9f});
  EXPECT_EQ(from_bytes<int16_t>(cast(kFloat, kInt16, 4, x)),
            (std::vector<int16_t>{-1, 4464, 2, 0}));
  EXPECT_EQ(from_bytes<uint16_t>(cast(kFloat, kUint16, 4, x)),
            (std::vector<uint16_t>{65535, 4464, 2, 0}));
  EXPECT_EQ(from_bytes<int32_t>(cast(kFloat, kInt32, 4, x)),
            (std::vector<int32_t>{-1, 70000, 2, std::numeric_limits<int32_t>::min()}));
}

TEST(OnnxCast, AmongFloats) {
  const std::vector<float> v = {1.0f, -0.0f, 1e6f, 0.333333f};
  std::vector<uint16_t> halves, bfloats;
  std::vector<float> back;
  for (float f : v) {
    halves.push_back(float_to_half(f));
    bfloats.push_back(float_to_bfloat(f));
    back.push_back(half_to_float(float_to_half(f)));
  }
  EXPECT_EQ(cast(kFloat, kHalf, 4, to_bytes(v)), to_bytes(halves));
  EXPECT_EQ(cast(kFloat, kBfloat16, 4, to_bytes(v)), to_bytes(bfloats));
  EXPECT_EQ(cast(kHalf, kFloat, 4, to_bytes(halves)), to_bytes(back));
  // 448 is the greatest e4m3fn.
  EXPECT_EQ(cast(kFloat, kE4M3FN, 4, to_bytes(v)), bytes({0x38, 0x80, 0x7e, 0x2b}));
  EXPECT_EQ(cast(kFloat, kE4M3FN, 4, to_bytes(v), {{"saturate", 0}}),
            bytes({0x38, 0x80, 0x7f, 0x2b}));
  EXPECT_EQ(cast(kE4M3FN, kFloat, 4, bytes({0x38, 0x80, 0x7e, 0x2c})),
            to_bytes(std::vector<float>{1, -0.0f, 448, 0.375f}));
  EXPECT_EQ(cast(kFloat, kE2M1, 4, to_bytes(std::vector<float>{-0.0f, 1.5f, 9, -6})),
            bytes({0x38, 0xf7}));
}

TEST(OnnxCast, AmongIntegers) {
  EXPECT_EQ(cast(kInt4, kInt8, 4, bytes({0x8f, 0x70})), bytes({255, 248, 0, 7}));
  EXPECT_EQ(cast(kUint2, kUint8, 4, bytes({0xe4})), bytes({0, 1, 2, 3}));
  EXPECT_EQ(cast(kInt4, kHalf, 2, bytes({0x8f})),
            to_bytes(std::vector<uint16_t>{float_to_half(-1), float_to_half(-8)}));
  EXPECT_EQ(cast(kUint8, kInt8, 3, bytes({0, 127, 200})), bytes({0, 127, 200}));
  EXPECT_EQ(cast(kInt8, kBool, 3, bytes({0, 255, 2})), bytes({0, 1, 1}));
  EXPECT_EQ(cast(kInt16, kInt8, 2, to_bytes(std::vector<int16_t>{-129, 300})), bytes({127, 44}));
  EXPECT_EQ(cast(kUint8, kInt4, 2, bytes({9, 23})), bytes({0x79}));
}

TEST(OnnxCast, TypesThatOnlyConstantsHaveAreRefused) {
  for (const auto& [to, instead] : {std::pair{11, "float32"}, std::pair{12, "int64 or int32"},
                                    std::pair{13, "int64 or int32"}}) {
    OnnxBuilder b;
    b.allow_float = true;
    b.output(b.node("Cast", {b.input<int64_t>({3})}, {{"to", to}}));
    const Imported imported = b.import();
    ASSERT_EQ(imported.refusals(), 1);
    EXPECT_EQ(imported.report.findings()[0].remedy.rfind(
                  std::string("export it with ") + instead + " instead; or ", 0),
              0u)
        << imported.report.findings()[0].remedy;
  }
}

TEST(OnnxCast, LikeAnEmptyTensor) {
  OnnxBuilder b(25);
  const std::string x = b.input({3}), like = b.input<uint8_t>({0});
  b.output(b.node("CastLike", {x, like}));
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.inputs.size(), 1u);
  EXPECT_EQ(b.run({to_bytes(std::vector<float>{1.9f, 255, 0})})[0], bytes({1, 255, 0}));
}

TEST(OnnxCast, BitsOfABytes) {
  OnnxBuilder b(26);
  b.output(b.node("BitCast", {b.input<int8_t>({4})}, {{"to", kUint8}}));
  EXPECT_EQ(b.run({bytes({255, 128, 127, 0})})[0], bytes({255, 128, 127, 0}));
  OnnxBuilder large(26);
  large.output(large.node("BitCast", {large.input<int8_t>({4})}, {{"to", kInt16}}));
  EXPECT_EQ(large.import().status.code(), Code::kInvalidModel);
}

// DynamicQuantizeLinear written as single nodes, as ONNX's specification has it, gives the same results.
TEST(OnnxCast, DynamicQuantisationWrittenOut) {
  std::vector<std::vector<Bytes>> results;
  for (const bool written_out : {false, true}) {
    OnnxBuilder b;
    const std::string x = b.input({6});
    if (!written_out) {
      b.output(b.node("DynamicQuantizeLinear", {x}));
      b.graph().mutable_node(0)->add_output("scale");
      b.graph().mutable_node(0)->add_output("zero");
      b.output("scale");
      b.output("zero");
    } else {
      const std::string zero = b.scalar(0.0f), most = b.scalar(255.0f);
      const std::string lo = b.node("Min", {b.node("ReduceMin", {x}, {{"keepdims", 0}}), zero});
      const std::string hi = b.node("Max", {b.node("ReduceMax", {x}, {{"keepdims", 0}}), zero});
      const std::string scale = b.node("Div", {b.node("Sub", {hi, lo}), most});
      std::string z = b.node("Sub", {zero, b.node("Div", {lo, scale})});
      z = b.node("Round", {b.node("Clip", {z, zero, most})});
      z = b.node("Cast", {z}, {{"to", kUint8}});
      b.output(b.node("QuantizeLinear", {x, scale, z}));
      b.output(b.node("Identity", {scale}));
      b.output(b.node("Identity", {z}));
    }
    results.push_back(b.run({to_bytes(std::vector<float>{-1.3f, 0.2f, 5.1f, 2.55f, -0.01f, 3})}));
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace qrt::testing::onnx_cast_test
