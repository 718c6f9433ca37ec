// SPDX-License-Identifier: Apache-2.0
// Operators that ONNX Runtime puts into the models it saves, beside the standard operators that they
// were made of: both have the same bytes.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/onnx_builder.h"
#include "tests/support/random.h"

namespace qrt::onnx_fused_test {
namespace {

using testing::Attr;
using testing::Bytes;
using testing::Dims;
using testing::Imported;
using testing::Names;
using testing::OnnxBuilder;
using testing::random_integers;

constexpr char kMicrosoft[] = "com.microsoft", kNhwc[] = "com.ms.internal.nhwc";

Attr reals(const char* name, const std::vector<float>& values) {
  Attr a(name, 0);
  a.proto.set_type(onnx::AttributeProto::FLOATS);
  for (float v : values) a.proto.add_floats(v);
  return a;
}

OnnxBuilder builder() {
  OnnxBuilder b;
  auto* nhwc = b.model.add_opset_import();
  nhwc->set_domain(kNhwc);
  nhwc->set_version(16);
  return b;
}

Bytes bytes_of(size_t n) {
  testing::Random random;
  return testing::to_bytes(random_integers<uint8_t>(&random, n));
}

// Runs both models on the same bytes.
void expect_same(const OnnxBuilder& fused, const OnnxBuilder& plain, const std::vector<Bytes>& x) {
  const std::vector<Bytes> expected = plain.run(x), got = fused.run(x);
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(got, expected);
  ASSERT_GT(std::count_if(got[0].begin(), got[0].end(), [&](auto v) { return v != got[0][0]; }), 0);
}

const Dims kToLast{0, 2, 3, 1}, kToFirst{0, 3, 1, 2};
std::string to_first(OnnxBuilder* b, const std::string& x) {
  return b->node("Transpose", {x}, {{"perm", kToFirst}});
}
std::string to_last(OnnxBuilder* b, const std::string& x) {
  return b->node("Transpose", {x}, {{"perm", kToLast}});
}

// Returns the dequantised weights of a convolution of 3 to 4 channels, 3 by 2 pixels.
std::string conv_weights(OnnxBuilder* b) {
  std::vector<int8_t> w(4 * 3 * 3 * 2);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<int8_t>(i * 53 % 255);
  return b->dq<int8_t>(b->constant({4, 3, 3, 2}, w), 0.01f, 0);
}

struct FusedActivation {
  const char* op;
  std::vector<float> parameters;
};

// Adds an activation behind a Conv, with its parameters as the standard operator has them.
std::string activate(OnnxBuilder* b, const FusedActivation& a, const std::string& x) {
  if (a.op == std::string("Silu")) return b->node("Swish", {x});
  if (a.op == std::string("Clip"))
    return b->node("Clip", {x, b->scalar(a.parameters[0]), b->scalar(a.parameters[1])});
  std::vector<Attr> attributes;
  if (!a.parameters.empty()) attributes.emplace_back("alpha", a.parameters[0]);
  if (a.parameters.size() > 1) attributes.emplace_back("beta", a.parameters[1]);
  return b->node(a.op, {x}, attributes);
}

const FusedActivation kActivations[] = {{"Relu", {}},
                                        {"Tanh", {}},
                                        {"Sigmoid", {}},
                                        {"LeakyRelu", {0.25f}},
                                        {"Clip", {-0.5f, 3.0f}},
                                        {"HardSigmoid", {0.3f, 0.4f}}};

OnnxBuilder conv_model(const FusedActivation& a, bool fused, bool sum) {
  OnnxBuilder b = builder();
  b.allow_float = true;
  const std::string x = b.integer_input<uint8_t>({2, 3, 5, 6}, 0.05f, 100);
  const std::string z = sum ? b.integer_input<uint8_t>({2, 4, 4, 5}, 0.04f, 120) : "";
  const std::string w = conv_weights(&b);
  const std::vector<Attr> window = {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 0, 0, 0}}};
  std::string y;
  if (fused) {
    std::vector<Attr> all = window;
    all.emplace_back("activation", a.op);
    if (!a.parameters.empty()) all.push_back(reals("activation_params", a.parameters));
    y = b.node("FusedConv", sum ? Names{x, w, "", z} : Names{x, w}, all, kMicrosoft);
  } else {
    y = b.node("Conv", {x, w}, window);
    if (sum) y = b.node("Add", {y, z});
    y = activate(&b, a, y);
  }
  b.integer_output<uint8_t>(y, 0.03f, 90);
  return b;
}

TEST(OnnxFused, ConvWithActivationIsConvAndActivation) {
  for (const FusedActivation& a : kActivations)
    for (const bool sum : {false, true}) {
      SCOPED_TRACE(std::string(a.op) + (sum ? " of a sum" : ""));
      std::vector<Bytes> x = {bytes_of(2 * 3 * 5 * 6)};
      if (sum) x.push_back(bytes_of(2 * 4 * 4 * 5));
      expect_same(conv_model(a, true, sum), conv_model(a, false, sum), x);
    }
}

TEST(OnnxFused, UnknownActivationsAreRefused) {
  for (const FusedActivation& a : {FusedActivation{"Cube", {}}, FusedActivation{"Clip", {1.0f}},
                                   FusedActivation{"LeakyRelu", {}}}) {
    const Imported model = conv_model(a, true, false).import();
    EXPECT_EQ(model.status.code(), Code::kUnsupported) << a.op;
    EXPECT_EQ(model.refusals(), 1) << a.op;
  }
}

OnnxBuilder gemm_model(bool fused) {
  OnnxBuilder b = builder();
  const std::string x = b.integer_input<uint8_t>({5, 2}, 0.05f, 100);
  const std::string w = b.dq<int8_t>(
      b.constant<int8_t>({5, 3}, {3, -7, 90, 12, -55, 8, 7, 6, 5, 44, 31, -2, 1, 9, -60}), 0.01f,
      0);
  const std::vector<Attr> gemm = {{"transA", 1}};
  if (fused) {
    std::vector<Attr> all = gemm;
    all.emplace_back("activation", "LeakyRelu");
    all.emplace_back("activation_alpha", 0.5f);
    b.integer_output<uint8_t>(b.node("FusedGemm", {x, w}, all, kMicrosoft), 0.03f, 90);
  } else {
    b.integer_output<uint8_t>(
        b.node("LeakyRelu", {b.node("Gemm", {x, w}, gemm)}, {{"alpha", 0.5f}}), 0.03f, 90);
  }
  return b;
}

TEST(OnnxFused, GemmWithActivationIsGemmAndActivation) {
  OnnxBuilder fused = gemm_model(true), plain = gemm_model(false);
  fused.allow_float = plain.allow_float = true;
  expect_same(fused, plain, {bytes_of(10)});
}

struct Product {
  Dims a, b;  // as the fused operator reads them
  bool trans_a, trans_b, outer_a, outer_b;
  Dims a_perm, b_perm;  // {}: none
  const char* op = "FusedMatMul";
};

OnnxBuilder product_model(const Product& p, bool fused) {
  OnnxBuilder b = builder();
  b.allow_float = true;
  std::string left = b.integer_input<uint8_t>(p.a, 0.05f, 100),
              right = b.integer_input<uint8_t>(p.b, 0.02f, 140), y;
  if (fused) {
    y = b.node(p.op, {left, right},
               {{"transA", p.trans_a},
                {"transB", p.trans_b},
                {"transBatchA", p.outer_a},
                {"transBatchB", p.outer_b},
                {"alpha", 0.125f}},
               kMicrosoft);
  } else {
    if (!p.a_perm.empty()) left = b.node("Transpose", {left}, {{"perm", p.a_perm}});
    if (!p.b_perm.empty()) right = b.node("Transpose", {right}, {{"perm", p.b_perm}});
    y = b.node("Mul", {b.node("MatMul", {left, right}), b.scalar(0.125f)});
  }
  b.output(y);
  return b;
}

TEST(OnnxFused, MatMulTransposesAndScales) {
  const Product products[] = {
      {{2, 3, 4}, {2, 4, 5}, false, false, false, false, {}, {}},
      {{4, 3}, {4, 5}, true, false, false, false, {1, 0}, {}},
      {{2, 3, 4}, {2, 5, 4}, false, true, false, false, {}, {0, 2, 1}},
      {{2, 2, 4, 3}, {2, 2, 5, 4}, true, true, false, false, {0, 1, 3, 2}, {0, 1, 3, 2}},
      {{3, 2, 4}, {4, 2, 5}, false, false, true, true, {1, 0, 2}, {1, 0, 2}},
      {{4, 2, 3}, {5, 2, 4}, true, true, true, true, {1, 2, 0}, {1, 2, 0}},
      {{4, 2, 6, 3}, {2, 6, 4, 5}, true, false, true, false, {1, 2, 3, 0}, {}},
      {{4, 3}, {5, 4}, true, true, false, false, {1, 0}, {1, 0}, "TransposeMatMul"},
  };
  for (const Product& p : products) {
    SCOPED_TRACE(&p - products);
    size_t a = 1, b = 1;
    for (int64_t d : p.a) a *= static_cast<size_t>(d);
    for (int64_t d : p.b) b *= static_cast<size_t>(d);
    expect_same(product_model(p, true), product_model(p, false), {bytes_of(a), bytes_of(b)});
  }
}

TEST(OnnxFused, GeluAddsItsBias) {
  for (const char* op : {"BiasGelu", "FastGelu"}) {
    SCOPED_TRACE(op);
    std::vector<OnnxBuilder> models;
    for (const bool fused : {true, false}) {
      OnnxBuilder b = builder();
      b.allow_float = true;
      const std::string x = b.integer_input<uint8_t>({3, 4}, 0.05f, 100);
      const std::string bias = b.constant<float>({4}, {-1.0f, 0.25f, 0.5f, 2.0f});
      const bool tanh = op[0] == 'F';
      b.output(fused ? b.node(op, {x, bias}, {}, kMicrosoft)
                     : b.node("Gelu", {b.node("Add", {x, bias})},
                              {{"approximate", tanh ? "tanh" : "none"}}));
      models.push_back(b);
    }
    expect_same(models[0], models[1], {bytes_of(12)});
  }
}

// An operator on images with its channels last, and between Transposes.
struct ImageOperator {
  const char *domain, *op, *plain_domain, *plain_op;
  std::vector<Attr> attributes;
  bool quantised = false;  // QLinear: has scales and zero points as inputs
};

OnnxBuilder image_model(const ImageOperator& o, bool last) {
  OnnxBuilder b = builder();
  b.allow_float = true;
  Names in;
  std::string y;
  const auto call = [&](const std::string& x, const Names& others) {
    Names inputs = {last ? x : to_first(&b, x)};
    inputs.insert(inputs.end(), others.begin(), others.end());
    y = b.node(last ? o.op : o.plain_op, inputs, o.attributes, last ? o.domain : o.plain_domain);
    if (!last) y = to_last(&b, y);
  };
  const std::string op = o.plain_op;
  if (o.quantised) {
    const std::string x = b.input<uint8_t>({2, 5, 6, 3});
    Names others = {b.scalar(0.05f), b.scalar<uint8_t>(100)};
    if (op == "QLinearConv") {
      std::vector<int8_t> w(4 * 3 * 3 * 2);
      for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<int8_t>(i * 53 % 255);
      others.insert(others.end(),
                    {b.constant({4, 3, 3, 2}, w), b.scalar(0.01f), b.scalar<int8_t>(0)});
    }
    others.insert(others.end(), {b.scalar(0.03f), b.scalar<uint8_t>(90)});
    call(x, others);
    b.output(y);
    return b;
  }
  const std::string x = b.integer_input<uint8_t>({2, 5, 6, 3}, 0.05f, 100);
  Names others;
  if (op == "Conv") others = {conv_weights(&b)};
  if (op == "BatchNormalization")
    for (float v : {2.0f, 0.5f, 0.25f, 1.0f})
      others.push_back(b.constant<float>({3}, {v, 1.0f, v}));
  call(x, others);
  b.integer_output<uint8_t>(y, op == "MaxPool" ? 0.05f : 0.1f, 100);
  return b;
}

TEST(OnnxFused, ImagesWithChannelsLast) {
  const std::vector<Attr> pool = {{"kernel_shape", Dims{2, 3}}, {"strides", Dims{1, 2}}};
  const std::vector<Attr> conv = {{"kernel_shape", Dims{3, 2}}, {"pads", Dims{1, 0, 0, 0}}};
  const ImageOperator operators[] = {
      {kMicrosoft, "NhwcMaxPool", "", "MaxPool", pool},
      {kMicrosoft, "NhwcFusedConv", "", "Conv", conv},
      {kNhwc, "MaxPool", "", "MaxPool", pool},
      {kNhwc, "AveragePool", "", "AveragePool", pool},
      {kNhwc, "GlobalMaxPool", "", "GlobalMaxPool", {}},
      {kNhwc, "GlobalAveragePool", "", "GlobalAveragePool", {}},
      {kNhwc, "Conv", "", "Conv", conv},
      {kNhwc, "Conv", "", "Conv", {}},
      {kNhwc, "BatchNormalization", "", "BatchNormalization", {}},
      {kNhwc, "SpaceToDepth", "", "SpaceToDepth", {{"blocksize", 1}}},
      {kNhwc, "QLinearConv", "", "QLinearConv", conv, true},
      {kNhwc, "QLinearConv", "", "QLinearConv", {}, true},
      {kNhwc, "QLinearAveragePool", kMicrosoft, "QLinearAveragePool", pool, true},
      {kNhwc, "QLinearGlobalAveragePool", kMicrosoft, "QLinearGlobalAveragePool", {}, true},
  };
  for (const ImageOperator& o : operators) {
    SCOPED_TRACE(o.op);
    expect_same(image_model(o, true), image_model(o, false), {bytes_of(2 * 5 * 6 * 3)});
  }
}

TEST(OnnxFused, PoolsInBlocksOfChannels) {
  std::vector<OnnxBuilder> models;
  for (const bool blocks : {true, false}) {
    OnnxBuilder b = builder();
    auto* nchwc = b.model.add_opset_import();
    nchwc->set_domain("com.microsoft.nchwc");
    nchwc->set_version(1);
    const char* domain = blocks ? "com.microsoft.nchwc" : "";
    std::string x = b.integer_input<uint8_t>({1, 16, 4, 4}, 0.05f, 100);
    if (blocks) x = b.node("ReorderInput", {x}, {}, domain);
    x = b.node("MaxPool", {x}, {{"kernel_shape", Dims{2, 2}}}, domain);
    if (blocks) x = b.node("ReorderOutput", {x}, {{"channels", 16}}, domain);
    b.integer_output<uint8_t>(x, 0.05f, 100);
    models.push_back(b);
  }
  expect_same(models[0], models[1], {bytes_of(16 * 16)});
}

TEST(OnnxFused, ConvInBlocksOfChannelsIsRefused) {
  OnnxBuilder b = builder();
  auto* nchwc = b.model.add_opset_import();
  nchwc->set_domain("com.microsoft.nchwc");
  nchwc->set_version(1);
  const std::string x = b.integer_input<uint8_t>({1, 3, 5, 6}, 0.05f, 100);
  b.integer_output<uint8_t>(b.node("Conv", {x, conv_weights(&b)}, {}, "com.microsoft.nchwc"), 0.03f,
                            90);
  const Imported model = b.import();
  EXPECT_EQ(model.status.code(), Code::kUnsupported);
  EXPECT_EQ(model.rule(),
            "its channels are in blocks whose size depends on the CPU on which ONNX Runtime saved "
            "the model");
}

TEST(OnnxFused, FilesNeedNotImportTheSetsOfTheParts) {
  OnnxBuilder b = builder();
  b.output(b.node("NhwcMaxPool", {b.input<uint8_t>({1, 4, 4, 2})}, {{"kernel_shape", Dims{2, 2}}},
                  kMicrosoft));
  b.model.mutable_opset_import()->DeleteSubrange(0, 1);
  ASSERT_EQ(b.model.opset_import(0).domain(), kMicrosoft);
  ASSERT_EQ(b.run({bytes_of(32)}).size(), 1u);
}

}  // namespace
}  // namespace qrt::onnx_fused_test
