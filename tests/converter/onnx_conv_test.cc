// SPDX-License-Identifier: Apache-2.0
// Conv between DequantizeLinear and QuantizeLinear, QLinearConv: every number against a naive loop
// over the source's own integers and layout.
#include <gtest/gtest.h>

#include "kernels/integer_build.h"
#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_conv_test {
namespace {

struct ConvCase {
  int64_t batch = 1, groups = 1, in = 3, out = 4, height = 6, width = 7, kernel_h = 3, kernel_w = 3;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  Dims pads = {0, 0, 0, 0};
  std::vector<float> w_scale = {0.02f};
  int bias = 0;  // 0 none, 1 int32, 2 float
  bool relu = false;
};

template <class X, class W>
class ConvTester {
 public:
  ConvTester(const ConvCase& c, int x_zero, std::vector<int> w_zero, int y_zero)
      : c_(c), x_zero_(x_zero), w_zero_(std::move(w_zero)), y_zero_(y_zero) {
    Random random;
    x_ = random_integers<X>(&random, static_cast<size_t>(c.batch * c.in * c.height * c.width));
    w_ = random_integers<W>(&random,
                            static_cast<size_t>(c.out * c.in / c.groups * c.kernel_h * c.kernel_w));
    for (int64_t o = 0; o < c.out; ++o) {
      bias_.push_back(static_cast<int32_t>(random.integer(-5000, 5000)));
      float_bias_.push_back(static_cast<float>(bias_.back()) * product(o));
    }
  }

  void expect_exact(bool qlinear = false) {
    const std::vector<X> got =
        (qlinear ? qlinear_model() : qdq_model()).template run_to<X>({to_bytes(x_)});
    ASSERT_EQ(got, reference());
  }

  OnnxBuilder qdq_model() {
    OnnxBuilder b;
    const std::string x = b.integer_input<X>({c_.batch, c_.in, c_.height, c_.width}, kXScale,
                                             static_cast<X>(x_zero_));
    Names inputs = {x, dequantized_weights(&b)};
    if (c_.bias == 1) {
      std::vector<float> scales;
      for (size_t i = 0; i < c_.w_scale.size(); ++i)
        scales.push_back(product(static_cast<int64_t>(i)));
      const Dims dims = scales.size() == 1 ? Dims{} : Dims{c_.out};
      inputs.push_back(b.node("DequantizeLinear",
                              {b.constant<int32_t>({c_.out}, bias_), b.constant(dims, scales)},
                              {{"axis", 0}}));
    }
    if (c_.bias == 2) inputs.push_back(b.constant({c_.out}, float_bias_));
    std::string y = b.node("Conv", inputs,
                           {{"group", c_.groups},
                            {"pads", c_.pads},
                            {"strides", Dims{c_.stride_h, c_.stride_w}},
                            {"dilations", Dims{c_.dilation_h, c_.dilation_w}}});
    if (c_.relu) y = b.node("Relu", {y});
    b.integer_output<X>(y, kYScale, static_cast<X>(y_zero_));
    return b;
  }

  OnnxBuilder qlinear_model() {
    OnnxBuilder b;
    Names inputs = {b.input<X>({c_.batch, c_.in, c_.height, c_.width}), b.scalar(kXScale),
                    b.scalar(static_cast<X>(x_zero_))};
    for (const std::string& name : weights(&b)) inputs.push_back(name);
    inputs.push_back(b.scalar(kYScale));
    inputs.push_back(b.scalar(static_cast<X>(y_zero_)));
    if (c_.bias) inputs.push_back(b.constant<int32_t>({c_.out}, bias_));
    b.output(b.node("QLinearConv", inputs,
                    {{"group", c_.groups},
                     {"pads", c_.pads},
                     {"strides", Dims{c_.stride_h, c_.stride_w}},
                     {"dilations", Dims{c_.dilation_h, c_.dilation_w}}}));
    return b;
  }

 private:
  static constexpr float kXScale = 0.05f, kYScale = 3.1f;

  float product(int64_t o) const {
    return kXScale * c_.w_scale[c_.w_scale.size() == 1 ? 0 : static_cast<size_t>(o)];
  }
  int zero_of(int64_t o) const { return w_zero_[w_zero_.size() == 1 ? 0 : static_cast<size_t>(o)]; }
  Names weights(OnnxBuilder* b) const {
    const Dims dims = c_.w_scale.size() == 1 ? Dims{} : Dims{c_.out};
    const std::vector<W> zeros(w_zero_.begin(), w_zero_.end());
    return {b->constant<W>({c_.out, c_.in / c_.groups, c_.kernel_h, c_.kernel_w}, w_),
            b->constant(dims, c_.w_scale), b->constant<W>(dims, zeros)};
  }
  std::string dequantized_weights(OnnxBuilder* b) const {
    return b->node("DequantizeLinear", weights(b), {{"axis", 0}});
  }

  std::vector<X> reference() const {
    const int64_t in = c_.in / c_.groups, out = c_.out / c_.groups;
    const int64_t oh =
        (c_.height + c_.pads[0] + c_.pads[2] - (c_.kernel_h - 1) * c_.dilation_h - 1) /
            c_.stride_h +
        1;
    const int64_t ow =
        (c_.width + c_.pads[1] + c_.pads[3] - (c_.kernel_w - 1) * c_.dilation_w - 1) / c_.stride_w +
        1;
    std::vector<X> y;
    for (int64_t n = 0; n < c_.batch; ++n)
      for (int64_t o = 0; o < c_.out; ++o)
        for (int64_t i = 0; i < oh; ++i)
          for (int64_t j = 0; j < ow; ++j) {
            int32_t acc = c_.bias ? bias_[static_cast<size_t>(o)] : 0;
            for (int64_t k = 0; k < in; ++k)
              for (int64_t a = 0; a < c_.kernel_h; ++a)
                for (int64_t d = 0; d < c_.kernel_w; ++d) {
                  const int64_t r = i * c_.stride_h - c_.pads[0] + a * c_.dilation_h;
                  const int64_t s = j * c_.stride_w - c_.pads[1] + d * c_.dilation_w;
                  if (r < 0 || s < 0 || r >= c_.height || s >= c_.width) continue;
                  const int64_t channel = o / out * in + k;
                  acc +=
                      (x_[static_cast<size_t>(((n * c_.in + channel) * c_.height + r) * c_.width +
                                              s)] -
                       x_zero_) *
                      (w_[static_cast<size_t>(((o * in + k) * c_.kernel_h + a) * c_.kernel_w + d)] -
                       zero_of(o));
                }
            const X v = requantize_reference<X>(acc, product(o) / kYScale, y_zero_);
            y.push_back(c_.relu && v < y_zero_ ? static_cast<X>(y_zero_) : v);
          }
    return y;
  }

  ConvCase c_;
  int x_zero_;
  std::vector<int> w_zero_;
  int y_zero_;
  std::vector<X> x_;
  std::vector<W> w_;
  std::vector<int32_t> bias_;
  std::vector<float> float_bias_;
};

const std::vector<float> kFourScales = {0.02f, 0.001f, 0.03125f, 0.07f};

TEST(OnnxConv, UnsignedBySigned) {
  ConvTester<uint8_t, int8_t>({}, 113, {0}, 128).expect_exact();
  ConvTester<uint8_t, int8_t>({}, 113, {0}, 128).expect_exact(true);
}

TEST(OnnxConv, SignedBySigned) {
  ConvTester<int8_t, int8_t>({}, -128, {0}, 127).expect_exact();
  ConvTester<int8_t, int8_t>({}, 5, {-3}, -7).expect_exact(true);
}

TEST(OnnxConv, UnsignedWeightsWithZeroPointsPerChannel) {
  ConvCase c;
  c.w_scale = kFourScales;
  ConvTester<uint8_t, uint8_t>(c, 255, {0, 255, 128, 3}, 10).expect_exact();
  ConvTester<uint8_t, uint8_t>(c, 0, {0, 255, 128, 3}, 10).expect_exact(true);
}

TEST(OnnxConv, IntegerAndFloatBias) {
  ConvCase c;
  c.w_scale = kFourScales;
  c.bias = 1;
  ConvTester<uint8_t, int8_t>(c, 9, {0, 0, 0, 0}, 128).expect_exact();
  ConvTester<uint8_t, int8_t>(c, 9, {0, 0, 0, 0}, 128).expect_exact(true);
  c.bias = 2;
  ConvTester<int8_t, int8_t>(c, 9, {0, 0, 0, 0}, 0).expect_exact();
}

TEST(OnnxConv, PaddingStrideAndDilationOfEverySide) {
  ConvCase c;
  c.batch = 2;
  c.height = 9;
  c.width = 11;
  c.stride_h = 2;
  c.stride_w = 3;
  c.dilation_h = 2;
  c.pads = {2, 1, 0, 3};
  ConvTester<uint8_t, int8_t>(c, 77, {0}, 128).expect_exact();
}

TEST(OnnxConv, Groups) {
  ConvCase c;
  c.groups = 2;
  c.in = 6;
  c.out = 4;
  ConvTester<uint8_t, int8_t>(c, 77, {2}, 128).expect_exact();
}

TEST(OnnxConv, OneInputChannelPerGroupIsDepthwise) {
  ConvCase c;
  c.groups = c.in = 5;
  c.out = 10;
  c.pads = {1, 1, 1, 1};
  ConvTester<uint8_t, int8_t> tester(c, 77, {2}, 128);
  const Imported imported = tester.qdq_model().import();
  ASSERT_TRUE(imported.status.ok());
  EXPECT_EQ(imported.only<fb::DepthwiseConv2DOptionsT>().multiplier, 2u);
  tester.expect_exact();
}

TEST(OnnxConv, ReluAboveTheZeroPointIsALimit) {
  ConvCase c;
  c.relu = true;
  ConvTester<uint8_t, int8_t> tester(c, 77, {0}, 100);
  const Imported imported = tester.qdq_model().import();
  ASSERT_TRUE(imported.status.ok());
  const auto& requant = *imported.only<fb::Conv2DOptionsT>().requant;
  EXPECT_EQ(requant.lo, 100);
  EXPECT_EQ(requant.hi, 255);
  tester.expect_exact();
}

TEST(OnnxConv, OneDimensionIsARow) {
  Random random;
  OnnxBuilder b;
  const auto w = random_integers<int8_t>(&random, 4 * 3 * 3);
  const std::string x = b.integer_input<uint8_t>({1, 3, 10}, 0.5f, 3);
  const std::string y = b.node("Conv", {x, b.dq<int8_t>(b.constant<int8_t>({4, 3, 3}, w), 0.1f, 0)},
                               {{"pads", Dims{1, 0}}, {"strides", Dims{2}}});
  b.integer_output<uint8_t>(y, 10.0f, 128);
  const auto in = random_integers<uint8_t>(&random, 30);
  std::vector<uint8_t> expected;
  for (int o = 0; o < 4; ++o)
    for (int j = 0; j < 5; ++j) {
      int32_t acc = 0;
      for (int k = 0; k < 3; ++k)
        for (int t = 0; t < 3; ++t)
          if (const int s = 2 * j - 1 + t; s >= 0 && s < 10)
            acc += (in[static_cast<size_t>(k * 10 + s)] - 3) *
                   w[static_cast<size_t>((o * 3 + k) * 3 + t)];
      expected.push_back(requantize_reference<uint8_t>(acc, 0.5f * 0.1f / 10.0f, 128));
    }
  ASSERT_EQ(b.run_to<uint8_t>({to_bytes(in)}), expected);
}

TEST(OnnxConv, AutoPadSplitsTheOddPixel) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    OnnxBuilder b;
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 2, 2}, {1, 2, 3, 4}), 0.1f, 0);
    const std::string y =
        b.node("Conv", {b.integer_input<uint8_t>({1, 1, 5, 5}, 0.5f, 3), w}, {{"auto_pad", mode}});
    b.integer_output<uint8_t>(y, 1.0f, 0);
    const Imported imported = b.import();
    ASSERT_TRUE(imported.status.ok()) << imported.status.message();
    const auto& o = imported.only<fb::Conv2DOptionsT>();
    const bool upper = std::string(mode) == "SAME_UPPER", lower = std::string(mode) == "SAME_LOWER";
    EXPECT_EQ(o.pad_top, lower ? 1 : 0) << mode;
    EXPECT_EQ(o.pad_bottom, upper ? 1 : 0) << mode;
    EXPECT_EQ(o.pad_left, lower ? 1 : 0) << mode;
    EXPECT_EQ(o.pad_right, upper ? 1 : 0) << mode;
  }
}

TEST(OnnxConv, FourBitWeightsAreUnpackedLowNibbleFirst) {
  OnnxBuilder b(21);
  onnx::TensorProto* w = b.graph().add_initializer();
  w->set_name("w");
  w->set_data_type(22);  // INT4
  for (int64_t d : {3, 1, 1, 1}) w->add_dims(d);
  w->set_raw_data(std::string("\x8f\x07", 2));  // -1, -8, 7
  const std::string x = b.integer_input<uint8_t>({1, 1, 1, 1}, 1.0f, 0);
  const std::string dq = b.node("DequantizeLinear", {"w", b.scalar(1.0f)});
  b.integer_output<uint8_t>(b.node("Conv", {x, dq}), 1.0f, 100);
  ASSERT_EQ(b.run_to<uint8_t>({{3}}), (std::vector<uint8_t>{97, 76, 121}));
}

std::string refusal(OnnxBuilder* b) {
  const Imported imported = b->import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
  for (const convert::Finding& f : imported.report.findings())
    if (f.outcome == convert::Outcome::kRefused) {
      EXPECT_NE(f.node, "");
      EXPECT_NE(f.remedy, "");
    }
  return imported.rule();
}

// A signed input and unsigned weights give ONNX Runtime's results, which it computes in float: the
// integers are equal.
TEST(OnnxConv, SignedInputWithUnsignedWeights) {
  ConvTester<int8_t, uint8_t>({}, 3, {100}, -7).expect_exact();
}

// A bias is refused where not even weights of 16 bits make units of a quarter of a step.
TEST(OnnxConv, RefusesABiasMuchFinerThanTheSums) {
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {127}), 1.0f, 0);
  const std::string bias =
      b.node("DequantizeLinear", {b.constant<int32_t>({1}, {1}), b.scalar(1.0f)});
  const std::string x = b.integer_input<uint8_t>({1, 1, 2, 2}, 1000.0f, 3);
  b.integer_output<uint8_t>(b.node("Conv", {x, w, bias}), 1.0f, 0);
  const std::string rule = refusal(&b);
  EXPECT_NE(rule.find("the bias has another scale"), std::string::npos) << rule;
}

// A bias of another scale is rounded to the accumulators' unit, half of which is 0.0005 of an output step here.
TEST(OnnxConv, ABiasOfAnotherScaleIsRounded) {
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {1}), 0.001f, 0);
  const std::string bias =
      b.node("DequantizeLinear", {b.constant<int32_t>({1}, {5}), b.scalar(2.0f)});
  const std::string x = b.integer_input<uint8_t>({1, 1, 1, 2}, 1.0f, 3);
  b.integer_output<uint8_t>(b.node("Conv", {x, w, bias}), 1.0f, 0);
  ASSERT_EQ(b.run_to<uint8_t>({{3, 255}}), (std::vector<uint8_t>{10, 10}));
}

TEST(OnnxConv, AFloatResultIsTheScaledSum) {
  if (is_integer_build()) GTEST_SKIP() << "this build multiplies no floats";
  OnnxBuilder b;
  const std::string w =
      b.node("DequantizeLinear",
             {b.constant<int8_t>({2, 1, 1, 1}, {1, -3}), b.constant<float>({2}, {0.5f, 0.25f})},
             {{"axis", 0}});
  b.output(b.node("Conv", {b.integer_input<uint8_t>({1, 1, 2, 2}, 2.0f, 3), w}));
  EXPECT_EQ(b.run_to<float>({{3, 4, 0, 255}}),
            (std::vector<float>{0, 1, -3, 252, 0, -1.5f, 4.5f, -378}));
}

TEST(OnnxConv, AFloatResultMayBeLimited) {
  if (is_integer_build()) GTEST_SKIP() << "this build multiplies no floats";
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {1}), 0.5f, 0);
  b.output(b.node("Relu", {b.node("Conv", {b.integer_input<uint8_t>({1, 1, 2, 2}, 1.0f, 3), w})}));
  EXPECT_EQ(b.run_to<float>({{3, 4, 0, 255}}), (std::vector<float>{0, 0.5f, 0, 126}));
}

TEST(OnnxConv, IsComputedForEachReaderOfItsResult) {
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {1}), 1.0f, 0);
  const std::string y = b.node("Conv", {b.integer_input<uint8_t>({1, 1, 2, 2}, 1.0f, 3), w});
  b.integer_output<uint8_t>(y, 1.0f, 0);
  b.integer_output<uint8_t>(b.node("Relu", {y}), 2.0f, 7);
  const std::vector<Bytes> outputs = b.run({{3, 4, 9, 0}});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0], (Bytes{0, 1, 6, 0}));
  EXPECT_EQ(outputs[1], (Bytes{7, 7, 10, 7}));
}

TEST(OnnxConv, RefusesScalesThatAreNotNormalNumbers) {
  for (const float scale : {0.0f, -1.0f, 1e-40f, std::numeric_limits<float>::infinity()}) {
    OnnxBuilder b;
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {1}), scale, 0);
    const std::string x = b.integer_input<uint8_t>({1, 1, 2, 2}, 1.0f, 3);
    b.integer_output<uint8_t>(b.node("Conv", {x, w}), 1.0f, 0);
    EXPECT_NE(refusal(&b).find("not a normal positive number"), std::string::npos) << scale;
  }
}

TEST(OnnxConv, ShapesThatDoNotFitAreInvalid) {
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({2, 2, 1, 1}, {1, 2, 3, 4}), 1.0f, 0);
  const std::string x = b.integer_input<uint8_t>({1, 3, 2, 2}, 1.0f, 3);
  b.integer_output<uint8_t>(b.node("Conv", {x, w}), 1.0f, 0);
  const Imported imported = b.import();
  EXPECT_EQ(imported.status.code(), Code::kInvalidModel);
  EXPECT_NE(std::string(imported.status.message()).find("node Conv"), std::string::npos)
      << imported.status.message();
}

// Padding SAME below zero shifts the windows. The expected numbers are ONNX Runtime 1.30's for
// inputs 1, 2, 3 ... 144.
TEST(OnnxConv, SameBelowZeroShiftsTheWindows) {
  std::vector<uint8_t> x(144);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i + 1);
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {1}), 1.0f, 0);
  const std::string in = b.integer_input<uint8_t>({1, 1, 12, 12}, 1.0f, 0);
  b.integer_output<uint8_t>(
      b.node("Conv", {in, w}, {Attr("strides", Dims{3, 4}), Attr("auto_pad", "SAME_UPPER")}), 1.0f,
      0);
  EXPECT_EQ(b.run_to<uint8_t>({to_bytes(x)}),
            (std::vector<uint8_t>{2, 6, 10, 38, 42, 46, 74, 78, 82, 110, 114, 118}));
}

TEST(OnnxConv, SameOfConvTransposeDoesNotFillUp) {
  OnnxBuilder b;
  const std::string w = b.dq<int8_t>(b.constant<int8_t>({1, 1, 1, 1}, {2}), 1.0f, 0);
  const std::string in = b.integer_input<uint8_t>({1, 1, 2, 2}, 1.0f, 0);
  b.integer_output<uint8_t>(b.node("ConvTranspose", {in, w},
                                   {Attr("strides", Dims{3, 2}), Attr("auto_pad", "SAME_UPPER")}),
                            1.0f, 0);
  EXPECT_EQ(b.run_to<uint8_t>({{10, 20, 30, 40}}),
            (std::vector<uint8_t>{20, 0, 40, 0, 0, 0, 0, 0, 0, 60, 0, 80}));
}

}  // namespace
}  // namespace qrt::testing::onnx_conv_test
