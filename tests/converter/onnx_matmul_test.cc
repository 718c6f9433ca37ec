// SPDX-License-Identifier: Apache-2.0
// Gemm, MatMul and their QLinear forms against a naive product of the source's own integers.
#include <gtest/gtest.h>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_matmul_test {
namespace {

constexpr float kXScale = 0.05f, kYScale = 4.7f;
constexpr int64_t kRows = 3, kIn = 11, kOut = 5;

// x [rows, in], w [in, out] with one scale and zero point per column.
struct Product {
  std::vector<uint8_t> x;
  std::vector<int8_t> w;
  std::vector<float> w_scale = {0.02f, 0.001f, 0.03125f, 0.07f, 0.011f};
  std::vector<int8_t> w_zero = {0, 3, -128, 127, 1};
  std::vector<int32_t> bias;
  int x_zero = 131, y_zero = 77;

  explicit Product(bool with_bias = false) {
    Random random;
    x = random_integers<uint8_t>(&random, kRows * kIn);
    w = random_integers<int8_t>(&random, kIn * kOut);
    for (int i = 0; i < kOut; ++i)
      bias.push_back(with_bias ? static_cast<int32_t>(random.integer(-4000, 4000)) : 0);
  }
  int32_t acc(int64_t r, int64_t o) const {
    int32_t sum = bias[static_cast<size_t>(o)];
    for (int64_t i = 0; i < kIn; ++i)
      sum += (x[static_cast<size_t>(r * kIn + i)] - x_zero) *
             (w[static_cast<size_t>(i * kOut + o)] - w_zero[static_cast<size_t>(o)]);
    return sum;
  }
  std::vector<float> products(float alpha = 1.0f) const {
    std::vector<float> p;
    const float scaled = alpha * kXScale;
    for (float s : w_scale) p.push_back(scaled * s);
    return p;
  }
  std::vector<uint8_t> quantized(float alpha = 1.0f) const {
    std::vector<uint8_t> y;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t o = 0; o < kOut; ++o)
        y.push_back(requantize_reference<uint8_t>(
            acc(r, o), products(alpha)[static_cast<size_t>(o)] / kYScale, y_zero));
    return y;
  }
  std::vector<float> real() const {
    std::vector<float> y;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t o = 0; o < kOut; ++o)
        y.push_back(static_cast<float>(acc(r, o)) * products()[static_cast<size_t>(o)]);
    return y;
  }
  Names weights(OnnxBuilder* b) const {
    return {b->constant<int8_t>({kIn, kOut}, w), b->constant({kOut}, w_scale),
            b->constant<int8_t>({kOut}, w_zero)};
  }
  std::string dequantized(OnnxBuilder* b) const {
    return b->node("DequantizeLinear", weights(b), {{"axis", 1}});
  }
  std::string input(OnnxBuilder* b, const Dims& dims = {kRows, kIn}) const {
    return b->integer_input<uint8_t>(dims, kXScale, static_cast<uint8_t>(x_zero));
  }
  std::string integer_bias(OnnxBuilder* b) const {
    return b->node("DequantizeLinear",
                   {b->constant<int32_t>({kOut}, bias), b->constant({kOut}, products())},
                   {{"axis", 0}});
  }
  void finish(OnnxBuilder* b, const std::string& y) const {
    b->integer_output<uint8_t>(y, kYScale, static_cast<uint8_t>(y_zero));
  }
};

TEST(OnnxMatMul, ColumnsHaveTheirOwnScalesAndZeroPoints) {
  const Product p;
  OnnxBuilder b;
  p.finish(&b, b.node("MatMul", {p.input(&b), p.dequantized(&b)}));
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());
}

TEST(OnnxMatMul, BatchDimensionsAndVectorsKeepNumpysShapes) {
  const Product p;
  for (const Dims& dims : {Dims{1, kRows, kIn}, Dims{kRows, 1, kIn}}) {
    OnnxBuilder b;
    p.finish(&b, b.node("MatMul", {p.input(&b, dims), p.dequantized(&b)}));
    const Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok());
    EXPECT_EQ(imported.graph.values[imported.graph.outputs[0]].type.shape,
              (Shape{dims[0], dims[1], kOut}));
    ASSERT_EQ(b.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());
  }
  OnnxBuilder vector;
  p.finish(&vector, vector.node("MatMul", {p.input(&vector, {kIn}), p.dequantized(&vector)}));
  const Imported imported = vector.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  EXPECT_EQ(imported.graph.values[imported.graph.outputs[0]].type.shape, (Shape{kOut}));
}

TEST(OnnxMatMul, WithoutQuantizeTheAccumulatorsAreDequantised) {
  const Product p;
  OnnxBuilder b;
  b.output(b.node("MatMul", {p.input(&b), p.dequantized(&b)}));
  ASSERT_EQ(b.run_to<float>({to_bytes(p.x)}), p.real());
}

TEST(OnnxMatMul, AddOfAConstantRowIsABias) {
  const Product p(true);
  OnnxBuilder integer;
  p.finish(
      &integer,
      integer.node("Add", {integer.node("MatMul", {p.input(&integer), p.dequantized(&integer)}),
                           p.integer_bias(&integer)}));
  const Imported imported = integer.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  EXPECT_EQ(imported.graph.nodes[0].source_op, "MatMul+Add");
  ASSERT_EQ(integer.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());

  std::vector<float> real;
  for (size_t i = 0; i < kOut; ++i) real.push_back(static_cast<float>(p.bias[i]) * p.products()[i]);
  OnnxBuilder floating;
  const std::string row = floating.constant({kOut}, real);
  p.finish(
      &floating,
      floating.node(
          "Add", {row, floating.node("MatMul", {p.input(&floating), p.dequantized(&floating)})}));
  ASSERT_EQ(floating.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());
}

TEST(OnnxMatMul, QLinearMatMul) {
  const Product p;
  OnnxBuilder b;
  Names inputs = {b.input<uint8_t>({kRows, kIn}), b.scalar(kXScale),
                  b.scalar(static_cast<uint8_t>(p.x_zero))};
  for (const std::string& w : p.weights(&b)) inputs.push_back(w);
  inputs.push_back(b.scalar(kYScale));
  inputs.push_back(b.scalar(static_cast<uint8_t>(p.y_zero)));
  b.output(b.node("QLinearMatMul", inputs));
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());
}

// A Relu keeps a product of three dimensions one of integers, with ONNX Runtime's numbers: behind
// the Reshape that it puts between the two, no type can make the product one of floats, so its bias
// counts in units of x * w.
TEST(OnnxMatMul, ReluKeepsAProductOfThreeDimensionsOneOfIntegers) {
  for (const bool relu : {false, true}) {
    OnnxBuilder b;
    const std::string w =
        b.dq(b.constant<int8_t>({4, 2}, std::vector<int8_t>(8, 1)), 1.0f, int8_t{0});
    const std::string bias =
        b.node("DequantizeLinear", {b.constant<int32_t>({2}, {10, 10}), b.scalar(2.0f)});
    std::string y = b.node("MatMul", {b.integer_input<uint8_t>({1, 2, 4}, 1.0f, 0), w});
    y = b.node("Add", {y, bias});
    if (relu) y = b.node("Relu", {y});
    b.integer_output<int8_t>(y, 1.0f, -128);
    const int8_t sum = relu ? 30 - 128 : 40 - 128;
    EXPECT_EQ(b.run_to<int8_t>({to_bytes(std::vector<uint8_t>(8, 5))}),
              std::vector<int8_t>(4, sum));
  }
}

// A product's own zero point counts, whatever made the bytes of its input.
TEST(OnnxMatMul, ZeroPointsThatTheirInputDoesNotHave) {
  const Product p;
  OnnxBuilder b;
  const std::string x = b.q(b.input({kRows, kIn}), 1.0f, uint8_t{7});
  const std::string w = b.constant<int8_t>({kIn, kOut}, p.w), w_zero = p.weights(&b)[2];
  b.output(b.node("MatMulInteger", {x, w, b.scalar(static_cast<uint8_t>(p.x_zero)), w_zero}));
  b.output(b.node("MatMulInteger", {x, w, b.input<uint8_t>({}), w_zero}));
  std::vector<float> real;
  for (uint8_t v : p.x) real.push_back(static_cast<float>(v) - 7);
  const std::vector<Bytes> y =
      b.run({to_bytes(real), to_bytes(std::vector<uint8_t>{static_cast<uint8_t>(p.x_zero)})});
  ASSERT_EQ(y.size(), 2u);
  std::vector<int32_t> sums;
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t o = 0; o < kOut; ++o) sums.push_back(p.acc(r, o));
  EXPECT_EQ(from_bytes<int32_t>(y[0]), sums);
  EXPECT_EQ(from_bytes<int32_t>(y[1]), sums);
}

TEST(OnnxMatMul, RefusesScalesPerRow) {
  OnnxBuilder b;
  const std::string w = b.node(
      "DequantizeLinear",
      {b.constant<int8_t>({2, 2}, {1, 2, 3, 4}), b.constant<float>({2}, {1, 2})}, {{"axis", 0}});
  b.integer_output<uint8_t>(b.node("MatMul", {b.integer_input<uint8_t>({2, 2}, 1.0f, 0), w}), 1.0f,
                            0);
  EXPECT_NE(b.import().rule().find("along axis 0"), std::string::npos);
}

// Scales per row of a computed side are refused. ONNX Runtime takes them for scales of columns
// where their numbers are equal, so floats of either meaning would differ from its results.
TEST(OnnxMatMul, RefusesScalesPerRowOfAComputedSide) {
  for (const int64_t columns : {2, 3}) {
    OnnxBuilder b;
    b.allow_float = true;
    const std::string w = b.node("DequantizeLinear",
                                 {b.input<uint8_t>({2, columns}), b.constant<float>({2}, {1, 2}),
                                  b.constant<uint8_t>({2}, {0, 0})},
                                 {{"axis", 0}});
    b.integer_output<uint8_t>(b.node("MatMul", {b.integer_input<uint8_t>({2, 2}, 1.0f, 0), w}),
                              1.0f, 0);
    const Imported imported = b.import();
    EXPECT_EQ(imported.status.ok(), columns != 2);
    if (columns != 2) continue;
    EXPECT_NE(imported.rule().find("quantised along axis 0"), std::string::npos);
  }
}

TEST(OnnxGemm, BiasAndTransposedWeights) {
  const Product p(true);
  OnnxBuilder b;
  std::vector<int8_t> turned;
  for (int64_t o = 0; o < kOut; ++o)
    for (int64_t i = 0; i < kIn; ++i) turned.push_back(p.w[static_cast<size_t>(i * kOut + o)]);
  const std::string w =
      b.node("DequantizeLinear",
             {b.constant<int8_t>({kOut, kIn}, turned), b.constant({kOut}, p.w_scale),
              b.constant<int8_t>({kOut}, p.w_zero)},
             {{"axis", 0}});
  p.finish(&b, b.node("Gemm", {p.input(&b), w, p.integer_bias(&b)}, {{"transB", 1}}));
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());
}

TEST(OnnxGemm, TransposedInput) {
  const Product p;
  OnnxBuilder b;
  p.finish(&b, b.node("Gemm", {p.input(&b, {kIn, kRows}), p.dequantized(&b)}, {{"transA", 1}}));
  std::vector<uint8_t> turned;
  for (int64_t i = 0; i < kIn; ++i)
    for (int64_t r = 0; r < kRows; ++r) turned.push_back(p.x[static_cast<size_t>(r * kIn + i)]);
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(turned)}), p.quantized());
}

TEST(OnnxGemm, AlphaScalesTheInputFirst) {
  const Product p;
  OnnxBuilder b;
  p.finish(&b, b.node("Gemm", {p.input(&b), p.dequantized(&b)}, {{"alpha", 0.37f}}));
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(p.x)}), p.quantized(0.37f));
}

TEST(OnnxGemm, BiasScaleIsNotChecked) {
  const Product p(true);
  OnnxBuilder b;
  const std::string bias =
      b.node("DequantizeLinear", {b.constant<int32_t>({kOut}, p.bias), b.scalar(123.0f)});
  p.finish(&b, b.node("Gemm", {p.input(&b), p.dequantized(&b), bias}));
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());
}

TEST(OnnxGemm, FloatResultWithIntegerBias) {
  const Product p(true);
  OnnxBuilder b;
  b.output(b.node("Gemm", {p.input(&b), p.dequantized(&b), p.integer_bias(&b)}));
  ASSERT_EQ(b.run_to<float>({to_bytes(p.x)}), p.real());
}

// A bias with values for every row is added in float, as ONNX Runtime does; numbers of such
// products stand in onnx_bits.
TEST(OnnxGemm, ABiasOfItsOwnForEveryRowIsAddedInFloat) {
  const Product p;
  OnnxBuilder rows;
  const std::string matrix = rows.constant({kRows, kOut}, std::vector<float>(kRows * kOut, 1.0f));
  p.finish(&rows, rows.node("Gemm", {p.input(&rows), p.dequantized(&rows), matrix}));
  EXPECT_EQ(rows.import().count(fb::OpOptions::Float), 1u);
}

// Integers for every row are refused, also in float: ONNX Runtime adds its integers to those of the
// product, and floats would be rounded once more.
TEST(OnnxGemm, RefusesIntegersForEveryRowInFloatToo) {
  const Product p;
  OnnxBuilder rows;
  rows.allow_float = true;
  const std::string matrix = rows.dq<int32_t>(
      rows.constant({kRows, kOut}, std::vector<int32_t>(kRows * kOut, 1)), 0.01f, 0);
  rows.output(rows.node("Gemm", {p.input(&rows), p.dequantized(&rows), matrix}));
  EXPECT_NE(rows.import().rule().find("differs from row to row"), std::string::npos);
}

TEST(OnnxGemm, QGemmWithAndWithoutOutputScale) {
  const Product p(true);
  for (const bool quantized : {true, false}) {
    OnnxBuilder b;
    Names inputs = {b.input<uint8_t>({kRows, kIn}), b.scalar(kXScale),
                    b.scalar(static_cast<uint8_t>(p.x_zero))};
    for (const std::string& w : p.weights(&b)) inputs.push_back(w);
    inputs.push_back(b.constant<int32_t>({1, kOut}, p.bias));
    if (quantized) {
      inputs.push_back(b.scalar(kYScale));
      inputs.push_back(b.scalar(static_cast<uint8_t>(p.y_zero)));
    }
    b.output(b.node("QGemm", inputs, {}, "com.microsoft"));
    if (quantized) {
      ASSERT_EQ(b.run_to<uint8_t>({to_bytes(p.x)}), p.quantized());
    } else {
      ASSERT_EQ(b.run_to<float>({to_bytes(p.x)}), p.real());
    }
  }
}

}  // namespace
}  // namespace qrt::testing::onnx_matmul_test
