// SPDX-License-Identifier: Apache-2.0
// Operators that stand for several: Attention, QAttention and EmbedLayerNormalization of com.microsoft, and Einsum. Each has the bytes of
// the operators that it stands for.
#include <gtest/gtest.h>

#include <functional>

#include "kernels/integer_build.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_packed_attention_test {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";
constexpr int64_t kBatch = 2, kTokens = 3, kIn = 8, kHeads = 2, kWidth = 12;

std::vector<float> reals(size_t n, int step) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = static_cast<float>(static_cast<int>(i) * step % 61 - 30) / 32.0f;
  return v;
}

Bytes run(const std::function<std::string(OnnxBuilder*)>& make, const std::vector<Bytes>& inputs) {
  OnnxBuilder b(17);
  b.allow_float = true;
  b.output(make(&b));
  const std::vector<Bytes> outputs = b.run(inputs);
  return outputs.empty() ? Bytes() : outputs[0];
}

// Expects both graphs to have the same results, which are not empty.
void expect_same(const std::function<std::string(OnnxBuilder*)>& a,
                 const std::function<std::string(OnnxBuilder*)>& b,
                 const std::vector<Bytes>& inputs) {
  const Bytes of_a = run(a, inputs);
  EXPECT_FALSE(of_a.empty());
  EXPECT_EQ(of_a, run(b, inputs));
}

// Makes an attention of several heads of queries, keys and values [b, s, 3 * kWidth].
std::string attention_of(OnnxBuilder* b, const std::string& product, const Names& more,
                         const std::vector<Attr>& attributes) {
  Names inputs;
  for (int64_t i = 0; i < 3; ++i)
    inputs.push_back(b->node(
        "Slice", {product, b->constant<int64_t>({1}, {i * kWidth}),
                  b->constant<int64_t>({1}, {(i + 1) * kWidth}), b->constant<int64_t>({1}, {2})}));
  inputs.insert(inputs.end(), more.begin(), more.end());
  std::vector<Attr> all = attributes;
  all.emplace_back("num_heads", kHeads);
  return b->node("MultiHeadAttention", inputs, all, kMicrosoft);
}

std::string weights(OnnxBuilder* b) {
  return b->constant<float>({kIn, 3 * kWidth}, reals(kIn * 3 * kWidth, 7));
}
std::string bias(OnnxBuilder* b) { return b->constant<float>({3 * kWidth}, reals(3 * kWidth, 5)); }

void check_attention(const std::function<std::string(OnnxBuilder*)>& mask, int64_t causal) {
  const std::vector<Bytes> inputs = {to_bytes(reals(kBatch * kTokens * kIn, 11))};
  const Attr direction("unidirectional", causal);
  expect_same(
      [&](OnnxBuilder* b) {
        Names names = {b->input({kBatch, kTokens, kIn}), weights(b), bias(b)};
        if (mask) names.push_back(mask(b));
        return b->node("Attention", names, {direction, Attr("num_heads", kHeads)}, kMicrosoft);
      },
      [&](OnnxBuilder* b) {
        const std::string product =
            b->node("MatMul", {b->input({kBatch, kTokens, kIn}), weights(b)});
        Names more;
        if (mask) more = {"", mask(b)};
        return attention_of(b, b->node("Add", {product, bias(b)}), more, {direction});
      },
      inputs);
}

TEST(OnnxPackedAttention, IsAProductAndAnAttention) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  check_attention(nullptr, 0);
  check_attention(nullptr, 1);
  check_attention(
      [](OnnxBuilder* b) {
        return b->constant<int32_t>({kBatch, kTokens}, {1, 1, 0, 0, 1, 1});
      },
      0);
  // The lengths 2 and 3 count the same keys as a mask.
  const auto counted = [](bool by_lengths) {
    return [by_lengths](OnnxBuilder* b) {
      const std::string mask = by_lengths
                                   ? b->constant<int32_t>({kBatch}, {2, 3})
                                   : b->constant<int32_t>({kBatch, kTokens}, {1, 1, 0, 1, 1, 1});
      return b->node("Attention", {b->input({kBatch, kTokens, kIn}), weights(b), bias(b), mask},
                     {Attr("num_heads", kHeads)}, kMicrosoft);
    };
  };
  expect_same(counted(true), counted(false), {to_bytes(reals(kBatch * kTokens * kIn, 11))});
}

TEST(OnnxPackedAttention, OfQuantisedInputsIsTheirProductAndAnAttention) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  std::vector<int8_t> w(kIn * 3 * kWidth);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<int8_t>(static_cast<int>(i) * 29 % 127 - 63);
  const auto make = [&](bool is_packed) {
    return [&w, is_packed](OnnxBuilder* b) {
      const std::string x = b->node("DynamicQuantizeLinear", {b->input({kBatch, kTokens, kIn})});
      auto* node = b->graph().mutable_node(b->graph().node_size() - 1);
      node->add_output("x_scale");
      node->add_output("x_zero");
      const std::string of_w = b->constant<int8_t>({kIn, 3 * kWidth}, w), scale = b->scalar(0.01f);
      if (is_packed)
        return b->node("QAttention", {x, of_w, bias(b), "x_scale", scale, "", "x_zero"},
                       {Attr("num_heads", kHeads)}, kMicrosoft);
      const std::string product =
          b->node("MatMulIntegerToFloat", {x, of_w, "x_scale", scale, "x_zero", "", bias(b)}, {},
                  kMicrosoft);
      return attention_of(b, product, {}, {});
    };
  };
  expect_same(make(true), make(false), {to_bytes(reals(kBatch * kTokens * kIn, 11))});
}

TEST(OnnxPackedAttention, EmbeddingsAreRowsOfTablesNormalised) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  const auto table = [](OnnxBuilder* b, int64_t rows, int step) {
    return b->constant<float>({rows, kIn}, reals(static_cast<size_t>(rows * kIn), step));
  };
  const std::vector<Bytes> ids = {to_bytes(std::vector<int32_t>{4, 0, 9, 1, 1, 8}),
                                  to_bytes(std::vector<int32_t>{0, 1, 1, 0, 0, 1})};
  const std::vector<float> ones(kIn, 1.0f);
  expect_same(
      [&](OnnxBuilder* b) {
        return b->node("EmbedLayerNormalization",
                       {b->input<int32_t>({kBatch, kTokens}), b->input<int32_t>({kBatch, kTokens}),
                        table(b, 10, 7), table(b, 5, 11), table(b, 2, 13),
                        b->constant<float>({kIn}, ones), b->constant<float>({kIn}, reals(kIn, 5))},
                       {Attr("epsilon", 1e-5f)}, kMicrosoft);
      },
      [&](OnnxBuilder* b) {
        const std::string words = b->input<int32_t>({kBatch, kTokens}),
                          segments = b->input<int32_t>({kBatch, kTokens});
        const std::string places = b->constant<int64_t>({kTokens}, {0, 1, 2});
        const std::string sum = b->node("Add", {b->node("Gather", {table(b, 10, 7), words}),
                                                b->node("Gather", {table(b, 5, 11), places})});
        const std::string all =
            b->node("Add", {sum, b->node("Gather", {table(b, 2, 13), segments})});
        return b->node(
            "LayerNormalization",
            {all, b->constant<float>({kIn}, ones), b->constant<float>({kIn}, reals(kIn, 5))},
            {Attr("epsilon", 1e-5f)});
      },
      ids);
}

TEST(OnnxPackedAttention, QuantisedEmbeddingsAreThoseOfDequantisedTables) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  const std::vector<Bytes> ids = {to_bytes(std::vector<int32_t>{4, 0, 9, 1, 1, 8}),
                                  to_bytes(std::vector<int32_t>{0, 1, 1, 0, 0, 1})};
  // Words, positions, segments, scale and bias.
  const std::vector<Dims> dims = {{10, kIn}, {5, kIn}, {2, kIn}, {kIn}, {kIn}};
  const std::vector<float> scales = {0.01f, 0.013f, 0.007f, 0.009f, 0.02f};
  const std::vector<uint8_t> zeros = {131, 121, 128, 38, 139};
  const auto make = [&](bool is_quantised) {
    return [&, is_quantised](OnnxBuilder* b) {
      Names inputs = {b->input<int32_t>({kBatch, kTokens}), b->input<int32_t>({kBatch, kTokens})};
      Names parameters;
      for (size_t i = 0; i < dims.size(); ++i) {
        std::vector<uint8_t> codes(static_cast<size_t>(dims[i][0] * (i < 3 ? kIn : 1)));
        for (size_t k = 0; k < codes.size(); ++k) codes[k] = static_cast<uint8_t>(k * 37 + i);
        const std::string table = b->constant<uint8_t>(dims[i], codes);
        const std::string scale = b->scalar(scales[i]), zero = b->scalar(zeros[i]);
        inputs.push_back(is_quantised ? table : b->node("DequantizeLinear", {table, scale, zero}));
        parameters.insert(parameters.begin() + static_cast<ptrdiff_t>(i), scale);
        parameters.push_back(zero);
      }
      if (!is_quantised)
        return b->node("EmbedLayerNormalization", inputs, {Attr("epsilon", 1e-5f)}, kMicrosoft);
      inputs.push_back("");
      inputs.insert(inputs.end(), parameters.begin(), parameters.end());
      return b->node("QEmbedLayerNormalization", inputs, {Attr("epsilon", 1e-5f)}, kMicrosoft);
    };
  };
  expect_same(make(true), make(false), ids);
}

TEST(OnnxPackedAttention, EmbeddingsRefuseIdsOutsideAndCountTheMask) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string ids = b.input<int32_t>({1, 2}), mask = b.input<int32_t>({1, 2});
  const std::string ones = b.constant<float>({2}, {1, 1});
  b.output(b.node("EmbedLayerNormalization",
                  {ids, "", b.constant<float>({3, 2}, {1, 2, 3, 5, 8, 1}),
                   b.constant<float>({2, 2}, {0, 0, 0, 0}), "", ones, ones, mask},
                  {}, kMicrosoft));
  b.graph().mutable_node(b.graph().node_size() - 1)->add_output("lengths");
  b.output("lengths");
  const std::vector<Bytes> y =
      b.run({to_bytes(std::vector<int32_t>{2, 0}), to_bytes(std::vector<int32_t>{1, 0})});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(from_bytes<int32_t>(y[1]), std::vector<int32_t>{1});
}

TEST(OnnxEinsum, IsTheProductsItStandsFor) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  const auto w = [](OnnxBuilder* b) { return b->constant<float>({5, 3}, reals(15, 7)); };
  const auto v = [](OnnxBuilder* b) { return b->constant<float>({3, 4}, reals(12, 5)); };
  const Dims dims = {2, 4, 5};
  const std::vector<Bytes> inputs = {to_bytes(reals(40, 11))};
  const auto einsum = [&](const char* equation, bool has_third) {
    return [=](OnnxBuilder* b) {
      Names names = {b->input(dims), w(b)};
      if (has_third) names.push_back(v(b));
      return b->node("Einsum", names, {Attr("equation", equation)});
    };
  };
  const auto product = [&](OnnxBuilder* b) { return b->node("MatMul", {b->input(dims), w(b)}); };
  expect_same(einsum("...c,cd->...d", false), product, inputs);
  expect_same(einsum("... c , cd", false), product, inputs);
  expect_same(
      einsum("abc,cd,de->abe", true),
      [&](OnnxBuilder* b) {
        return b->node("MatMul", {product(b), v(b)});
      },
      inputs);
  expect_same(
      einsum("abc,cd->ab", false),
      [&](OnnxBuilder* b) {
        const std::string sums = b->node("ReduceSum", {w(b), b->constant<int64_t>({1}, {1})});
        return b->node("Squeeze",
                       {b->node("MatMul", {b->input(dims), sums}), b->constant<int64_t>({1}, {2})});
      },
      inputs);
}

TEST(OnnxEinsum, RefusesWhatItDoesNotKnow) {
  const auto refused = [](const char* equation, const Dims& b_dims) {
    OnnxBuilder b(17);
    b.allow_float = true;
    b.output(b.node("Einsum", {b.input({2, 3}), b.input(b_dims)}, {Attr("equation", equation)}));
    const Imported imported = b.import();
    EXPECT_EQ(imported.status.code(), Code::kUnsupported);
    return imported.rule();
  };
  EXPECT_NE(refused("aa,ab->b", {2, 2}).find("has a letter twice"), std::string::npos);
  EXPECT_NE(refused("ab,b1->a", {3, 2}).find("or has other characters"), std::string::npos);
  EXPECT_NE(refused("...a,ab->b", {3, 2}).find("leaves its ellipsis out"), std::string::npos);
  EXPECT_NE(refused("...b,...b->...", {3}).find("gives it different ranks"), std::string::npos);
  EXPECT_NE(refused("ab,cb->ac", {4, 1}).find("it broadcasts dimension b"), std::string::npos);
  EXPECT_NE(refused("...b,...b->...", {4, 3}).find("of its ellipsis"), std::string::npos);
}

}  // namespace
}  // namespace qrt::testing::onnx_packed_attention_test
