// SPDX-License-Identifier: Apache-2.0
// Pass join_pixels: convolutions of few channels take pixels of a row together, no byte of any output
// changes.
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace qrt::join_pixels_test {
namespace {

using convert::ValueId;
using testing::GraphBuilder;

constexpr int kZero = 117;  // zero point of the builder's values

struct Layer {
  int64_t in_h, in_w, in_c, out_c, kernel_h, kernel_w;
  int64_t stride_w = 1, left = 0, right = 0, top = 0, dilation_w = 1;
  int64_t out_w() const {
    return (in_w + left + right - (kernel_w - 1) * dilation_w - 1) / stride_w + 1;
  }
  int64_t out_h() const { return in_h + top - kernel_h + 1; }
};

struct Result {
  Shape weights, y;
  int64_t stride_w, left, right;
  size_t nodes;
};

fb::Conv2DOptionsT options_of(const Layer& l) {
  fb::Conv2DOptionsT o;
  o.stride_w = static_cast<uint16_t>(l.stride_w);
  o.dilation_w = static_cast<uint16_t>(l.dilation_w);
  o.pad_left = static_cast<uint16_t>(l.left), o.pad_right = static_cast<uint16_t>(l.right);
  o.pad_top = static_cast<uint16_t>(l.top);
  o.input_zero_point = kZero;
  o.requant = testing::requant_f32({0.004f}, kZero);
  return o;
}

// Returns a model of one convolution; a Lut behind it reads its output.
Result joined(const Layer& l, const fb::Conv2DOptionsT& options, DType type = DType::kUInt8) {
  GraphBuilder b;
  const ValueId x = b.input({2, l.in_h, l.in_w, l.in_c});
  b.output(b.op(options, {x, b.weights({l.out_c, l.kernel_h, l.kernel_w, l.in_c}), b.bias(l.out_c)},
                {2, l.out_h(), l.out_w(), l.out_c}, type));
  expect_same_outputs(&b);  // which leaves the graph as the passes made it
  const convert::Node& node = b.graph.nodes[0];
  const auto& o = convert::options<fb::Conv2DOptionsT>(node);
  return {b.graph.values[node.inputs[1]].type.shape,
          b.graph.values[node.outputs[0]].type.shape,
          o.stride_w,
          o.pad_left,
          o.pad_right,
          b.graph.nodes.size()};
}

Result joined(const Layer& l) { return joined(l, options_of(l)); }

TEST(JoinPixels, AsManyAsFitIntoThePackedChannels) {
  Result r = joined({5, 12, 3, 4, 5, 5, 1, 2, 2});
  EXPECT_EQ(r.weights, Shape({16, 5, 8, 3}));
  EXPECT_EQ(r.y, Shape({-1, 1, 3, 16}));
  EXPECT_EQ(r.stride_w, 4);
  EXPECT_EQ(r.left, 2);
  EXPECT_EQ(r.right, 2);
  EXPECT_EQ(r.nodes, 2u);
  r = joined({9, 32, 2, 1, 9, 9, 1, 4, 4, 8});
  EXPECT_EQ(r.weights, Shape({16, 9, 24, 2}));
  r = joined({4, 24, 5, 2, 3, 3, 1, 1, 1});
  EXPECT_EQ(r.weights, Shape({16, 3, 10, 5}));
  r = joined({5, 21, 5, 1, 5, 5, 1, 2, 2});  // 7 pixels divide 21
  EXPECT_EQ(r.weights, Shape({7, 5, 11, 5}));
  r = joined({1, 14, 5, 8, 1, 7, 1, 3, 3});
  EXPECT_EQ(r.weights, Shape({16, 1, 8, 5}));
}

TEST(JoinPixels, Strides) {
  Result r = joined({7, 24, 3, 4, 7, 7, 2, 3, 3});  // the last column of padding is not reached
  EXPECT_EQ(r.weights, Shape({16, 7, 13, 3}));
  EXPECT_EQ(r.stride_w, 8);
  EXPECT_EQ(r.right, 2);
  r = joined({5, 30, 3, 3, 5, 5, 3});  // nor columns of the image
  EXPECT_EQ(r.weights.rank(), 4);
  EXPECT_EQ(r.right, 0);
}

TEST(JoinPixels, NotWhereItDoesNotPay) {
  for (const Layer& l :
       {Layer{4, 12, 8, 4, 1, 1}, Layer{4, 14, 8, 4, 3, 3, 1, 1, 1},
        Layer{5, 12, 8, 9, 5, 5, 1, 2, 2}, Layer{5, 13, 8, 2, 5, 5, 1, 2, 2},
        Layer{5, 12, 8, 4, 5, 5, 5, 2, 2}, Layer{5, 20, 3, 2, 5, 5, 1, 0, 0, 0, 2}}) {
    const Result r = joined(l);
    EXPECT_EQ(r.nodes, 1u);
    EXPECT_EQ(r.weights, Shape({l.out_c, l.kernel_h, l.kernel_w, l.in_c}));
  }
}

TEST(JoinPixels, EveryChannelKeepsItsScale) {
  const Layer l = {5, 16, 3, 3, 5, 5, 1, 2, 2};
  fb::Conv2DOptionsT o = options_of(l);
  const Shape wide = {12, 5, 8, 3};
  o.requant = testing::requant_f32({0.003f, 0.0005f, 0.009f}, kZero);
  EXPECT_EQ(joined(l, o).weights, wide);
  o.requant = testing::requant_int(1 << 30, 38, kZero);
  o.requant->stages[0]->multiplier = {1 << 30, 1 << 28, 3 << 28};
  o.requant->stages[0]->shift = {38, 37, 36};
  EXPECT_EQ(joined(l, o).weights, wide);
  o.requant = testing::requant_acc();
  EXPECT_EQ(joined(l, o, DType::kInt32).weights, wide);
}

}  // namespace
}  // namespace qrt::join_pixels_test
