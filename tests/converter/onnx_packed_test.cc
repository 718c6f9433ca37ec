// SPDX-License-Identifier: Apache-2.0
// Weights of 4 and 2 bits in QDQ graphs: kept as such in the file, with or without zero points of
// their own, and the outputs of the same weights in 8 bits. In blocks: refused, or in float.
#include <gtest/gtest.h>

#include "kernels/edge/packed.h"
#include "kernels/integer_build.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_packed_test {
namespace {

constexpr int kUint8 = 2, kInt8 = 3, kUint4 = 21, kInt4 = 22, kUint2 = 25, kInt2 = 26;

struct Type {
  int onnx, bits, lo, hi;
  DType stored;
};
constexpr Type kTypes[] = {{kInt4, 4, -8, 7, DType::kInt4},
                           {kUint4, 4, 0, 15, DType::kInt4},
                           {kInt2, 2, -2, 1, DType::kInt2},
                           {kUint2, 2, 0, 3, DType::kInt2}};

std::string tensor(OnnxBuilder* b, int type, int bits, const Dims& dims,
                   const std::vector<int>& elements) {
  Bytes codes(elements.begin(), elements.end()), data(codes);
  if (bits < 8) {
    data.resize((codes.size() * static_cast<size_t>(bits) + 7) / 8);
    pack_codes(bits, codes.data(), codes.size(), data.data());
  }
  onnx::TensorProto* t = b->graph().add_initializer();
  t->set_name("raw" + std::to_string(b->graph().initializer_size()));
  t->set_data_type(type);
  for (int64_t d : dims) t->add_dims(d);
  t->set_raw_data(data.data(), data.size());
  return t->name();
}

enum class Zeros { kNone, kOne, kPerChannel };

struct Layer {
  const char* op;
  Dims x, w;
  int axis;
  std::initializer_list<Attr> attributes;
  Zeros zeros;
};

// Returns the layer with weights of `type`, or with the same integers in 8 bits.
OnnxBuilder model(const Layer& layer, const Type& type, bool is_int16) {
  OnnxBuilder b(25);
  Random random;
  size_t count = 1;
  for (int64_t d : layer.w) count *= static_cast<size_t>(d);
  std::vector<int> w(count);
  random.fill(w, type.lo, type.hi);
  const int stored = !is_int16 ? type.onnx : type.lo < 0 ? kInt8 : kUint8;
  const int bits = is_int16 ? 8 : type.bits;
  const int64_t channels = layer.w[static_cast<size_t>(layer.axis)];
  const bool per_channel = layer.zeros != Zeros::kOne;
  const auto each = static_cast<size_t>(per_channel ? channels : 1);
  std::vector<float> scales(each);
  for (float& s : scales) s = random.real(0.01f, 0.1f);
  std::vector<int> zeros(each);
  random.fill(zeros, type.lo, type.hi);
  const Dims dims = per_channel ? Dims{channels} : Dims{};
  Names inputs = {tensor(&b, stored, bits, layer.w, w), b.constant(dims, scales)};
  if (layer.zeros != Zeros::kNone) inputs.push_back(tensor(&b, stored, bits, dims, zeros));
  const std::string weights = b.node("DequantizeLinear", inputs, {{"axis", layer.axis}});
  const std::string x = b.integer_input<uint8_t>(layer.x, 0.05f, 120);
  b.integer_output<uint8_t>(b.node(layer.op, {x, weights}, layer.attributes), 0.5f, 130);
  return b;
}

const Layer kLayers[] = {
    {"Conv", {1, 5, 7, 6}, {19, 5, 3, 3}, 0, {{"pads", Dims{1, 1, 1, 1}}}, Zeros::kNone},
    {"Conv", {1, 3, 7, 6}, {20, 3, 3, 3}, 0, {{"pads", Dims{0, 1, 1, 0}}}, Zeros::kPerChannel},
    {"Conv", {1, 8, 5, 5}, {34, 4, 1, 1}, 0, {{"group", 2}}, Zeros::kPerChannel},
    {"Conv", {1, 18, 6, 5}, {18, 1, 3, 3}, 0, {{"group", 18}}, Zeros::kPerChannel},
    {"Conv", {1, 18, 6, 5}, {18, 1, 5, 3}, 0, {{"group", 18}}, Zeros::kOne},
    {"ConvTranspose", {1, 4, 5, 5}, {4, 6, 3, 3}, 0, {{"strides", Dims{2, 2}}}, Zeros::kOne},
    {"MatMul", {3, 37}, {37, 21}, 1, {}, Zeros::kNone},
    {"MatMul", {2, 3, 37}, {37, 21}, 1, {}, Zeros::kPerChannel},
    {"Gemm", {3, 20}, {17, 20}, 0, {{"transB", 1}}, Zeros::kPerChannel},
    {"Gemm", {3, 20}, {20, 17}, 1, {}, Zeros::kOne},
};

TEST(OnnxPacked, WeightsStayNarrowAndComputeAsInEightBits) {
  for (const Layer& layer : kLayers)
    for (const Type& type : kTypes) {
      SCOPED_TRACE(std::string(layer.op) + " " + std::to_string(type.onnx) + " " +
                   std::to_string(static_cast<int>(layer.zeros)));
      const OnnxBuilder narrow = model(layer, type, false), wide = model(layer, type, true);
      size_t size = 1;
      for (int64_t d : layer.x) size *= static_cast<size_t>(d);
      Random random;
      const Bytes x = random_integers<uint8_t>(&random, size);
      const std::vector<Bytes> expected = wide.run({x});
      ASSERT_EQ(narrow.run({x}), expected);
      Imported imported = narrow.import();
      ASSERT_TRUE(run_passes(&imported.graph, nullptr).ok());
      int packed = 0;
      for (const convert::Node& node : imported.graph.nodes) {
        if (!node.options.AsConv2D() && !node.options.AsDepthwiseConv2D() &&
            !node.options.AsFullyConnected())
          continue;
        ++packed;
        EXPECT_EQ(imported.graph.values[node.inputs[1]].type.dtype, type.stored)
            << convert::dump(imported.graph);
      }
      EXPECT_EQ(packed, 1);
    }
}

// Returns a product of x [2, 32] with weights of 4 bits in blocks of 16 rows; with `gemm` the
// weights are transposed.
OnnxBuilder blocked_model(bool gemm, std::vector<float>* weights) {
  OnnxBuilder b(25);
  Random random;
  constexpr int64_t kIn = 32, kOut = 5, kBlock = 16;
  std::vector<int> w(kIn * kOut), zeros(kIn / kBlock * kOut);
  std::vector<float> scales(zeros.size());
  random.fill(w, -8, 7);
  random.fill(zeros, -8, 7);
  for (float& s : scales) s = random.real(0.01f, 0.1f);
  weights->resize(w.size());
  for (size_t k = 0; k < kIn; ++k)
    for (size_t o = 0; o < kOut; ++o) {
      const size_t at = gemm ? o * kIn + k : k * kOut + o;
      const size_t block = gemm ? o * (kIn / kBlock) + k / kBlock : k / kBlock * kOut + o;
      (*weights)[k * kOut + o] = static_cast<float>(w[at] - zeros[block]) * scales[block];
    }
  const Dims shape = gemm ? Dims{kOut, kIn} : Dims{kIn, kOut};
  const Dims blocks = gemm ? Dims{kOut, kIn / kBlock} : Dims{kIn / kBlock, kOut};
  const std::string dq = b.node("DequantizeLinear",
                                {tensor(&b, kInt4, 4, shape, w), b.constant(blocks, scales),
                                 tensor(&b, kInt4, 4, blocks, zeros)},
                                {{"axis", gemm ? 1 : 0}, {"block_size", kBlock}});
  const std::string x = b.integer_input<uint8_t>({2, kIn}, 0.05f, 120);
  const std::string y =
      gemm ? b.node("Gemm", {x, dq}, {{"transB", 1}, {"alpha", 0.5f}}) : b.node("MatMul", {x, dq});
  b.integer_output<uint8_t>(y, 0.25f, 130);
  return b;
}

TEST(OnnxPacked, WeightsInBlocksAreRefusedWithTheirReason) {
  std::vector<float> weights;
  for (const bool gemm : {false, true}) {
    const Imported imported = blocked_model(gemm, &weights).import();
    EXPECT_EQ(imported.status.code(), Code::kUnsupported);
    EXPECT_NE(imported.rule().find("quantised in blocks of 16"), std::string::npos)
        << imported.rule();
  }
}

TEST(OnnxPacked, WeightsInBlocksRunInFloatOnRequestAndStayPacked) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  for (const bool gemm : {false, true}) {
    std::vector<float> w;
    OnnxBuilder b = blocked_model(gemm, &w);
    b.allow_float = true;
    Random random;
    const auto x = random_integers<uint8_t>(&random, 2 * 32);
    std::vector<uint8_t> expected;
    for (size_t row = 0; row < 2; ++row)
      for (size_t o = 0; o < 5; ++o) {
        float sum = 0;
        for (size_t k = 0; k < 32; ++k)
          sum = sum + static_cast<float>(x[row * 32 + k] - 120) * 0.05f * w[k * 5 + o];
        if (gemm) sum = sum * 0.5f;
        expected.push_back(requantize_reference<uint8_t>(1, sum / 0.25f, 130));
      }
    ASSERT_EQ(b.run_to<uint8_t>({x}), expected) << gemm;
    Imported imported = b.import();
    ASSERT_TRUE(run_passes(&imported.graph, nullptr).ok());
    bool packed = false;
    for (const convert::Value& v : imported.graph.values)
      packed = packed || (v.is_constant && (v.type.dtype == DType::kInt4 ? v.data.size() == 80
                                                                         : v.data.size() == 256));
    EXPECT_TRUE(packed) << convert::dump(imported.graph);
    for (const convert::Value& v : imported.graph.values)
      EXPECT_FALSE(v.is_constant && v.type.dtype == DType::kFloat32 && v.data.size() == 640);
  }
}

// x [2, 8, 5, 4], or [2, 8, 5] of one dimension, with kernels of 3, stride 2 along the first,
// padding 1, and weights of `type` in blocks of 4 channels.
OnnxBuilder blocked_conv(const Type& type, bool flat, std::vector<float>* weights,
                         std::vector<float>* bias) {
  OnnxBuilder b(25);
  Random random;
  constexpr int64_t kIn = 8, kOut = 3, kBlock = 4;
  const size_t taps = flat ? 3 : 9;
  std::vector<int> w(kIn * kOut * taps), zeros(kOut * kIn / kBlock * taps);
  std::vector<float> scales(zeros.size());
  random.fill(w, type.lo, type.hi);
  random.fill(zeros, type.lo, type.hi);
  for (float& s : scales) s = random.real(0.01f, 0.1f);
  weights->clear();
  for (size_t i = 0; i < w.size(); ++i) {
    const size_t out = i / (kIn * taps), in = i / taps % kIn, tap = i % taps;
    const size_t block = (out * (kIn / kBlock) + in / kBlock) * taps + tap;
    weights->push_back(static_cast<float>(w[i] - zeros[block]) * scales[block]);
  }
  *bias = {0.5f, -1.25f, 0.0f};
  const auto shape = [&](Dims dims) {
    for (size_t t = taps; t > 1; t /= 3) dims.push_back(3);
    return dims;
  };
  const std::string dq =
      b.node("DequantizeLinear",
             {tensor(&b, type.onnx, type.bits, shape({kOut, kIn}), w),
              b.constant(shape({kOut, kIn / kBlock}), scales),
              tensor(&b, type.onnx, type.bits, shape({kOut, kIn / kBlock}), zeros)},
             {{"axis", 1}, {"block_size", kBlock}});
  const std::string x =
      b.integer_input<uint8_t>(flat ? Dims{2, kIn, 5} : Dims{2, kIn, 5, 4}, 0.05f, 120);
  const std::string y = b.node(
      "Conv", {x, dq, b.constant<float>({kOut}, *bias)},
      {{"pads", flat ? Dims{1, 1} : Dims{1, 1, 1, 1}}, {"strides", flat ? Dims{2} : Dims{2, 1}}});
  b.integer_output<uint8_t>(y, 0.25f, 130);
  return b;
}

TEST(OnnxPacked, ConvolutionsOfWeightsInBlocksRunInFloatOnRequest) {
  if (is_integer_build()) GTEST_SKIP() << "this build leaves no layer in float";
  constexpr Type kOfInt8 = {kInt8, 8, -128, 127, DType::kUInt8};
  for (const Type& type : {kTypes[0], kTypes[1], kTypes[3], kOfInt8})
    for (const bool flat : {false, true}) {
      SCOPED_TRACE(type.onnx);
      std::vector<float> w, bias;
      OnnxBuilder b = blocked_conv(type, flat, &w, &bias);
      EXPECT_NE(b.import().rule().find("quantised in blocks of 4"), std::string::npos);
      b.allow_float = true;
      Random random;
      const int columns = flat ? 1 : 4, kw = flat ? 1 : 3;
      const auto x = random_integers<uint8_t>(&random, static_cast<size_t>(2 * 8 * 5 * columns));
      std::vector<uint8_t> expected;
      for (int n = 0; n < 2; ++n)
        for (int o = 0; o < 3; ++o)
          for (int oy = 0; oy < 3; ++oy)
            for (int ox = 0; ox < columns; ++ox) {
              float sum = 0;
              for (int ky = 0; ky < 3; ++ky)
                for (int kx = 0; kx < kw; ++kx)
                  for (int c = 0; c < 8; ++c) {
                    const int iy = 2 * oy + ky - 1, ix = flat ? 0 : ox + kx - 1;
                    if (iy < 0 || iy >= 5 || ix < 0 || ix >= columns) continue;
                    const int at = ((n * 8 + c) * 5 + iy) * columns + ix;
                    const int of = ((o * 8 + c) * 3 + ky) * kw + kx;
                    sum = sum + static_cast<float>(x[static_cast<size_t>(at)] - 120) * 0.05f *
                                    w[static_cast<size_t>(of)];
                  }
              sum = sum + bias[static_cast<size_t>(o)];
              expected.push_back(requantize_reference<uint8_t>(1, sum / 0.25f, 130));
            }
      ASSERT_EQ(b.run_to<uint8_t>({x}), expected) << flat;
      Imported imported = b.import();
      ASSERT_TRUE(run_passes(&imported.graph, nullptr).ok());
      for (const convert::Value& v : imported.graph.values)
        EXPECT_FALSE(v.is_constant && v.type.dtype == DType::kFloat32 &&
                     v.data.size() == 4 * w.size())
            << "unpacked\n"
            << convert::dump(imported.graph);
    }
}

}  // namespace
}  // namespace qrt::testing::onnx_packed_test
