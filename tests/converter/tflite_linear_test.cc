// SPDX-License-Identifier: Apache-2.0
// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of TFLite models, converted and run, against naive
// loops over the file's own integers.
#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_linear_test {
namespace {

// Packs two weights to a byte, the first in the low half.
Bytes nibbles_of(const Bytes& values) {
  Bytes result((values.size() + 1) / 2);
  for (size_t i = 0; i < values.size(); ++i)
    result[i / 2] = static_cast<uint8_t>(result[i / 2] | (values[i] & 15) << (i % 2 * 4));
  return result;
}

Bytes quarters_of(const Bytes& values) {
  Bytes result((values.size() + 3) / 4);
  for (size_t i = 0; i < values.size(); ++i)
    result[i / 4] = static_cast<uint8_t>(result[i / 4] | (values[i] & 3) << (i % 4 * 2));
  return result;
}

// Checks that the weights of the only layer take half a byte, or a quarter, in the .qrt file, too.
void expect_packed_weights(const TfliteBuilder& b, DType dtype = DType::kInt4) {
  Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kOk) << imported.status.message();
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  int layers = 0;
  for (const convert::Node& node : imported.graph.nodes) {
    if (!node.options.AsConv2D() && !node.options.AsDepthwiseConv2D() &&
        !node.options.AsFullyConnected())
      continue;
    ++layers;
    EXPECT_EQ(imported.graph.values[node.inputs[1]].type.dtype, dtype)
        << convert::dump(imported.graph);
  }
  EXPECT_EQ(layers, 1);
}

struct LayerCase {
  int h = 7, w = 6, in = 4, out = 5, kh = 3, kw = 3;
  int stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, groups = 1, multiplier = 1;
  bool same = true, depthwise = false, per_channel = true, bias = true, legacy = false,
       nibbles = false, single = false;
  tflite::ActivationFunctionType activation = tflite::ActivationFunctionType::NONE;
  float out_scale = 0.11f;
};

class LayerTester {
 public:
  explicit LayerTester(const LayerCase& c) : c_(c) {
    if (c_.depthwise) c_.out = c_.in * c_.multiplier;
    Random random;
    const int lo = c_.legacy ? 0 : -128;
    for (int i = 0; i < 2 * c_.h * c_.w * c_.in; ++i) x_.push_back(random.integer(lo, lo + 255));
    const int per_output = c_.kh * c_.kw * (c_.depthwise ? 1 : c_.in / c_.groups);
    for (int i = 0; i < c_.out * per_output; ++i)
      weights_.push_back(c_.nibbles  ? random.integer(-8, 7)
                         : c_.legacy ? random.integer(0, 255)
                                     : random.integer(-128, 127));
    for (int o = 0; o < c_.out; ++o) bias_.push_back(c_.bias ? random.integer(-3000, 3000) : 0);
    for (int o = 0; o < (c_.per_channel ? c_.out : 1); ++o)
      scale_.push_back(0.003f + 0.0007f * static_cast<float>(o));
    x_zero_ = c_.legacy ? 119 : -9;
    w_zero_ = c_.legacy ? 131 : 0;
    y_zero_ = c_.legacy ? 100 : 17;
    place(c_.h, c_.kh, c_.stride_h, c_.dilation_h, &out_h_, &pad_h_);
    place(c_.w, c_.kw, c_.stride_w, c_.dilation_w, &out_w_, &pad_w_);
  }

  void expect_exact() {
    TfliteBuilder b;
    const TensorType type = c_.legacy ? TensorType::UINT8 : TensorType::INT8;
    const int x = b.input(type, {2, c_.h, c_.w, c_.in}, kXScale, x_zero_);
    const std::vector<int64_t> zeros(scale_.size(), w_zero_);
    const TfliteBuilder::Dims shape =
        c_.depthwise ? TfliteBuilder::Dims{1, c_.kh, c_.kw, c_.out}
                     : TfliteBuilder::Dims{c_.out, c_.kh, c_.kw, c_.in / c_.groups};
    const int w = b.constant(c_.nibbles ? TensorType::INT4 : type, shape, packed(), scale_, zeros,
                             c_.depthwise ? 3 : 0);
    std::vector<int> inputs = {x, w};
    if (c_.bias) {
      const std::vector<int32_t> bias(bias_.begin(), bias_.end());
      inputs.push_back(b.constant(TensorType::INT32, {c_.out}, bias));
    }
    const int y = b.output(type, {2, out_h_, out_w_, c_.out}, c_.out_scale, y_zero_);
    const auto padding = c_.same ? tflite::Padding::SAME : tflite::Padding::VALID;
    if (c_.depthwise) {
      tflite::DepthwiseConv2DOptionsT o;
      o.depth_multiplier = c_.multiplier;
      set(padding, &o);
      b.op(BuiltinOperator::DEPTHWISE_CONV_2D, inputs, {y}, o);
    } else {
      tflite::Conv2DOptionsT o;
      set(padding, &o);
      b.op(BuiltinOperator::CONV_2D, inputs, {y}, o);
    }
    const auto reference =
        c_.single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding;
    ASSERT_EQ(b.run({bytes(x_)}, reference), std::vector<Bytes>{bytes(expected())});
    if (c_.nibbles) expect_packed_weights(b);
  }

 private:
  static constexpr float kXScale = 0.0473f;

  void place(int in, int kernel, int stride, int dilation, int* out, int* before) const {
    const int reach = (kernel - 1) * dilation + 1;
    *out = c_.same ? (in + stride - 1) / stride : (in + stride - reach) / stride;
    *before = c_.same ? std::max((*out - 1) * stride + reach - in, 0) / 2 : 0;
  }
  template <class Options>
  void set(tflite::Padding padding, Options* o) const {
    o->padding = padding;
    o->stride_h = c_.stride_h, o->stride_w = c_.stride_w;
    o->dilation_h_factor = c_.dilation_h, o->dilation_w_factor = c_.dilation_w;
    o->fused_activation_function = c_.activation;
  }
  static Bytes bytes(const std::vector<int64_t>& values) {
    return Bytes(values.begin(), values.end());
  }
  Bytes packed() const { return c_.nibbles ? nibbles_of(bytes(weights_)) : bytes(weights_); }

  std::vector<int64_t> expected() const {
    std::vector<int64_t> y;
    const int type_lo = c_.legacy ? 0 : -128;
    int lo = type_lo, hi = type_lo + 255;
    if (c_.activation == tflite::ActivationFunctionType::RELU6) {
      lo = std::max(lo, y_zero_);
      hi = std::min(hi, y_zero_ + static_cast<int>(std::round(6.0f / c_.out_scale)));
    }
    for (int n = 0; n < 2; ++n)
      for (int oy = 0; oy < out_h_; ++oy)
        for (int ox = 0; ox < out_w_; ++ox)
          for (int o = 0; o < c_.out; ++o) {
            const float scale = scale_[c_.per_channel ? static_cast<size_t>(o) : 0];
            const double product = c_.legacy ? static_cast<double>(kXScale * scale)
                                             : static_cast<double>(kXScale) * scale;
            const auto m = reference_multiplier(product / static_cast<double>(c_.out_scale));
            const int v = reference_multiply(sum(n, oy, ox, o), m, c_.single) + y_zero_;
            y.push_back(std::clamp(v, lo, hi));
          }
    return y;
  }
  int32_t sum(int n, int oy, int ox, int o) const {
    int32_t acc = static_cast<int32_t>(bias_[static_cast<size_t>(o)]);
    const int per_group = c_.in / c_.groups, group = o / (c_.out / c_.groups);
    for (int ky = 0; ky < c_.kh; ++ky)
      for (int kx = 0; kx < c_.kw; ++kx) {
        const int iy = oy * c_.stride_h + ky * c_.dilation_h - pad_h_;
        const int ix = ox * c_.stride_w + kx * c_.dilation_w - pad_w_;
        if (iy < 0 || iy >= c_.h || ix < 0 || ix >= c_.w) continue;
        for (int k = 0; k < (c_.depthwise ? 1 : per_group); ++k) {
          const int ch = c_.depthwise ? o / c_.multiplier : group * per_group + k;
          const int at = c_.depthwise ? (ky * c_.kw + kx) * c_.out + o
                                      : ((o * c_.kh + ky) * c_.kw + kx) * per_group + k;
          const int64_t x = x_[static_cast<size_t>(((n * c_.h + iy) * c_.w + ix) * c_.in + ch)];
          acc +=
              static_cast<int32_t>((x - x_zero_) * (weights_[static_cast<size_t>(at)] - w_zero_));
        }
      }
    return acc;
  }

  LayerCase c_;
  std::vector<int64_t> x_, weights_, bias_;
  std::vector<float> scale_;
  int x_zero_, w_zero_, y_zero_, out_h_, out_w_, pad_h_, pad_w_;
};

void check(const LayerCase& c) { LayerTester(c).expect_exact(); }

TEST(TfliteConv, Geometry) {
  check({});
  LayerCase c;
  c.same = false, c.stride_h = 2, c.out = 19;
  check(c);
  c = {};
  c.stride_h = 3, c.stride_w = 2, c.kw = 2;
  check(c);
  c = {};
  c.dilation_h = 2, c.dilation_w = 3;
  check(c);
  c = {};
  c.kh = c.kw = 1, c.in = 33, c.out = 17;
  check(c);
}

TEST(TfliteConv, Groups) {
  LayerCase c;
  c.groups = 2, c.in = 6, c.out = 8;
  check(c);
}

TEST(TfliteConv, ScalesBiasesAndLimits) {
  LayerCase c;
  c.per_channel = false, c.bias = false;
  check(c);
  c = {};
  c.activation = tflite::ActivationFunctionType::RELU6;
  check(c);
}

// Multipliers above 1 have one stage, those below two: both in one layer.
TEST(TfliteConv, MultipliersAroundOne) {
  LayerCase c;
  c.out_scale = 0.0002f, c.kh = c.kw = 1, c.in = 1;
  check(c);
}

TEST(TfliteConv, SingleRounding) {
  LayerCase c;
  c.single = true;
  check(c);
  c.depthwise = true;
  check(c);
}

TEST(TfliteConv, FourBitWeightsStraddleBytesAndStayPacked) {
  LayerCase c;
  c.nibbles = true, c.in = 3, c.out = 5, c.kh = 1;
  check(c);
  c.depthwise = true;
  check(c);
}

TEST(TfliteConv, LegacyUint8) {
  LayerCase c;
  c.legacy = true, c.per_channel = false;
  check(c);
  c.depthwise = true, c.multiplier = 2;
  check(c);
}

TEST(TfliteDepthwise, Geometry) {
  LayerCase c;
  c.depthwise = true;
  check(c);
  c.multiplier = 3, c.stride_h = c.stride_w = 2;
  check(c);
  c.same = false, c.dilation_h = 2;
  check(c);
}

// Checks FULLY_CONNECTED. With one weight scale the product of the scales is rounded to float
// first, and the weights' zero point counts; per channel neither is so.
void check_fully_connected(bool per_channel, bool keep_dims, int bits = 8) {
  Random random;
  const int in = 37, out = 11;
  std::vector<int8_t> weights;
  std::vector<int32_t> bias;
  for (int i = 0; i < in * out; ++i)
    weights.push_back(
        static_cast<int8_t>(random.integer(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)));
  for (int i = 0; i < out; ++i) bias.push_back(static_cast<int32_t>(random.integer(-4000, 4000)));
  std::vector<float> scale;
  for (int i = 0; i < (per_channel ? out : 1); ++i)
    scale.push_back(0.0031f + 0.0001f * static_cast<float>(i));
  const int zero = bits == 2 ? 1 : 3;
  const std::vector<int64_t> zeros(scale.size(), zero);
  TfliteBuilder b;
  const TfliteBuilder::Dims x_shape =
      keep_dims ? TfliteBuilder::Dims{3, 2, in} : TfliteBuilder::Dims{6, in};
  const TfliteBuilder::Dims y_shape =
      keep_dims ? TfliteBuilder::Dims{3, 2, out} : TfliteBuilder::Dims{6, out};
  const int x = b.input(TensorType::INT8, x_shape, 0.0473f, 12);
  const Bytes plain(weights.begin(), weights.end());
  const TensorType type = bits == 8   ? TensorType::INT8
                          : bits == 4 ? TensorType::INT4
                                      : TensorType::INT2;
  const int w = b.constant(type, {out, in},
                           bits == 8   ? plain
                           : bits == 4 ? nibbles_of(plain)
                                       : quarters_of(plain),
                           scale, zeros);
  const int c = b.constant(TensorType::INT32, {out}, bias);
  const int y = b.output(TensorType::INT8, y_shape, 0.21f, -30);
  tflite::FullyConnectedOptionsT o;
  o.keep_num_dims = keep_dims;
  b.op(BuiltinOperator::FULLY_CONNECTED, {x, w, c}, {y}, o);

  Bytes input, expected;
  for (int i = 0; i < 6 * in; ++i) input.push_back(static_cast<uint8_t>(random.integer(0, 255)));
  for (int row = 0; row < 6; ++row)
    for (int n = 0; n < out; ++n) {
      int32_t acc = bias[static_cast<size_t>(n)];
      for (int k = 0; k < in; ++k)
        acc += (static_cast<int8_t>(input[static_cast<size_t>(row * in + k)]) - 12) *
               (weights[static_cast<size_t>(n * in + k)] - (per_channel ? 0 : zero));
      const float s = scale[per_channel ? static_cast<size_t>(n) : 0];
      const double product =
          per_channel ? static_cast<double>(0.0473f) * s : static_cast<double>(0.0473f * s);
      const auto m = reference_multiplier(product / static_cast<double>(0.21f));
      expected.push_back(
          static_cast<uint8_t>(std::clamp(reference_multiply(acc, m, false) - 30, -128, 127)));
    }
  ASSERT_EQ(b.run({input}), std::vector<Bytes>{expected});
  if (bits < 8) expect_packed_weights(b, bits == 4 ? DType::kInt4 : DType::kInt2);
}

TEST(TfliteFullyConnected, OneScale) { check_fully_connected(false, false); }
TEST(TfliteFullyConnected, PerChannel) { check_fully_connected(true, false); }
TEST(TfliteFullyConnected, KeepsDimensions) { check_fully_connected(false, true); }
TEST(TfliteFullyConnected, WeightsOfFewBitsStayPacked) {
  for (const int bits : {4, 2})
    for (const bool per_channel : {false, true}) check_fully_connected(per_channel, false, bits);
}

TEST(TfliteLinear, RefusesWhatTheReferenceLeavesUndefined) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.05f, 0);
  const int w = b.constant<int8_t>(TensorType::INT8, {1, 4}, {1, 2, 3, 4}, {0.01f}, {0});
  const int c = b.constant<int32_t>(TensorType::INT32, {1}, {INT32_MAX});
  const int y =
      b.output(TensorType::INT8, {1, 1}, 0.0002f, 0);  // a multiplier of 2.5: shifted left
  b.op(BuiltinOperator::FULLY_CONNECTED, {x, w, c}, {y}, tflite::FullyConnectedOptionsT());
  expect_rule(b, "beyond what the reference kernels define");
}

// Clipped biases of dead channels wrap. TFLite's converter clips to +-(2^31 - 1) what their tiny weight
// scales make of their biases, and the reference's sums wrap; the third channel's multiplier is 0.
TEST(TfliteLinear, ClippedBiasesOfDeadChannelsWrap) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 4}, 0.05f, 0);
  const std::vector<float> scale = {1e-9f, 1e-9f, 2e-38f, 0.01f};
  const int w = b.constant<int8_t>(TensorType::INT8, {4, 1, 1, 4},
                                   {1, 2, 3, 4, -1, -2, -3, -4, 127, 127, 127, 127, 1, 2, 3, 4},
                                   scale, {0, 0, 0, 0});
  const std::vector<int32_t> bias = {INT32_MAX, -INT32_MAX, INT32_MAX, 100};
  const int c = b.constant(TensorType::INT32, {4}, bias);
  const int image = b.activation(TensorType::INT8, {1, 1, 1, 4}, 0.05f, 0);
  b.op(BuiltinOperator::RESHAPE, {x, b.constant<int32_t>(TensorType::INT32, {4}, {1, 1, 1, 4})},
       {image});
  const int y = b.output(TensorType::INT8, {1, 1, 1, 4}, 0.01f, 5);
  tflite::Conv2DOptionsT o;
  o.stride_h = o.stride_w = 1;
  b.op(BuiltinOperator::CONV_2D, {image, w, c}, {y}, o);
  for (const int v : {1, -1}) {
    const int sums[] = {10 * v, -10 * v, 508 * v, 10 * v};
    Bytes expected;
    for (size_t n = 0; n < 4; ++n) {
      const auto acc =
          static_cast<int32_t>(static_cast<uint32_t>(sums[n]) + static_cast<uint32_t>(bias[n]));
      const auto m = reference_multiplier(
          static_cast<double>(0.05f) * static_cast<double>(scale[n]) / static_cast<double>(0.01f));
      expected.push_back(
          static_cast<uint8_t>(std::clamp(reference_multiply(acc, m, false) + 5, -128, 127)));
    }
    const Bytes input(4, static_cast<uint8_t>(v));
    ASSERT_EQ(b.run({input}), std::vector<Bytes>{expected}) << v;
  }
}

// A transposed convolution sums at every output position what the strided kernels reach, by the
// definition that scatters.
TEST(TfliteTransposeConv, ScattersItsKernels) {
  Random random;
  SCOPED_TRACE(random.trace());
  struct Case {
    int in, out, kernel, stride;
    tflite::Padding padding;
  };
  for (const Case& c :
       {Case{3, 6, 3, 2, tflite::Padding::SAME}, Case{3, 5, 4, 2, tflite::Padding::SAME},
        Case{3, 7, 3, 2, tflite::Padding::VALID}, Case{4, 4, 3, 1, tflite::Padding::SAME},
        Case{2, 9, 2, 5, tflite::Padding::SAME}}) {
    constexpr int kIn = 3, kOut = 5;
    std::vector<int8_t> weights(static_cast<size_t>(kOut * c.kernel * c.kernel * kIn));
    for (int8_t& w : weights) w = static_cast<int8_t>(random.integer(-127, 127));
    const std::vector<int32_t> bias = {100, -200, 300, 0, 7};
    std::vector<float> scale;
    for (int i = 0; i < kOut; ++i) scale.push_back(0.01f + 0.002f * static_cast<float>(i));
    TfliteBuilder b;
    const int shape = b.constant<int32_t>(TensorType::INT32, {4}, {1, c.out, c.out, kOut});
    const int w = b.constant(TensorType::INT8, {kOut, c.kernel, c.kernel, kIn}, weights, scale,
                             std::vector<int64_t>(kOut), 0);
    const int x = b.input(TensorType::INT8, {1, c.in, c.in, kIn}, 0.05f, -9);
    tflite::TransposeConvOptionsT o;
    o.padding = c.padding;
    o.stride_h = o.stride_w = c.stride;
    b.op(BuiltinOperator::TRANSPOSE_CONV,
         {shape, w, x, b.constant(TensorType::INT32, {kOut}, bias)},
         {b.output(TensorType::INT8, {1, c.out, c.out, kOut}, 0.2f, 5)}, o);

    const int forward = (c.out + c.stride - 1) / c.stride;
    const int needed = std::max((forward - 1) * c.stride + c.kernel - c.out, 0);
    const int before = c.padding == tflite::Padding::SAME ? needed / 2 : 0;
    Bytes input(static_cast<size_t>(c.in * c.in * kIn));
    random.fill(input, 0, 255);
    std::vector<int32_t> acc;
    for (int i = 0; i < c.out * c.out; ++i) acc.insert(acc.end(), bias.begin(), bias.end());
    for (int iy = 0; iy < c.in; ++iy)
      for (int ix = 0; ix < c.in; ++ix)
        for (int ky = 0; ky < c.kernel; ++ky)
          for (int kx = 0; kx < c.kernel; ++kx) {
            const int oy = iy * c.stride - before + ky, ox = ix * c.stride - before + kx;
            if (oy < 0 || ox < 0 || oy >= c.out || ox >= c.out) continue;
            for (int oc = 0; oc < kOut; ++oc)
              for (int ic = 0; ic < kIn; ++ic)
                acc[static_cast<size_t>((oy * c.out + ox) * kOut + oc)] +=
                    (static_cast<int8_t>(input[static_cast<size_t>((iy * c.in + ix) * kIn + ic)]) +
                     9) *
                    weights[static_cast<size_t>(((oc * c.kernel + ky) * c.kernel + kx) * kIn + ic)];
          }
    for (const bool single : {false, true}) {
      Bytes expected;
      for (size_t i = 0; i < acc.size(); ++i) {
        const auto m =
            reference_multiplier(static_cast<double>(0.05f) * static_cast<double>(scale[i % kOut]) /
                                 static_cast<double>(0.2f));
        expected.push_back(
            static_cast<uint8_t>(std::clamp(reference_multiply(acc[i], m, single) + 5, -128, 127)));
      }
      const auto reference =
          single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding;
      ASSERT_EQ(b.run({input}, reference), std::vector<Bytes>{expected}) << "kernel " << c.kernel;
    }
  }
}

// A transposed convolution takes as many multiply-accumulates as its kernels reach, apart from
// borders: not one for each zero that a spread-out input would have.
TEST(TfliteTransposeConv, BecomesAConvolutionOfItsPhases) {
  TfliteBuilder b;
  const int shape = b.constant<int32_t>(TensorType::INT32, {4}, {1, 16, 16, 8});
  const int w =
      b.constant(TensorType::INT8, {8, 4, 4, 8}, std::vector<int8_t>(1024, 1), {0.5f}, {0});
  const int x = b.input(TensorType::INT8, {1, 8, 8, 8}, 0.5f, 0);
  tflite::TransposeConvOptionsT o;
  o.stride_h = o.stride_w = 2;
  b.op(BuiltinOperator::TRANSPOSE_CONV, {shape, w, x},
       {b.output(TensorType::INT8, {1, 16, 16, 8}, 0.5f, 0)}, o);
  Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kOk) << imported.status.message();
  size_t convolutions = 0;
  for (const convert::Node& node : imported.graph.nodes) {
    if (!node.options.AsConv2D()) continue;
    ++convolutions;
    const Shape& weights = imported.graph.values[node.inputs[1]].type.shape;
    const Shape& y = imported.graph.values[node.outputs[0]].type.shape;
    ASSERT_EQ(weights, (Shape{32, 3, 3, 8}));
    ASSERT_EQ(y, (Shape{1, 8, 8, 32}));
  }
  ASSERT_EQ(convolutions, 1u);
}

TEST(TfliteTransposeConv, RefusesEnormousImages) {
  constexpr int kRows = (1 << 22) + 1;
  TfliteBuilder b;
  const int shape = b.constant<int32_t>(TensorType::INT32, {4}, {1, kRows, 1, 1});
  const int w = b.constant<int8_t>(TensorType::INT8, {1, 1, 1, 1}, {1}, {0.5f}, {0});
  const int x = b.input(TensorType::INT8, {1, kRows, 1, 1}, 0.5f, 0);
  tflite::TransposeConvOptionsT o;
  o.stride_h = o.stride_w = 1;
  b.op(BuiltinOperator::TRANSPOSE_CONV, {shape, w, x},
       {b.output(TensorType::INT8, {1, kRows, 1, 1}, 0.5f, 0)}, o);
  expect_rule(b, "at most 4194304 are supported");
}

}  // namespace
}  // namespace qrt::testing::tflite_linear_test
