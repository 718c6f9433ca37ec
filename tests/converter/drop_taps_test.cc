// SPDX-License-Identifier: Apache-2.0
// Pass drop_taps: what meets nothing but padding goes, no byte of any output changes.
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace qrt::drop_taps_test {
namespace {

using convert::ValueId;
using testing::GraphBuilder;

constexpr int kZero = 117;  // zero point of the builder's values

struct Axis {
  int64_t in, kernel, stride, dilation, before, after;
  int64_t out() const { return (in + before + after - (kernel - 1) * dilation - 1) / stride + 1; }
};

struct Result {
  Shape weights;
  int64_t dilation_h, dilation_w, top, left, bottom, right;
};

template <class Options>
Options options_of(const Axis& h, const Axis& w) {
  Options o;
  o.stride_h = static_cast<uint16_t>(h.stride), o.stride_w = static_cast<uint16_t>(w.stride);
  o.dilation_h = static_cast<uint16_t>(h.dilation),
  o.dilation_w = static_cast<uint16_t>(w.dilation);
  o.pad_top = static_cast<uint16_t>(h.before), o.pad_bottom = static_cast<uint16_t>(h.after);
  o.pad_left = static_cast<uint16_t>(w.before), o.pad_right = static_cast<uint16_t>(w.after);
  o.input_zero_point = kZero;
  o.requant = testing::requant_f32({0.004f}, kZero);
  return o;
}

template <class Options>
Result dropped(const Axis& h, const Axis& w, const Options& options, const Shape& weights,
               int64_t channels_out) {
  GraphBuilder b;
  const ValueId x = b.input({2, h.in, w.in, 4});
  b.output(b.op(options, {x, b.weights(weights), b.bias(channels_out)},
                {2, h.out(), w.out(), channels_out}));
  expect_same_outputs(&b);
  GraphBuilder again = b;
  convert::drop_taps(&again.graph);
  const convert::Node& node = again.graph.nodes[0];
  const auto& o = convert::options<Options>(node);
  return {again.graph.values[node.inputs[1]].type.shape,
          o.dilation_h,
          o.dilation_w,
          o.pad_top,
          o.pad_left,
          o.pad_bottom,
          o.pad_right};
}

Result conv(const Axis& h, const Axis& w) {
  return dropped(h, w, options_of<fb::Conv2DOptionsT>(h, w), {17, h.kernel, w.kernel, 4}, 17);
}

Result depthwise(const Axis& h, const Axis& w) {
  return dropped(h, w, options_of<fb::DepthwiseConv2DOptionsT>(h, w), {h.kernel, w.kernel, 4}, 4);
}

TEST(DropTaps, OnlyTheCentreOfAnImageSmallerThanTheDilation) {
  const Axis a = {5, 3, 1, 6, 6, 6};
  for (const Result& r : {conv(a, a), depthwise(a, a)}) {
    EXPECT_EQ(r.weights.elements(), r.weights.rank() == 4 ? 68 : 4);
    EXPECT_EQ(r.dilation_h, 1);
    EXPECT_EQ(r.dilation_w, 1);
    EXPECT_EQ(r.top + r.left + r.bottom + r.right, 0);
  }
}

TEST(DropTaps, StaysWhereOneOutputReadsThem) {
  const Axis a = {7, 3, 1, 6, 6, 6};
  EXPECT_EQ(conv(a, a).weights, Shape({17, 3, 3, 4}));
  EXPECT_EQ(depthwise(a, a).weights, Shape({3, 3, 4}));
}

TEST(DropTaps, OneAxisAndOneSide) {
  const Axis plain = {6, 3, 1, 1, 1, 1}, top = {4, 4, 1, 1, 3, 0}, far = {3, 3, 1, 4, 8, 0};
  EXPECT_EQ(conv(plain, {6, 3, 1, 9, 9, 9}).weights, Shape({17, 3, 1, 4}));
  EXPECT_EQ(conv(top, plain).weights, Shape({17, 4, 3, 4}));
  const Result r = conv(far, plain);  // rows -8, -4 and 0 of the image, as outputs move on
  EXPECT_EQ(r.weights, Shape({17, 1, 3, 4}));
  EXPECT_EQ(r.top, 0);
}

// Taps stay where without them the window would have to begin inside the image, for which there is no padding.
TEST(DropTaps, KeepsWhatPaddingCannotReplace) {
  const Axis h = {3, 2, 1, 5, 3, 5}, plain = {6, 3, 1, 1, 1, 1};
  EXPECT_EQ(conv(h, plain).weights, Shape({17, 2, 3, 4}));
}

TEST(DropTaps, AnyWindow) {
  testing::Random random;
  const auto axis = [&] {
    for (;;) {
      const Axis a = {random.integer(1, 6), random.integer(1, 5),  random.integer(1, 4),
                      random.integer(1, 7), random.integer(0, 12), random.integer(0, 12)};
      if (a.in + a.before + a.after > (a.kernel - 1) * a.dilation) return a;
    }
  };
  int64_t fewer = 0;
  for (int i = 0; i < 300; ++i) {
    const Axis h = axis(), w = axis();
    const Result r = i % 2 ? conv(h, w) : depthwise(h, w);
    fewer += r.weights.elements() < h.kernel * w.kernel * (i % 2 ? 20 : 4);
  }
  EXPECT_GT(fewer, 50);
}

}  // namespace
}  // namespace qrt::drop_taps_test
