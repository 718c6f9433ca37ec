// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear as operators of their own: every
// option, and the results of ONNX Runtime 1.30 (x86-64) where they are not the plain formula.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/edge.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_edge_test {
namespace {

// TensorProto::DataType
constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kHalf = 10,
              kBfloat16 = 16, kE4M3FN = 17, kE4M3FNUZ = 18, kE5M2 = 19, kE5M2FNUZ = 20, kUint4 = 21,
              kInt4 = 22, kE2M1 = 23, kE8M0 = 24, kUint2 = 25, kInt2 = 26;

constexpr float kInf = INFINITY;

struct Builder : OnnxBuilder {
  Builder() : OnnxBuilder(25) {}

  std::string input_of(int type, const Dims& dims) {
    const std::string name = "in" + std::to_string(graph().input_size());
    declare(graph().add_input(), name, type, dims);
    return name;
  }
  // Raw data of any type.
  std::string data(int type, const Dims& dims, const Bytes& bytes) {
    onnx::TensorProto* t = graph().add_initializer();
    t->set_name("raw" + std::to_string(graph().initializer_size()));
    t->set_data_type(type);
    for (int64_t d : dims) t->add_dims(d);
    t->set_raw_data(bytes.data(), bytes.size());
    return t->name();
  }
  std::string halves(const Dims& dims, const std::vector<float>& values) {
    std::vector<uint16_t> h;
    for (const float v : values) h.push_back(float_to_half(v));
    return data(kHalf, dims, to_bytes(h));
  }
};

std::vector<uint16_t> halves(const std::vector<float>& values) {
  std::vector<uint16_t> h;
  for (const float v : values) h.push_back(float_to_half(v));
  return h;
}

const std::vector<float> kOdd = {kInf,  -kInf, NAN,  3e38f, -3e38f, 1e10f,   -1e10f, 2.5f,
                                 -0.5f, 7.5f,  1.5f, 0.5f,  400.0f, -400.0f, 3e9f,   -3e9f};

// --- what the plain formula does not say, as ONNX Runtime has it

TEST(OnnxEdge, Float32LimitsBeforeItConverts) {
  Builder b;
  b.output(b.node("QuantizeLinear", {b.input({16}), b.input({}), b.input<int8_t>({})}));
  const auto y = b.run_to<int8_t>(
      {to_bytes(kOdd), to_bytes(std::vector<float>{1}), to_bytes(std::vector<int8_t>{-5})});
  ASSERT_EQ(y, (std::vector<int8_t>{127, -128, -128, 127, -128, 127, -128, -3, -5, 3, -3, -5, 127,
                                    -128, 127, -128}));
}

TEST(OnnxEdge, Float16ConvertsBeforeItLimits) {
  for (const int8_t zp : {-5, 5}) {
    Builder b;
    b.output(b.node("QuantizeLinear",
                    {b.input_of(kHalf, {16}), b.halves({}, {1}), b.scalar<int8_t>(zp)}));
    const auto y = b.run_to<int8_t>({to_bytes(halves(kOdd))});
    const int8_t far = zp < 0 ? 127 : -128;  // INT32_MIN + zp modulo 2^32
    const auto s = [&](int v) { return static_cast<int8_t>(v + zp); };
    ASSERT_EQ(y, (std::vector<int8_t>{far, far, far, far, far, far, far, s(2), s(0), s(8), s(2),
                                      s(0), 127, -128, far, far}));
  }
}

TEST(OnnxEdge, BlocksOfAnInnerAxisConvertBeforeTheyLimit) {
  for (const int64_t block : {2, 3}) {
    Builder inner, last;
    const auto run = [&](Builder& b, int64_t axis, const Dims& dims) {
      const std::vector<float> scale(8, 1.0f);
      const std::vector<int8_t> zp(8, -5);
      b.output(
          b.node("QuantizeLinear",
                 {b.input({4, 4}), b.constant<float>(dims, scale), b.constant<int8_t>(dims, zp)},
                 {{"axis", axis}, {"block_size", block}}));
      return b.run_to<int8_t>({to_bytes(kOdd)});
    };
    ASSERT_EQ(run(inner, 0, {2, 4}), (std::vector<int8_t>{127, 127, 127, 127, 127, 127, 127, -3, -5,
                                                          3, -3, -5, 127, -128, 127, 127}));
    ASSERT_EQ(run(last, -1, {4, 2}), (std::vector<int8_t>{127, -128, -128, 127, -128, 127, -128, -3,
                                                          -5, 3, -3, -5, 127, -128, 127, -128}));
  }
}

// Infinities saturate as in ONNX Runtime; without saturation the tables of the ONNX documents hold.
TEST(OnnxEdge, Float8OutOfRange) {
  const std::vector<float> x = {kInf, -kInf, NAN, 500, 464, 465, 240, 248, 249, 65536, -0.0f};
  struct {
    int type;
    int64_t saturate;
    Bytes want;
  } const cases[] = {
      {kE4M3FN, 1, {0x7e, 0xfe, 0x7f, 0x7e, 0x7e, 0x7e, 0x77, 0x78, 0x78, 0x7e, 0x80}},
      {kE4M3FN, 0, {0x7f, 0xff, 0x7f, 0x7f, 0x7e, 0x7f, 0x77, 0x78, 0x78, 0x7f, 0x80}},
      {kE4M3FNUZ, 1, {0x7f, 0xff, 0x80, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x00}},
      {kE4M3FNUZ, 0, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 0x80, 0x80, 0x80, 0x00}},
      {kE5M2, 1, {0x7b, 0xfb, 0x7f, 0x60, 0x5f, 0x5f, 0x5c, 0x5c, 0x5c, 0x7b, 0x80}},
      {kE5M2, 0, {0x7c, 0xfc, 0x7f, 0x60, 0x5f, 0x5f, 0x5c, 0x5c, 0x5c, 0x7c, 0x80}},
      {kE5M2FNUZ, 1, {0x7f, 0xff, 0x80, 0x64, 0x63, 0x63, 0x60, 0x60, 0x60, 0x7f, 0x00}},
      {kE5M2FNUZ, 0, {0x80, 0x80, 0x80, 0x64, 0x63, 0x63, 0x60, 0x60, 0x60, 0x80, 0x00}},
  };
  for (const auto& c : cases) {
    Builder b;
    b.output(b.node("QuantizeLinear", {b.input({11}), b.scalar(1.0f), b.data(c.type, {}, {0})},
                    {{"saturate", c.saturate}}));
    ASSERT_EQ(b.run({to_bytes(x)})[0], c.want) << c.type << ", saturate " << c.saturate;
  }
}

TEST(OnnxEdge, Float4AlwaysSaturatesAndHasNoNaN) {
  Builder b;
  b.output(b.node("QuantizeLinear", {b.input({11}), b.scalar(2.0f), b.data(kE2M1, {}, {0})}));
  // Halves of these: 0.25, 0.75, 1.25 and 5 are ties.
  const std::vector<float> x = {0, -0.5f, 0.5f, 1.5f, 2.5f, 10, 10.1f, 1e9f, -kInf, NAN, -12};
  ASSERT_EQ(b.run({to_bytes(x)})[0], (Bytes{0x80, 0x20, 0x62, 0x77, 0x7f, 0x0f}));
}

// --- types and their packing

TEST(OnnxEdge, SubByteTypesArePackedInMemory) {
  const std::vector<float> x = {-9, -8, -1, 0.5f, 1, 7, 8, 15, 99};
  struct {
    int type;
    Bytes want;
  } const cases[] = {{kInt4, {0x88, 0x0f, 0x71, 0x77, 0x07}},
                     {kUint4, {0x00, 0x00, 0x71, 0xf8, 0x0f}},
                     {kInt2, {0x3a, 0x55, 0x01}},
                     {kUint2, {0x00, 0xfd, 0x03}}};
  for (const auto& c : cases) {
    Builder b;
    const std::string q =
        b.node("QuantizeLinear", {b.input({9}), b.scalar(1.0f), b.data(c.type, {}, {0})});
    b.output(q);
    b.output(b.node("DequantizeLinear", {q, b.scalar(0.5f), b.data(c.type, {}, {1})}));
    const auto y = b.run({to_bytes(x)});
    ASSERT_EQ(y[0], c.want) << c.type;
    std::vector<float> back;
    for (size_t i = 0; i < 9; ++i) {
      const int bits = c.type >= kUint2 ? 2 : 4;
      int v = static_cast<int>(code_at(c.want, bits, i));
      if ((c.type == kInt4 || c.type == kInt2) && v >= 1 << (bits - 1)) v -= 1 << bits;
      back.push_back(static_cast<float>(v - 1) * 0.5f);
    }
    ASSERT_EQ(from_bytes<float>(y[1]), back) << c.type;
  }
}

TEST(OnnxEdge, PackedInputsAndConstants) {
  Builder b;  // x - zp of uint4 per axis, a constant packed over rows of odd length
  const std::string zp = b.data(kUint4, {3}, {0x21, 0x03});
  const std::string x = b.data(kUint4, {2, 3}, {0x54, 0x76, 0x98});
  b.output(b.node("DequantizeLinear",
                  {b.input_of(kUint4, {2, 3}), b.constant<float>({3}, {1, 2, 3}), zp}));
  b.output(b.node("DequantizeLinear", {x, b.halves({3}, {1, 2, 3}), zp}));
  const auto y = b.run({{0x54, 0x76, 0x98}});
  ASSERT_EQ(from_bytes<float>(y[0]), (std::vector<float>{3, 6, 9, 6, 12, 18}));
  ASSERT_EQ(from_bytes<uint16_t>(y[1]), halves({3, 6, 9, 6, 12, 18}));
}

TEST(OnnxEdge, TheOutputsTypeIsTheZeroPointsOrTheAttributesOrUint8) {
  const std::vector<float> x = {-200, 300};
  Builder plain, attribute, both;
  plain.output(plain.node("QuantizeLinear", {plain.input({2}), plain.input({})}));
  ASSERT_EQ(plain.run({to_bytes(x), to_bytes(std::vector<float>{1})})[0], (Bytes{0, 255}));
  for (const bool runtime : {false, true}) {
    Builder b;
    const std::string scale = runtime ? b.input({}) : b.scalar(1.0f);
    const std::string q =
        b.node("QuantizeLinear", {b.input({2}), scale}, {{"output_dtype", kInt8}});
    b.output(q);
    std::vector<Bytes> inputs = {to_bytes(x)};
    if (runtime) inputs = {to_bytes(std::vector<float>{1}), to_bytes(x)};
    ASSERT_EQ(b.run_to<int8_t>(inputs), (std::vector<int8_t>{-128, 127}));
  }
  attribute.output(attribute.node("QuantizeLinear", {attribute.input({2}), attribute.scalar(1.0f)},
                                  {{"output_dtype", kInt16}}));
  ASSERT_EQ(attribute.run_to<int16_t>({to_bytes(x)}), (std::vector<int16_t>{-200, 300}));
  both.output(both.node("QuantizeLinear",
                        {both.input({2}), both.input({}), both.input<uint8_t>({})},
                        {{"output_dtype", kInt8}}));
  const Imported imported = both.import();
  ASSERT_EQ(imported.status.code(), Code::kInvalidModel);
  ASSERT_NE(std::string(imported.status.message()).find("output_dtype is int8"), std::string::npos);
}

TEST(OnnxEdge, DequantizesToTheAttributesTypeOrTheScales) {
  Builder b;
  const std::string x = b.input<int8_t>({3}), scale = b.scalar(0.1f);
  const std::string half_scale = b.halves({}, {0.1f});
  b.output(b.node("DequantizeLinear", {x, half_scale}));
  b.output(b.node("DequantizeLinear", {x, scale}, {{"output_dtype", kHalf}}));
  b.output(
      b.node("DequantizeLinear", {x, scale, b.scalar<int8_t>(-5)}, {{"output_dtype", kBfloat16}}));
  const auto y = b.run({to_bytes(std::vector<int8_t>{-128, 0, 127})});
  const float h = half_to_float(float_to_half(0.1f));
  ASSERT_EQ(from_bytes<uint16_t>(y[0]), halves({-128 * h, 0, 127 * h}));
  ASSERT_EQ(from_bytes<uint16_t>(y[1]), halves({-128 * 0.1f, 0, 127 * 0.1f}));
  ASSERT_EQ(from_bytes<uint16_t>(y[2]),
            (std::vector<uint16_t>{float_to_bfloat(-123 * 0.1f), float_to_bfloat(5 * 0.1f),
                                   float_to_bfloat(132 * 0.1f)}));
}

TEST(OnnxEdge, EveryTypeGoesThereAndBack) {
  for (const int type : {kUint8, kInt8, kUint16, kInt16, kE4M3FN, kE4M3FNUZ, kE5M2, kE5M2FNUZ,
                         kUint4, kInt4, kE2M1, kUint2, kInt2}) {
    for (const int real : {kFloat, kHalf, kBfloat16}) {
      Builder b;
      const Bytes one = real == kFloat  ? to_bytes(std::vector<float>{0.5f})
                        : real == kHalf ? to_bytes(halves({0.5f}))
                                        : to_bytes(std::vector<uint16_t>{0x3f00});
      const std::string scale = b.data(real, {}, one);
      const std::string q =
          b.node("QuantizeLinear", {b.input_of(real, {4}), scale}, {{"output_dtype", type}});
      b.output(b.node("DequantizeLinear", {q, scale}));
      std::vector<float> x = {0, 0.5f, 0.5f, 0};
      Bytes in = to_bytes(x);
      if (real == kHalf) in = to_bytes(halves(x));
      if (real == kBfloat16) in = to_bytes(std::vector<uint16_t>{0, 0x3f00, 0x3f00, 0});
      ASSERT_EQ(b.run({in})[0], in) << type << " of " << real;
    }
  }
}

TEST(OnnxEdge, Int32IsDividedByTheScalesType) {
  Builder b;
  const std::string x = b.input<int32_t>({4});
  b.output(b.node("QuantizeLinear", {x, b.scalar<int32_t>(2), b.scalar<int8_t>(1)}));
  b.output(b.node("QuantizeLinear", {x, b.scalar(0.5f), b.scalar<uint8_t>(1)}));
  const auto y = b.run({to_bytes(std::vector<int32_t>{3, 5, -7, 2147483647})});
  // 1.5, 2.5, -3.5 to even
  ASSERT_EQ(from_bytes<int8_t>(y[0]), (std::vector<int8_t>{3, 3, -3, 127}));
  ASSERT_EQ(y[1], (Bytes{7, 11, 0, 0}));  // 2^32: no int32
}

TEST(OnnxEdge, PrecisionIsTheTypeOfTheDivision) {
  Builder b;
  const std::string x = b.input({1}), scale = b.scalar(1.0f), zp = b.scalar<uint8_t>(0);
  for (const int type : {0, kFloat, kHalf, kBfloat16})
    b.output(b.node("QuantizeLinear", {x, scale, zp}, {{"precision", type}}));
  const auto y = b.run({to_bytes(std::vector<float>{100.51f})});
  ASSERT_EQ(int{y[0][0]}, 101);
  ASSERT_EQ(int{y[1][0]}, 101);
  ASSERT_EQ(int{y[2][0]}, 100);  // 100.5 in float16
  ASSERT_EQ(int{y[3][0]}, 100);  // 100.5 in bfloat16
}

TEST(OnnxEdge, PowersOfTwoAsScales) {
  Builder b;
  const std::string scale = b.data(kE8M0, {2}, {126, 129});
  const std::string q =
      b.node("QuantizeLinear", {b.input({2, 2}), scale}, {{"output_dtype", kInt8}});
  b.output(q);
  b.output(b.node("DequantizeLinear", {q, scale}, {{"output_dtype", kFloat}}));
  const auto y = b.run({to_bytes(std::vector<float>{1, 8, -3, 9})});
  ASSERT_EQ(from_bytes<int8_t>(y[0]), (std::vector<int8_t>{2, 2, -6, 2}));
  ASSERT_EQ(from_bytes<float>(y[1]), (std::vector<float>{1, 8, -3, 8}));
}

// --- axes and blocks

TEST(OnnxEdge, AxesCountFromTheEndToo) {
  for (const int64_t axis : {1, -2}) {
    Builder b;
    b.output(b.node("QuantizeLinear", {b.input({2, 2, 2}), b.input({2}), b.input<uint8_t>({2})},
                    {{"axis", axis}}));
    ASSERT_EQ(b.run({to_bytes(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}),
                     to_bytes(std::vector<float>{1, 0.5f}),
                     {0, 10}})[0],
              (Bytes{1, 2, 16, 18, 5, 6, 24, 26}));
  }
}

TEST(OnnxEdge, BlocksOfAnyAxisWithAPartialLastOne) {
  for (const bool named : {true, false}) {  // without block_size: ceil(5 / 3)
    Builder b;
    std::vector<Attr> attributes = {{"axis", -2}};
    const std::string x = b.input({5, 2}), scale = b.constant<float>({3, 2}, {1, 2, 4, 8, 16, 32});
    const std::string q =
        named ? b.node("QuantizeLinear", {x, scale}, {{"axis", -2}, {"block_size", 2}})
              : b.node("QuantizeLinear", {x, scale}, {{"axis", 0}});
    b.output(q);
    b.output(b.node("DequantizeLinear", {q, scale}, {{"axis", 0}, {"block_size", 2}}));
    const auto y = b.run({to_bytes(std::vector<float>(10, 64.0f))});
    ASSERT_EQ(y[0], (Bytes{64, 32, 64, 32, 16, 8, 16, 8, 4, 2}));
    ASSERT_EQ(from_bytes<float>(y[1]), std::vector<float>(10, 64.0f));
  }
}

// ONNX Runtime subtracts it modulo 2^32.
TEST(OnnxEdge, Int32HasAZeroPoint) {
  OnnxBuilder b;
  const std::string x = b.input<int32_t>({2, 3});
  b.output(b.dq<int32_t>(x, 0.5f, 77));
  b.output(b.node("DequantizeLinear", {x, b.constant<float>({3}, {0.5f, 2.0f, 0.25f}),
                                       b.constant<int32_t>({3}, {1, -2, 0})}));
  const std::vector<int32_t> in = {0, 77, -5, 100, -2147483647, 1 << 20};
  const std::vector<Bytes> out = b.run({to_bytes(in)});
  ASSERT_EQ(out.size(), 2u);
  std::vector<float> whole, columns;
  const float scale[] = {0.5f, 2.0f, 0.25f};
  const int32_t zero[] = {1, -2, 0};
  for (size_t i = 0; i < in.size(); ++i) {
    const auto less = [&](int32_t z) {
      return static_cast<float>(
          static_cast<int32_t>(static_cast<uint32_t>(in[i]) - static_cast<uint32_t>(z)));
    };
    whole.push_back(less(77) * 0.5f);
    columns.push_back(less(zero[i % 3]) * scale[i % 3]);
  }
  EXPECT_EQ(from_bytes<float>(out[0]), whole);
  EXPECT_EQ(from_bytes<float>(out[1]), columns);
}

TEST(OnnxEdge, AttributesOfALaterOpsetAreInvalid) {
  for (const int64_t opset : {19, 21}) {
    OnnxBuilder b(opset);
    b.output(b.node("DequantizeLinear",
                    {b.constant<int8_t>({4}, {1, 2, 3, 4}), b.constant<float>({2}, {0.5f, 2.0f})},
                    {{"axis", 0}, {"block_size", 2}}));
    b.output(b.qdq<uint8_t>(b.input({1, 4}), 0.5f, 3));
    const Imported imported = b.import();
    EXPECT_EQ(imported.status.code(), opset < 21 ? Code::kInvalidModel : Code::kOk);
    if (opset >= 21) continue;
    EXPECT_NE(std::string(imported.status.message()).find("block_size is there from opset 21 on"),
              std::string::npos)
        << imported.status.message();
  }
}

TEST(OnnxEdge, BlocksOfATensorOfOneDimension) {
  Builder b;
  b.output(
      b.node("QuantizeLinear", {b.input({5}), b.input({2})}, {{"axis", 0}, {"block_size", 3}}));
  ASSERT_EQ(b.run({to_bytes(std::vector<float>(5, 8.0f)), to_bytes(std::vector<float>{1, 4})})[0],
            (Bytes{8, 8, 8, 2, 2}));
}

TEST(OnnxEdge, RefusesShapesThatDoNotFit) {
  const auto message = [](const Dims& x, const Dims& scale, const Dims& zp, int64_t axis,
                          int64_t block) {
    Builder b;
    b.output(b.node("QuantizeLinear", {b.input(x), b.input(scale), b.input<uint8_t>(zp)},
                    {{"axis", axis}, {"block_size", block}}));
    const Imported imported = b.import();
    EXPECT_EQ(imported.status.code(), Code::kInvalidModel);
    return std::string(imported.status.message());
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message({2, 3}, {3}, {3}, 2, 0), "axis 2 is outside the tensor's 2 dimensions");
  has(message({2, 3}, {3}, {3}, 0, 0), "the scale has 3 elements, axis 0 of [2, 3] needs 2");
  has(message({2, 3}, {3}, {3}, 1, 2), "the scale has shape [3], which is that of [2, 3]");
  has(message({4, 6}, {4, 3}, {4, 3}, 1, 3), "blocks of 3 along axis 1 of [4, 6] need 2 scales");
  has(message({4, 6}, {2, 3}, {2, 3}, 1, 2), "the scale has shape [2, 3]");
  has(message({4, 6}, {4, 3}, {4, 2}, 1, 2), "has 8 elements, its scale 12");
  has(message({4, 6}, {4, 3}, {4, 3}, 1, -2), "block_size is -2");
}

TEST(OnnxEdge, ADifferentBatchDoesNotFitBlocks) {
  Builder b;
  b.output(b.node("QuantizeLinear", {b.input({-1, 4}), b.constant<float>({1, 2}, {1, 2})},
                  {{"axis", 1}, {"block_size", 2}}));
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_EQ(b.run({to_bytes(std::vector<float>{4, 4, 4, 4})})[0], (Bytes{4, 4, 2, 2}));
}

TEST(OnnxEdge, RefusesWhatNoQuantizeLinearHas) {
  Builder type, precision, scale;
  type.output(
      type.node("QuantizeLinear", {type.input({2}), type.scalar(1.0f)}, {{"output_dtype", 7}}));
  EXPECT_EQ(type.import().rule(), "the output is int64");
  precision.output(precision.node("QuantizeLinear", {precision.input({2}), precision.scalar(1.0f)},
                                  {{"precision", 11}}));
  EXPECT_NE(precision.import().rule().find("another precision"), std::string::npos);
  scale.output(
      scale.node("DequantizeLinear", {scale.input<uint8_t>({2}), scale.input<int64_t>({})}));
  EXPECT_NE(scale.import().rule().find("its scale is int64"), std::string::npos);
}

// --- DynamicQuantizeLinear

TEST(OnnxEdge, DynamicQuantizeLinearFeedsItsOwnInverse) {
  Builder b;
  onnx::NodeProto* n = b.graph().add_node();
  n->set_op_type("DynamicQuantizeLinear");
  n->add_input(b.input({6}));
  for (const char* name : {"y", "scale", "zero"}) n->add_output(name);
  for (const char* name : {"y", "scale", "zero"}) b.output(name);
  b.output(b.node("DequantizeLinear", {"y", "scale", "zero"}));
  const auto y = b.run({to_bytes(std::vector<float>{0, 2, -3, -2.5f, 1.34f, 0.5f})});
  ASSERT_EQ(y[0], (Bytes{153, 255, 0, 26, 221, 179}));  // the operator's own example
  const float scale = 5.0f / 255;
  ASSERT_EQ(from_bytes<float>(y[1]), std::vector<float>{scale});
  ASSERT_EQ(y[2], Bytes{153});
  ASSERT_EQ(from_bytes<float>(y[3]), (std::vector<float>{0, 102 * scale, -153 * scale, -127 * scale,
                                                         68 * scale, 26 * scale}));
}

// --- AMD Quark

struct QuarkBuilder : Builder {
  explicit QuarkBuilder(const char* name = "com.amd.quark") : domain(name) {
    auto* opset = model.add_opset_import();
    opset->set_domain(name);
    opset->set_version(1);
    stem = domain == "com.vai.quantize" ? "Vitis" : "Extended";
  }
  std::string quantize(const Names& inputs, std::initializer_list<Attr> attributes = {}) {
    return node(stem + "QuantizeLinear", inputs, attributes, domain);
  }
  std::string dequantize(const Names& inputs, std::initializer_list<Attr> attributes = {}) {
    return node(stem + "DequantizeLinear", inputs, attributes, domain);
  }
  std::string domain, stem;
};

// Quark's QuantizeLinear computes HE(x / scale) in int64, then adds the zero point, then limits; a
// quotient beyond int64 is INT64_MIN.
TEST(OnnxQuark, IntegersOfEveryWidth) {
  const std::vector<float> x = {2.5f, -3.5f, 1e6f, -1e6f, 5e9f, -5e9f, 1e19f, kInf, NAN};
  struct {
    int type;
    std::vector<int64_t> want;  // scale 0.5, zero point 3
  } const cases[] = {
      {kInt8, {8, -4, 127, -128, 127, -128, -128, -128, -128}},
      {kUint8, {8, 0, 255, 0, 255, 0, 0, 0, 0}},
      {kInt16, {8, -4, 32767, -32768, 32767, -32768, -32768, -32768, -32768}},
      {kUint16, {8, 0, 65535, 0, 65535, 0, 0, 0, 0}},
      {kInt32, {8, -4, 2000003, -1999997, INT32_MAX, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN}},
      {12, {8, 0, 2000003, 0, UINT32_MAX, 0, 0, 0, 0}},  // uint32
  };
  for (const char* domain : {"com.amd.quark", "com.vai.quantize"}) {
    for (const auto& c : cases) {
      QuarkBuilder b(domain);
      const size_t bytes = c.type == kInt32 || c.type == 12 ? 4 : c.type >= kUint16 ? 2 : 1;
      Bytes three(bytes);
      three[0] = 3;
      const std::string zp = b.data(c.type, {}, three), scale = b.scalar(0.5f);
      const std::string q = b.quantize({b.input({9}), scale, zp});
      b.output(q);
      b.output(b.dequantize({q, scale, zp}));
      const auto y = b.run({to_bytes(x)});
      Bytes want;
      std::vector<float> back;
      for (const int64_t v : c.want) {
        const auto* from = reinterpret_cast<const uint8_t*>(&v);
        want.insert(want.end(), from, from + bytes);
        back.push_back(static_cast<float>(v - 3) * 0.5f);
      }
      ASSERT_EQ(y[0], want) << c.type;
      ASSERT_EQ(from_bytes<float>(y[1]), back) << c.type;
    }
  }
}

TEST(OnnxQuark, Float16IgnoresScaleAndZeroPoint) {
  QuarkBuilder b;
  const std::string zp = b.halves({}, {7}), scale = b.scalar(0.5f);
  const std::string q = b.quantize({b.input({5}), scale, zp});
  b.output(q);
  b.output(b.dequantize({q, scale, zp}));
  const auto y = b.run({to_bytes(std::vector<float>{1.5f, 1e6f, -kInf, 0.1f, -2})});
  const std::vector<uint16_t> want = halves({1.5f, 65504, -65504, 0.1f, -2});
  ASSERT_EQ(from_bytes<uint16_t>(y[0]), want);
  ASSERT_EQ(from_bytes<float>(y[1]),
            (std::vector<float>{1.5f, 65504, -65504, half_to_float(float_to_half(0.1f)), -2}));
}

TEST(OnnxQuark, BFloat16DoesNotRoundToIntegers) {
  QuarkBuilder b;
  const std::string zp = b.data(kBfloat16, {}, {0x40, 0x40});  // 3
  const std::string scale = b.scalar(0.5f);
  const std::string q = b.quantize({b.input({3}), scale, zp});
  b.output(q);
  b.output(b.dequantize({q, scale, zp}));
  const auto y = b.run({to_bytes(std::vector<float>{1, 0.3f, -40.1f})});
  std::vector<uint16_t> want;
  std::vector<float> back;
  for (const float x : {1.0f, 0.3f, -40.1f}) {
    want.push_back(float_to_bfloat(x / 0.5f + 3.0f));
    back.push_back((bfloat_to_float(want.back()) - 3.0f) * 0.5f);
  }
  ASSERT_EQ(from_bytes<uint16_t>(y[0]), want);
  ASSERT_EQ(from_bytes<float>(y[1]), back);
}

TEST(OnnxQuark, TwoInputsAreUint8AndAnAxisCounts) {
  QuarkBuilder b;
  const std::string q = b.quantize({b.input({2, 2}), b.constant<float>({2}, {1, 2})});
  b.output(q);
  b.output(b.quantize({b.input({2, 2}), b.constant<float>({2}, {1, 2})}, {{"axis", -2}}));
  const auto y =
      b.run({to_bytes(std::vector<float>{4, 4, 6, -1}), to_bytes(std::vector<float>{4, 4, 6, -1})});
  ASSERT_EQ(y[0], (Bytes{4, 2, 6, 0}));
  ASSERT_EQ(y[1], (Bytes{4, 4, 3, 0}));
}

// A graph of 8-bit pairs is an integer graph, as with ONNX's own operators.
TEST(OnnxQuark, EightBitPairsRunOnTheIntegerKernels) {
  const auto build = [](Builder* b, const std::string& q, const std::string& dq,
                        const std::string& domain) {
    const std::string scale = b->scalar(0.5f), zp = b->scalar<uint8_t>(10);
    const auto pair = [&](const std::string& x) {
      return b->node(dq, {b->node(q, {x, scale, zp}, {}, domain), scale, zp}, {}, domain);
    };
    const std::string w = b->constant<int8_t>({2, 3}, {1, -2, 3, -4, 5, -6});
    const std::string weights =
        b->node(dq, {w, b->scalar(0.25f), b->scalar<int8_t>(0)}, {}, domain);
    const std::string bias = b->node(
        dq, {b->constant<int32_t>({2}, {100, -7}), b->scalar(0.125f), b->scalar<int32_t>(0)}, {},
        domain);
    const std::string y = b->node("Gemm", {pair(b->input({1, 3})), weights, bias}, {{"transB", 1}});
    b->output(pair(y));
  };
  QuarkBuilder quark;
  Builder onnx;
  build(&quark, "ExtendedQuantizeLinear", "ExtendedDequantizeLinear", "com.amd.quark");
  build(&onnx, "QuantizeLinear", "DequantizeLinear", "");
  const Imported imported = quark.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
  EXPECT_EQ(imported.count(fb::OpOptions::FullyConnected), 1);
  const Bytes x = to_bytes(std::vector<float>{3.2f, -4.7f, 20.1f});
  ASSERT_EQ(quark.run({x}), onnx.run({x}));
}

}  // namespace
}  // namespace qrt::testing::onnx_edge_test
