// SPDX-License-Identifier: Apache-2.0
// Passes on Gather: chains, identities and constants, padding that goes into the operator behind,
// layouts and the batch; no byte of any output changes.
#include <gtest/gtest.h>

#include "converter/import/common/index_maps.h"
#include "tests/support/graph_builder.h"

namespace qrt::gathers_test {
namespace {

using convert::IndexMaps;
using convert::Indices;
using convert::padded;
using convert::PadMode;
using convert::stepped;
using convert::ValueId;
using testing::GraphBuilder;

constexpr int64_t kZero = 117;  // zero point of the builder's values

ValueId gather(GraphBuilder* b, ValueId x, std::vector<std::pair<int, Indices>> axes,
               int64_t fill = kZero) {
  IndexMaps maps(b->shape(x));
  for (auto& [axis, indices] : axes) maps.set(axis, std::move(indices));
  const DType dtype = b->graph.values[x].type.dtype;
  return b->op(maps.options(fill), {x}, maps.to(), dtype);
}

ValueId pad(GraphBuilder* b, ValueId x, int64_t top, int64_t left, int64_t bottom, int64_t right,
            int64_t fill = kZero) {
  const Shape s = b->shape(x);
  return gather(b, x,
                {{1, padded(s[1], top, bottom, PadMode::kConstant)},
                 {2, padded(s[2], left, right, PadMode::kConstant)}},
                fill);
}

template <class Options>
ValueId pool(GraphBuilder* b, ValueId x, Options o) {
  o.kernel_h = o.kernel_w = 3;
  o.stride_h = o.stride_w = 2;
  const Shape s = b->shape(x);
  const auto out = [&](int64_t in, int64_t pads) { return (in + pads - 3) / 2 + 1; };
  return b->op(
      o, {x},
      {s[0], out(s[1], o.pad_top + o.pad_bottom), out(s[2], o.pad_left + o.pad_right), s[3]});
}

fb::AveragePool2DOptionsT average() {
  fb::AveragePool2DOptionsT o;
  o.input_scale = o.output_scale = testing::float_bits(0.5f);
  o.input_zero_point = kZero;
  o.output_zero_point = kZero;
  return o;
}

int gathers(const GraphBuilder& b) { return b.count(fb::OpOptions::Gather); }

TEST(Padded, FollowsItsMode) {
  EXPECT_EQ(padded(3, 2, 1, PadMode::kConstant), (Indices{-1, -1, 0, 1, 2, -1}));
  EXPECT_EQ(padded(3, 2, 1, PadMode::kEdge), (Indices{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(padded(3, 2, 1, PadMode::kReflect), (Indices{2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(padded(3, 2, 1, PadMode::kSymmetric), (Indices{1, 0, 0, 1, 2, 2}));
  EXPECT_EQ(padded(3, 2, 1, PadMode::kWrap), (Indices{1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(padded(3, -1, -1, PadMode::kConstant), (Indices{1}));
  EXPECT_EQ(padded(1, 3, 0, PadMode::kReflect), (Indices{0, 0, 0, 0}));
  EXPECT_EQ(padded(2, 5, 0, PadMode::kReflect), (Indices{1, 0, 1, 0, 1, 0, 1}));
}

TEST(SimplifyGathers, JoinsAChain) {
  GraphBuilder b;
  ValueId x = b.input({1, 6, 5, 4});
  x = pad(&b, x, 1, 2, 0, 1);
  x = gather(&b, x, {{1, stepped(5, 6, -1)}, {3, {3, 0}}}, 0);
  x = gather(&b, x, {{1, {0, 0, 1, 1}}, {2, {-1, 3}}});
  b.output(x);
  expect_same_outputs(&b);
  EXPECT_EQ(gathers(b), 1) << dump(b.graph);
}

TEST(SimplifyGathers, KeepsWhatFillsOtherwiseOrIsReadTwice) {
  GraphBuilder b;
  const ValueId x = b.input({1, 6, 5, 4});
  const ValueId once = pad(&b, x, 1, 2, 0, 1, 7);
  const ValueId twice = pad(&b, once, 1, 1, 1, 1, 8);
  b.output(twice);
  const ValueId shared = gather(&b, x, {{1, {0, 2}}});
  b.output(gather(&b, shared, {{2, {1, 0}}}));
  b.output(gather(&b, shared, {{2, {3, 4}}}));
  expect_same_outputs(&b);
  EXPECT_EQ(gathers(b), 5) << dump(b.graph);
}

TEST(SimplifyGathers, DropsWhatUndoesItself) {
  GraphBuilder b;
  const ValueId x = b.lut(b.input({1, 6}));
  b.output(b.lut(gather(&b, gather(&b, x, {{1, stepped(5, 6, -1)}}), {{1, stepped(5, 6, -1)}})));
  expect_same_outputs(&b);
  EXPECT_EQ(gathers(b), 0) << dump(b.graph);
}

TEST(FoldConstants, TakesGathers) {
  GraphBuilder b;
  const ValueId x = b.input({1, 4, 4, 8});
  b.output(b.add(x, gather(&b, b.constant({8}), {{0, stepped(7, 8, -1)}})));
  expect_same_outputs(&b);
  EXPECT_EQ(gathers(b), 0) << dump(b.graph);
}

TEST(FoldPads, GoesIntoConvolutions) {
  GraphBuilder b;
  const ValueId x = pad(&b, b.input({1, 7, 6, 8}), 2, 0, 1, 3);
  b.output(b.conv(x, 5, 3));
  b.output(b.depthwise(x, 3));
  expect_same_outputs(&b);
  EXPECT_EQ(gathers(b), 0) << dump(b.graph);
}

TEST(FoldPads, GoesIntoPools) {
  GraphBuilder b;
  const ValueId x = b.input({1, 7, 6, 8});
  b.output(pool(&b, pad(&b, x, 1, 2, 1, 0, 0), fb::MaxPool2DOptionsT()));
  b.output(pool(&b, pad(&b, x, 2, 1, 0, 2), average()));
  fb::AveragePool2DOptionsT counted = average();
  counted.pad_top = counted.pad_right = 1;
  counted.count_include_pad = true;
  b.output(pool(&b, pad(&b, x, 1, 1, 1, 1), counted));
  expect_same_outputs(&b);
  EXPECT_EQ(gathers(b), 0) << dump(b.graph);
}

TEST(FoldPads, StaysWhereTheBitsWouldChange) {
  GraphBuilder b;
  const ValueId x = b.input({1, 7, 6, 8});
  b.output(b.conv(pad(&b, x, 1, 1, 1, 1, kZero - 1), 5, 3));  // another value
  const ValueId shared = pad(&b, x, 1, 0, 0, 0);              // read by an operator without padding
  b.output(b.conv(shared, 5, 3));
  b.output(b.lut(shared));
  b.output(pool(&b, pad(&b, x, 1, 1, 1, 1, 1), fb::MaxPool2DOptionsT()));  // may win
  b.output(pool(&b, pad(&b, x, 3, 1, 1, 1, 0), fb::MaxPool2DOptionsT()));  // a window of it alone
  fb::AveragePool2DOptionsT inside = average();
  inside.pad_top = 1;
  b.output(pool(&b, pad(&b, x, 1, 1, 1, 1), inside));  // its own padding is not counted
  b.output(b.conv(gather(&b, x, {{1, {-1, 1, 2, 3, 4, 5}}}), 5, 3));  // cuts as well
  expect_same_outputs(&b);
  EXPECT_EQ(gathers(b), 6) << dump(b.graph);
}

TEST(MoveTransposes, PassGathers) {
  GraphBuilder b;
  ValueId x = b.nchw_conv(b.input({1, 3, 6, 5}), 4, 3);
  x = gather(&b, x, {{1, {3, 1}}, {2, {0, 0, 1, 1, 2, 2}}, {3, {4, -1, 0}}}, 9);
  b.output(b.nchw_conv(x, 2, 1));
  expect_same_outputs(&b);
  EXPECT_EQ(b.count(fb::OpOptions::Transpose), 2) << dump(b.graph);  // at input and output
}

TEST(OpenBatch, StaysOpenBehindGathersOfOtherAxes) {
  for (const int axis : {0, 1}) {
    GraphBuilder b;
    b.output(gather(&b, b.input({3, 4, 5}), {{axis, {2, 1, 0}}}));
    expect_same_outputs(&b);
    EXPECT_EQ(b.graph.batch_is_open, axis == 1);
  }
}

}  // namespace
}  // namespace qrt::gathers_test
