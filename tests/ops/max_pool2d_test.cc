// SPDX-License-Identifier: Apache-2.0
// MaxPool2D against a loop over the window: geometry, the global form; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"
#include "tests/support/volume_tester.h"

namespace qrt::max_pool2d_test {
namespace {

using testing::Bytes;

struct MaxPoolTester : testing::VolumeTester<MaxPoolTester> {
  int64_t h = 1, w = 1, c = 1;
  fb::MaxPool2DOptionsT o;

  MaxPoolTester& image(int64_t height, int64_t width, int64_t channels) {
    h = height, w = width, c = channels;
    return *this;
  }
  MaxPoolTester& kernel(uint32_t y, uint32_t x) {
    o.kernel_h = y, o.kernel_w = x;
    return *this;
  }
  MaxPoolTester& stride(uint16_t y, uint16_t x) {
    o.stride_h = y, o.stride_w = x;
    return *this;
  }
  MaxPoolTester& dilation(uint16_t y, uint16_t x) {
    o.dilation_h = y, o.dilation_w = x;
    return *this;
  }
  MaxPoolTester& pad(uint16_t t, uint16_t l, uint16_t b, uint16_t r) {
    o.pad_top = t, o.pad_left = l, o.pad_bottom = b, o.pad_right = r;
    return *this;
  }

  void test() const {
    testing::Random random;
    SCOPED_TRACE(random.trace());
    const int64_t kh = o.kernel_h ? o.kernel_h : h, kw = o.kernel_w ? o.kernel_w : w;
    const int64_t out_h =
        (h + o.pad_top + o.pad_bottom - o.dilation_h * (kh - 1) - 1) / o.stride_h + 1;
    const int64_t out_w =
        (w + o.pad_left + o.pad_right - o.dilation_w * (kw - 1) - 1) / o.stride_w + 1;
    testing::ModelBuilder m;
    const uint32_t x = m.input(shape(h, w, c)), y = m.output(shape(out_h, out_w, c));
    m.op(o, {x}, {y});
    for (const size_t batch : {1, 3}) {
      const size_t image_bytes = static_cast<size_t>(h * w * c);
      Bytes input(images(batch) * image_bytes), expected;
      random.fill(input, 0, 255);
      for (size_t n = 0; n < images(batch); ++n) {
        const uint8_t* pixels = &input[n * image_bytes];
        for (int64_t i = 0; i < out_h * out_w; ++i) {
          for (int64_t ch = 0; ch < c; ++ch) {
            uint8_t greatest = 0;
            for (int64_t t = 0; t < kh * kw; ++t) {
              const int64_t iy = i / out_w * o.stride_h + t / kw * o.dilation_h - o.pad_top;
              const int64_t ix = i % out_w * o.stride_w + t % kw * o.dilation_w - o.pad_left;
              if (iy >= 0 && iy < h && ix >= 0 && ix < w)
                greatest = std::max(greatest, pixels[(iy * w + ix) * c + ch]);
            }
            expected.push_back(greatest);
          }
        }
      }
      testing::expect_outputs(m, batch, {input}, {expected});
    }
  }
};

TEST(MaxPool2D, Geometry) {
  MaxPoolTester().image(8, 8, 17).kernel(2, 2).stride(2, 2).test();
  MaxPoolTester().image(9, 7, 64).kernel(3, 3).stride(2, 2).pad(1, 1, 1, 1).test();
  MaxPoolTester().image(9, 7, 5).kernel(3, 2).pad(2, 0, 0, 1).test();
  MaxPoolTester().image(9, 9, 20).kernel(2, 3).dilation(3, 2).pad(1, 1, 1, 1).test();
  MaxPoolTester().image(5, 5, 3).kernel(1, 1).stride(3, 2).test();
}

TEST(MaxPool2D, AKernelOfZeroIsTheWholeImage) {
  MaxPoolTester().image(7, 5, 33).kernel(0, 0).test();
  MaxPoolTester().image(1, 1, 3).kernel(0, 0).test();
}

TEST(MaxPool2D, PlanesOfAVolumeAreImages) {
  MaxPoolTester().image(7, 5, 33).kernel(3, 2).stride(2, 1).pad(1, 0, 1, 1).volume(3).test();
  MaxPoolTester().image(7, 5, 33).kernel(0, 0).volume(2).test();
}

// An image so large is cut into several tasks on every instruction set.
TEST(MaxPool2D, ManyTasks) {
  MaxPoolTester().image(112, 112, 64).kernel(3, 3).stride(2, 2).pad(1, 1, 1, 1).test();
}

using Damage = std::function<void(testing::ModelBuilder&, fb::MaxPool2DOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 6, 6, 4}), y = m.output({-1, 3, 3, 4});
  fb::MaxPool2DOptionsT o;
  o.kernel_h = o.kernel_w = 2;
  o.stride_h = o.stride_w = 2;
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsMaxPool2D());
  testing::expect_rejected(m, part);
}

TEST(MaxPool2D, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::MaxPool2DOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("input 0 (x) is int8, expected uint8", [](M& m, O&) { m.at(0).dtype = fb::DType::INT8; });
  reject("of rank 3, expected 4 [n, h, w, c]", [](M& m, O&) { m.at(0).shape = {-1, 36, 4}; });
  reject("stride of the height is 0", [](M&, O& o) { o.stride_h = 0; });
  reject("dilation of the width is 0", [](M&, O& o) { o.dilation_w = 0; });
  reject("kernel height is 0, expected at least 1", [](M&, O& o) { o.kernel_h = 0; });
  reject("covers 4294967295 positions", [](M&, O& o) { o.kernel_w = UINT32_MAX; });
  reject("padding before the height is 2: window 0 lies outside the image of 6",
         [](M&, O& o) { o.pad_top = 2; });
  reject("padding after the width is 2: the last window starts at 6",
         [](M&, O& o) { o.pad_right = 2; });
  // Both positions of the kernel miss the image: -1 and 6.
  reject("padding before the width is 1: window 0 lies outside the image of 6",
         [](M&, O& o) { o.pad_left = 1, o.dilation_w = 7, o.pad_right = 1; });
  reject("padding 0, 1, 0, 0 of a global pool, expected 0",
         [](M&, O& o) { o.kernel_h = o.kernel_w = 0, o.pad_left = 1; });
  reject("expected [1, 1, 1, 4]", [](M&, O& o) { o.kernel_h = o.kernel_w = 0; });
}

}  // namespace
}  // namespace qrt::max_pool2d_test
