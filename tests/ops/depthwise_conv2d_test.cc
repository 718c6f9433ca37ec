// SPDX-License-Identifier: Apache-2.0
// DepthwiseConv2D against a loop over taps: kernels, strides, dilations, padding, multipliers;
// models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"
#include "tests/support/volume_tester.h"

namespace qrt::depthwise_conv2d_test {
namespace {

using testing::Bytes;

struct DepthwiseTester : testing::VolumeTester<DepthwiseTester> {
  int64_t h = 1, w = 1, c = 1, multiplier = 1, kh = 1, kw = 1, terms = 1;
  int stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int top = 0, left = 0, bottom = 0, right = 0;
  bool is_int = false, shifts_up = false;

  DepthwiseTester& image(int64_t height, int64_t width, int64_t channels) {
    h = height, w = width, c = channels;
    return *this;
  }
  DepthwiseTester& kernel(int64_t height, int64_t width) {
    kh = height, kw = width;
    return *this;
  }
  DepthwiseTester& times(int64_t m) {
    multiplier = m;
    return *this;
  }
  DepthwiseTester& of_terms(int64_t t) {
    terms = t;
    return *this;
  }
  DepthwiseTester& stride(int y, int x) {
    stride_h = y, stride_w = x;
    return *this;
  }
  DepthwiseTester& dilation(int y, int x) {
    dilation_h = y, dilation_w = x;
    return *this;
  }
  DepthwiseTester& pad(int t, int l, int b, int r) {
    top = t, left = l, bottom = b, right = r;
    return *this;
  }
  DepthwiseTester& integer() {
    is_int = true;
    return *this;
  }

  // Takes a shift for each channel, half up, which gives ties above and below the zero point.
  DepthwiseTester& shift_up() {
    shifts_up = true;
    return *this;
  }

  void test() const {
    testing::Random random;
    SCOPED_TRACE(random.trace());
    const int64_t out_h = (h + top + bottom - dilation_h * (kh - 1) - 1) / stride_h + 1;
    const int64_t out_w = (w + left + right - dilation_w * (kw - 1) - 1) / stride_w + 1;
    const size_t channels = static_cast<size_t>(c * multiplier);
    std::vector<int8_t> summands(static_cast<size_t>(terms * kh * kw) * channels);
    random.fill(summands, -128, 127);
    std::vector<int32_t> weights(summands.size() / static_cast<size_t>(terms));
    for (size_t i = 0; i < summands.size(); ++i) weights[i % weights.size()] += summands[i];
    std::vector<int32_t> weight_sum(channels), bias(channels);
    for (size_t i = 0; i < weights.size(); ++i) weight_sum[i % channels] += weights[i];
    random.fill(bias, -5000, 5000);
    const uint8_t zero_point = static_cast<uint8_t>(random.integer(0, 255));

    testing::ModelBuilder m;
    const uint32_t x = m.input(shape(h, w, c));
    const uint32_t wt = m.depthwise_weights({kh, kw, c * multiplier}, summands);
    const uint32_t b = m.bias(bias);
    const uint32_t y = m.output(shape(out_h, out_w, c * multiplier));
    fb::DepthwiseConv2DOptionsT o;
    o.stride_h = static_cast<uint16_t>(stride_h), o.stride_w = static_cast<uint16_t>(stride_w);
    o.dilation_h = static_cast<uint16_t>(dilation_h);
    o.dilation_w = static_cast<uint16_t>(dilation_w);
    o.pad_top = static_cast<uint16_t>(top), o.pad_left = static_cast<uint16_t>(left);
    o.pad_bottom = static_cast<uint16_t>(bottom), o.pad_right = static_cast<uint16_t>(right);
    o.multiplier = static_cast<uint32_t>(multiplier);
    o.input_zero_point = zero_point;
    o.weight_sum = weight_sum;
    o.terms = static_cast<uint8_t>(terms);
    const int exponent = -8 - static_cast<int>(std::lround(std::log2(kh * kw) / 2));
    std::vector<float> scale;
    for (size_t i = 0; i < channels; ++i) scale.push_back(random.scale(exponent));
    o.requant = is_int ? testing::requant_int(1 << 30, static_cast<uint8_t>(30 - exponent), 99)
                       : testing::requant_f32(scale, 120);
    if (shifts_up) {
      o.requant = testing::requant_int(1, 0, 128);
      fb::RequantStageT& stage = *o.requant->stages[0];
      stage.rounding = fb::Rounding::HALF_UP;
      stage.multiplier.assign(channels, 1);
      stage.shift.clear();
      for (size_t i = 0; i < channels; ++i)
        stage.shift.push_back(static_cast<uint8_t>(random.integer(3, 11)));
    }
    const testing::RequantOracle requant(*o.requant, channels);
    m.op(std::move(o), {x, wt, b}, {y});

    for (const size_t batch : {1, 3}) {
      const size_t image_bytes = static_cast<size_t>(h * w * c);
      Bytes input(images(batch) * image_bytes), expected;
      random.fill(input, 0, 255);
      for (size_t n = 0; n < images(batch); ++n) {
        const uint8_t* pixels = &input[n * image_bytes];
        for (int64_t i = 0; i < out_h * out_w; ++i) {
          for (size_t ch = 0; ch < channels; ++ch) {
            int32_t acc = bias[ch];
            for (int64_t t = 0; t < kh * kw; ++t) {
              const int64_t iy = i / out_w * stride_h + t / kw * dilation_h - top;
              const int64_t ix = i % out_w * stride_w + t % kw * dilation_w - left;
              const bool inside = iy >= 0 && iy < h && ix >= 0 && ix < w;
              const int64_t from = static_cast<int64_t>(ch) / multiplier;
              const int32_t v = inside ? pixels[(iy * w + ix) * c + from] : zero_point;
              acc += v * weights[static_cast<size_t>(t) * channels + ch];
            }
            requant.append(acc, ch, &expected);
          }
        }
      }
      testing::expect_outputs(m, batch, {input}, {expected});
    }
  }
};

TEST(DepthwiseConv2D, AnyChannelCount) {
  for (const int64_t c : {1, 3, 15, 16, 17, 32, 64, 67})
    DepthwiseTester().image(6, 7, c).kernel(3, 3).pad(1, 1, 1, 1).test();
}

TEST(DepthwiseConv2D, Strides) {
  DepthwiseTester().image(9, 8, 33).kernel(3, 3).stride(2, 2).pad(1, 1, 1, 1).test();
  DepthwiseTester().image(8, 8, 16).kernel(3, 3).stride(2, 2).pad(0, 0, 1, 1).test();
  DepthwiseTester().image(9, 10, 20).kernel(3, 3).stride(3, 1).test();
}

TEST(DepthwiseConv2D, KernelsOfAnySize) {
  DepthwiseTester().image(7, 7, 24).kernel(5, 5).pad(2, 2, 2, 2).test();
  DepthwiseTester().image(7, 7, 24).kernel(7, 7).test();
  DepthwiseTester().image(6, 5, 18).kernel(2, 4).pad(0, 1, 1, 2).test();
  DepthwiseTester().image(5, 5, 65).kernel(1, 1).test();
  DepthwiseTester().image(12, 3, 8).kernel(9, 1).pad(4, 0, 4, 0).test();
}

TEST(DepthwiseConv2D, PlanesOfAVolumeAreImages) {
  DepthwiseTester().image(7, 6, 20).kernel(3, 3).pad(1, 1, 1, 1).volume(3).test();
  DepthwiseTester().image(7, 6, 5).kernel(2, 3).stride(2, 1).times(2).volume(2).test();
}

TEST(DepthwiseConv2D, Dilation) {
  DepthwiseTester().image(9, 9, 19).kernel(3, 3).dilation(2, 2).pad(2, 2, 2, 2).test();
  DepthwiseTester().image(9, 11, 16).kernel(2, 3).dilation(3, 4).stride(2, 1).test();
}

TEST(DepthwiseConv2D, WindowsWhollyInPaddingReadTheZeroPoint) {
  DepthwiseTester().image(2, 3, 20).kernel(3, 3).pad(5, 4, 6, 5).test();
}

TEST(DepthwiseConv2D, Multipliers) {
  DepthwiseTester().image(6, 6, 5).kernel(3, 3).pad(1, 1, 1, 1).times(2).test();
  DepthwiseTester().image(5, 6, 1).kernel(3, 3).times(32).test();
  DepthwiseTester().image(5, 6, 16).kernel(3, 3).stride(2, 2).times(3).test();
}

TEST(DepthwiseConv2D, WeightsOfSeveralTerms) {
  for (const int64_t terms : {2, 3}) {
    const auto make = [&] { return DepthwiseTester().of_terms(terms); };
    make().image(6, 7, 67).kernel(3, 3).pad(1, 1, 1, 1).test();
    make().image(9, 8, 33).kernel(3, 3).stride(2, 2).pad(0, 0, 1, 1).integer().test();
    make().image(7, 7, 24).kernel(5, 5).pad(2, 2, 2, 2).shift_up().test();
    make().image(9, 11, 16).kernel(2, 3).dilation(3, 4).stride(2, 1).test();
    make().image(1, 40, 24).kernel(1, 9).pad(0, 4, 0, 4).test();
    make().image(40, 1, 24).kernel(9, 1).pad(4, 0, 4, 0).test();
    make().image(5, 6, 5).kernel(3, 3).times(3).test();
  }
}

TEST(DepthwiseConv2D, IntegerRequantisation) {
  DepthwiseTester().image(6, 6, 37).kernel(3, 3).pad(1, 1, 1, 1).integer().test();
  for (const int64_t c : {3, 16, 37, 64, 67})
    DepthwiseTester().image(6, 6, c).kernel(3, 3).pad(1, 1, 1, 1).shift_up().test();
  DepthwiseTester().image(7, 7, 24).kernel(5, 5).pad(2, 2, 2, 2).stride(2, 2).shift_up().test();
}

// Work is cut into several tasks on every instruction set.
TEST(DepthwiseConv2D, ManyTasks) {
  DepthwiseTester().image(56, 56, 96).kernel(3, 3).pad(1, 1, 1, 1).test();
}

using Damage = std::function<void(testing::ModelBuilder&, fb::DepthwiseConv2DOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 5, 5, 4});
  const uint32_t w = m.depthwise_weights({3, 3, 8}, std::vector<int8_t>(72, 1));
  const uint32_t b = m.bias(std::vector<int32_t>(8));
  const uint32_t y = m.output({-1, 3, 3, 8});
  fb::DepthwiseConv2DOptionsT o;
  o.multiplier = 2;
  o.weight_sum.assign(8, 9);
  o.requant = testing::requant_f32({0.01f});
  fb::OperatorT& op = m.op(std::move(o), {x, w, b}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsDepthwiseConv2D());
  testing::expect_rejected(m, part);
}

TEST(DepthwiseConv2D, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::DepthwiseConv2DOptionsT;
  reject("has 1 inputs, expected 3", [](M& m, O&) { m.model().operators[0]->inputs.resize(1); });
  reject("input 0 (x) has shape [1, 5, 20] of rank 3", [](M& m, O&) {
    m.at(0).shape = {-1, 5, 20};
  });
  reject("input 0 (x) is float32", [](M& m, O&) { m.at(0).dtype = fb::DType::FLOAT32; });
  reject("weights have shape [3, 3, 8], expected [kh, kw, 4 channels * multiplier 3]",
         [](M&, O& o) { o.multiplier = 3; });
  reject("multiplier 0", [](M&, O& o) { o.multiplier = 0; });
  reject("multiplier 4294967295", [](M&, O& o) { o.multiplier = UINT32_MAX; });
  reject("of rank 4, expected 3 [kh, kw, out]", [](M& m, O&) { m.at(1).shape = {3, 3, 8, 1}; });
  reject("input 1 (weights) has packing 1, expected 2 (DEPTHWISE)",
         [](M& m, O&) { m.at(1).packing = fb::Packing::GEMM; });
  reject("input 1 (weights) holds 192 bytes, expected 320", [](M& m, O&) { m.at(1).shape[1] = 5; });
  reject("input 2 (bias) has shape [1, 8]", [](M& m, O&) { m.at(2).shape = {1, 8}; });
  reject("weight_sum has 4 values", [](M&, O& o) { o.weight_sum.resize(4); });
  reject("stride of the height is 0", [](M&, O& o) { o.stride_h = 0; });
  reject("dilation of the width is 0", [](M&, O& o) { o.dilation_w = 0; });
  reject("covers 9 positions, the padded input has only 5", [](M&, O& o) { o.dilation_h = 4; });
  reject("terms is 0, expected 1 to 3", [](M&, O& o) { o.terms = 0; });
  reject("terms is 4, expected 1 to 3", [](M&, O& o) { o.terms = 4; });
  reject("input 1 (weights) holds 192 bytes, expected 384", [](M&, O& o) { o.terms = 2; });
  reject("requant.kind is ACC", [](M&, O& o) { o.requant = testing::requant_acc(); });
  reject("requant is missing", [](M&, O& o) { o.requant.reset(); });
}

}  // namespace
}  // namespace qrt::depthwise_conv2d_test
