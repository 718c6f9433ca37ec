// SPDX-License-Identifier: Apache-2.0
// AveragePool2D against the formula of the schema in float32: geometry, what counts, zero points;
// models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"
#include "tests/support/volume_tester.h"

namespace qrt::average_pool2d_test {
namespace {

using testing::Bytes;

struct AveragePoolTester : testing::VolumeTester<AveragePoolTester> {
  int64_t h = 1, w = 1, c = 1;
  float input_scale = 0.037f, output_scale = 0.029f;
  fb::AveragePool2DOptionsT o;

  AveragePoolTester() {
    o.input_zero_point = 101;
    o.output_zero_point = 77;
  }
  AveragePoolTester& image(int64_t height, int64_t width, int64_t channels) {
    h = height, w = width, c = channels;
    return *this;
  }
  AveragePoolTester& kernel(uint32_t y, uint32_t x) {
    o.kernel_h = y, o.kernel_w = x;
    return *this;
  }
  AveragePoolTester& stride(uint16_t y, uint16_t x) {
    o.stride_h = y, o.stride_w = x;
    return *this;
  }
  AveragePoolTester& pad(uint16_t t, uint16_t l, uint16_t b, uint16_t r) {
    o.pad_top = t, o.pad_left = l, o.pad_bottom = b, o.pad_right = r;
    return *this;
  }
  AveragePoolTester& counting_padding() {
    o.count_include_pad = true;
    return *this;
  }
  AveragePoolTester& scales(float in, float out) {
    input_scale = in, output_scale = out;
    return *this;
  }
  AveragePoolTester& integer(int offset, int lo, int hi) {
    o.kind = fb::AverageKind::INT_HALF_AWAY;
    o.output_offset = offset, o.lo = lo, o.hi = hi;
    return *this;
  }
  AveragePoolTester& of_int8() {
    o.output_zero_point = -17;
    o.output_offset = 128;
    return *this;
  }

  uint8_t average(const uint8_t* pixels, int64_t out_y, int64_t out_x, int64_t ch) const {
    float sum = 0;
    int count = 0, integers = 0;
    for (uint32_t ky = 0; ky < o.kernel_h; ++ky) {
      for (uint32_t kx = 0; kx < o.kernel_w; ++kx) {
        const int64_t iy = out_y * o.stride_h + ky - o.pad_top;
        const int64_t ix = out_x * o.stride_w + kx - o.pad_left;
        if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
        const int x = pixels[(iy * w + ix) * c + ch];
        const float v = input_scale * static_cast<float>(x - o.input_zero_point);
        sum = sum + v;
        integers += x - o.output_offset;
        ++count;
      }
    }
    if (o.kind == fb::AverageKind::INT_HALF_AWAY) {
      const int nudged = integers > 0 ? integers + count / 2 : integers - count / 2;
      return static_cast<uint8_t>(std::clamp(nudged / count + o.output_offset, o.lo, o.hi));
    }
    if (o.count_include_pad) count = static_cast<int>(o.kernel_h * o.kernel_w);
    const float mean = sum / static_cast<float>(count);
    const float scaled = mean / output_scale;
    const float shifted = scaled + static_cast<float>(o.output_zero_point);
    const long y = std::lrint(shifted) + o.output_offset;  // half to even
    return static_cast<uint8_t>(std::clamp(y, 0L, 255L));
  }

  void test() {
    testing::Random random;
    SCOPED_TRACE(random.trace());
    o.input_scale = testing::float_bits(input_scale);
    o.output_scale = testing::float_bits(output_scale);
    const int64_t out_h = (h + o.pad_top + o.pad_bottom - o.kernel_h) / o.stride_h + 1;
    const int64_t out_w = (w + o.pad_left + o.pad_right - o.kernel_w) / o.stride_w + 1;
    testing::ModelBuilder m;
    const uint32_t x = m.input(shape(h, w, c)), y = m.output(shape(out_h, out_w, c));
    m.op(fb::AveragePool2DOptionsT(o), {x}, {y});
    for (const size_t batch : {1, 3}) {
      const size_t image_bytes = static_cast<size_t>(h * w * c);
      Bytes input(images(batch) * image_bytes), expected;
      random.fill(input, 0, 255);
      for (size_t n = 0; n < images(batch); ++n)
        for (int64_t i = 0; i < out_h * out_w; ++i)
          for (int64_t ch = 0; ch < c; ++ch)
            expected.push_back(average(&input[n * image_bytes], i / out_w, i % out_w, ch));
      testing::expect_outputs(m, batch, {input}, {expected});
    }
  }
};

TEST(AveragePool2D, Geometry) {
  AveragePoolTester().image(8, 8, 17).kernel(2, 2).stride(2, 2).test();
  AveragePoolTester().image(9, 7, 64).kernel(3, 3).stride(2, 2).pad(1, 1, 1, 1).test();
  AveragePoolTester().image(9, 7, 5).kernel(3, 2).pad(2, 0, 0, 1).test();
  AveragePoolTester().image(7, 7, 20).kernel(7, 7).test();
}

TEST(AveragePool2D, CountsPaddingOnRequest) {
  AveragePoolTester().image(6, 6, 19).kernel(3, 3).pad(1, 1, 1, 1).counting_padding().test();
}

TEST(AveragePool2D, PlanesOfAVolumeAreImages) {
  AveragePoolTester().image(7, 6, 20).kernel(3, 2).stride(2, 1).pad(1, 0, 1, 1).volume(3).test();
  AveragePoolTester().image(7, 6, 5).kernel(3, 3).integer(128, 0, 255).volume(2).test();
}

TEST(AveragePool2D, SourcesOfInt8) {
  AveragePoolTester().image(6, 6, 19).kernel(2, 3).of_int8().test();
}

// Ties go to even: with scales of equal powers of two, means of 4 positions end in .25, .5, .75, so
// that ties are common.
TEST(AveragePool2D, TiesGoToEven) {
  AveragePoolTester().image(12, 12, 33).kernel(2, 2).stride(2, 2).scales(0.5f, 0.5f).test();
}

TEST(AveragePool2D, IntegersRoundHalfAway) {
  for (const int offset : {0, 128}) {
    AveragePoolTester().image(8, 8, 64).kernel(8, 8).integer(offset, 0, 255).test();
    AveragePoolTester()
        .image(9, 7, 65)
        .kernel(3, 3)
        .stride(2, 2)
        .pad(1, 1, 1, 1)
        .integer(offset, 0, 255)
        .test();
    AveragePoolTester()
        .image(12, 12, 130)
        .kernel(2, 2)
        .stride(2, 2)
        .integer(offset, 100, 150)
        .test();
    AveragePoolTester().image(1, 600, 3).kernel(1, 600).integer(offset, 0, 255).test();
  }
  AveragePoolTester().image(48, 48, 48).kernel(3, 3).pad(1, 1, 1, 1).integer(128, 0, 255).test();
}

// Work is cut into several tasks on every instruction set.
TEST(AveragePool2D, ManyTasks) {
  AveragePoolTester().image(48, 48, 48).kernel(3, 3).pad(1, 1, 1, 1).test();
}

using Damage = std::function<void(testing::ModelBuilder&, fb::AveragePool2DOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 6, 6, 4}), y = m.output({-1, 3, 3, 4});
  fb::AveragePool2DOptionsT o;
  o.kernel_h = o.kernel_w = 2;
  o.stride_h = o.stride_w = 2;
  o.input_scale = o.output_scale = testing::float_bits(0.5f);
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsAveragePool2D());
  testing::expect_rejected(m, part);
}

TEST(AveragePool2D, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::AveragePool2DOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 0 (x) is float32, expected uint8",
         [](M& m, O&) { m.at(0).dtype = fb::DType::FLOAT32; });
  reject("of rank 3, expected 4 [n, h, w, c]", [](M& m, O&) { m.at(0).shape = {-1, 36, 4}; });
  reject("stride of the width is 0", [](M&, O& o) { o.stride_w = 0; });
  reject("kernel width is 0, expected at least 1", [](M&, O& o) { o.kernel_w = 0; });
  reject("padding before the height is 2: window 0", [](M&, O& o) { o.pad_top = 2; });
  reject("padding after the width is 2", [](M&, O& o) { o.pad_right = 2; });
  reject("input_scale is 0, expected a normal number > 0", [](M&, O& o) { o.input_scale = 0; });
  reject("input_scale is -0.5", [](M&, O& o) { o.input_scale = testing::float_bits(-0.5f); });
  reject("output_scale is nan", [](M&, O& o) { o.output_scale = 0x7fc00000; });
  reject("output_scale is inf", [](M&, O& o) { o.output_scale = 0x7f800000; });
  reject("output_scale is 1.4013e-45", [](M&, O& o) { o.output_scale = 1; });
  reject("over output_scale 1e-20", [](M&, O& o) { o.output_scale = testing::float_bits(1e-20f); });
  reject("input_scale 1e+38", [](M&, O& o) { o.input_scale = testing::float_bits(1e38f); });
  reject("output_zero_point is 256, expected -128 to 255",
         [](M&, O& o) { o.output_zero_point = 256; });
  reject("output_offset is 1, expected 0 or 128", [](M&, O& o) { o.output_offset = 1; });
  const auto integer = [](fb::AveragePool2DOptionsT& o) {
    o.kind = fb::AverageKind::INT_HALF_AWAY;
  };
  reject("kind is 2, expected 0 or 1", [](M&, O& o) { o.kind = static_cast<fb::AverageKind>(2); });
  reject("limits are 9 to 8", [&](M&, O& o) { integer(o), o.lo = 9, o.hi = 8; });
  reject("limits are 0 to 256", [&](M&, O& o) { integer(o), o.hi = 256; });
  reject("has no count_include_pad", [&](M&, O& o) { integer(o), o.count_include_pad = true; });
  reject("output_offset is 1", [&](M&, O& o) { integer(o), o.output_offset = 1; });
}

}  // namespace
}  // namespace qrt::average_pool2d_test
