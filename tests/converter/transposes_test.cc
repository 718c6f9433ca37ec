// SPDX-License-Identifier: Apache-2.0
// Passes move_transposes, fold_flatten, fold_reductions, one_channel_depthwise, simplify_reshapes, fuse_functions and fuse_luts: how many transposes are
// left of known patterns, and that no byte of any output changes.
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace qrt::transposes_test {
namespace {

using convert::Perm;
using convert::ValueId;
using testing::GraphBuilder;
using testing::kToNchw;
using testing::kToNhwc;

int transposes(const GraphBuilder& b) { return b.count(fb::OpOptions::Transpose); }

TEST(MoveTransposes, LeavesOneAfterTheInputsQuantizeOfAMobileNet) {
  GraphBuilder b;
  const ValueId x = b.quantize(b.input({1, 3, 8, 8}, DType::kFloat32));
  ValueId y = b.nchw_conv(x, 8, 3);
  for (int i = 0; i < 3; ++i) {
    const ValueId z = b.nchw_conv(b.nchw_depthwise(b.nchw_conv(y, 16, 1), 3), 8, 1);
    y = b.add(z, y);
  }
  y = b.nchw_global_average_pool(y);
  y = b.fully_connected(b.reshape(y, {1, 8}), 10);
  b.output(b.dequantize(y));
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 1) << dump(b.graph);
  ASSERT_GE(b.graph.nodes.size(), 2u);
  EXPECT_TRUE(b.graph.nodes[0].options.AsQuantize());
  EXPECT_TRUE(b.graph.nodes[1].options.AsTranspose());
  EXPECT_EQ(b.count(fb::OpOptions::Reshape), 1);
}

TEST(MoveTransposes, FollowsLutConcatAndBroadcastConstants) {
  GraphBuilder b;
  const ValueId x = b.input({1, 4, 5, 6});
  const ValueId a = b.nchw_conv(x, 8, 1), c = b.nchw_conv(b.lut(a), 3, 3);
  ValueId y = b.concat({b.lut(a), c}, 1);
  y = b.mul(y, b.constant({11, 1, 1}));
  y = b.add(b.constant({1, 11, 5, 1}), y);
  y = b.nchw_channel_lut(y);
  b.output(b.nchw_conv(y, 2, 1));
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 2) << dump(b.graph);  // at the model's input and output
  for (const auto& node : b.graph.nodes)
    if (const auto* concat = node.options.AsConcat()) {
      EXPECT_EQ(concat->axis, 3u);
    }
}

TEST(FuseFunctions, MakesOneTableOfAnOperatorOnFunctionsOfOneTensor) {
  const auto check = [](auto make, int luts) {
    GraphBuilder b;
    b.output(make(&b, b.conv(b.input({1, 9, 15, 2}), 4, 1)));
    expect_same_outputs(&b);
    EXPECT_EQ(b.count(fb::OpOptions::Lut), luts) << dump(b.graph);
    EXPECT_EQ(b.count(fb::OpOptions::Mul) + b.count(fb::OpOptions::Add), 0) << dump(b.graph);
  };
  check([](GraphBuilder* b, ValueId x) { return b->mul(x, b->lut(x)); }, 1);
  check([](GraphBuilder* b, ValueId x) { return b->add(b->lut(b->lut(x)), x); }, 1);
  check([](GraphBuilder* b, ValueId x) { return b->mul(b->lut(x), b->lut(x)); }, 1);
  check([](GraphBuilder* b, ValueId x) { return b->add(x, x); }, 1);
  // A function of a function of a function; and one whose middle is an output, too.
  check(
      [](GraphBuilder* b, ValueId x) {
        const ValueId y = b->mul(b->lut(x), x);
        return b->lut(b->add(y, b->lut(y)));
      },
      1);
  check(
      [](GraphBuilder* b, ValueId x) {
        const ValueId y = b->lut(x);
        b->output(y);
        return b->mul(b->lut(y), x);
      },
      2);
}

TEST(FuseFunctions, LeavesOperatorsOnOtherOperands) {
  const auto check = [](auto make) {
    GraphBuilder b;
    const ValueId x = b.conv(b.input({1, 5, 7, 2}), 4, 1), other = b.conv(x, 4, 1);
    b.output(make(&b, x, other));
    expect_same_outputs(&b);
    EXPECT_EQ(b.count(fb::OpOptions::Mul), 1) << dump(b.graph);
  };
  check([](GraphBuilder* b, ValueId x, ValueId other) { return b->mul(x, b->lut(other)); });
  check([](GraphBuilder* b, ValueId x, ValueId) { return b->mul(x, b->lut(x, true)); });
  check([](GraphBuilder* b, ValueId x, ValueId) { return b->mul(x, b->constant({4})); });
}

TEST(MoveTransposes, FollowsSqueezeAndExcite) {
  GraphBuilder b;
  const ValueId x = b.nchw_conv(b.input({1, 4, 5, 6}), 8, 1);
  ValueId gate = b.lut(b.nchw_conv(b.nchw_global_average_pool(x), 8, 1));
  b.output(b.nchw_conv(b.mul(x, gate), 2, 1));
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 2) << dump(b.graph);
}

TEST(MoveTransposes, GivesArgMaxItsRowsInOnePiece) {
  for (const bool keep_dims : {true, false}) {
    GraphBuilder b;
    const ValueId x = b.nchw_conv(b.input({1, 4, 5, 6}), 7, 1);
    fb::ArgMaxOptionsT o;
    o.axis = 1;
    o.keep_dims = keep_dims;
    b.output(b.op(o, {x}, keep_dims ? Shape{1, 1, 5, 6} : Shape{1, 5, 6}, DType::kInt64));
    expect_same_outputs(&b);
    EXPECT_EQ(transposes(b), 1) << dump(b.graph);
    for (const auto& node : b.graph.nodes)
      if (const auto* arg_max = node.options.AsArgMax()) {
        EXPECT_EQ(arg_max->axis, 3u);
      }
  }
}

TEST(MoveTransposes, TakesAnNhwcInterfaceAsItIs) {
  GraphBuilder b;
  const ValueId x = b.transpose(b.input({1, 5, 6, 3}, DType::kFloat32), kToNchw);
  const ValueId y = b.nchw_conv(b.quantize(x), 7, 3);
  b.output(b.transpose(b.dequantize(b.lut(y)), kToNhwc));
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 0) << dump(b.graph);
}

TEST(MoveTransposes, TransposesBytesRatherThanFloats) {
  GraphBuilder b;
  const ValueId y = b.nchw_conv(b.quantize(b.input({1, 3, 5, 6}, DType::kFloat32)), 7, 3);
  b.output(b.dequantize(y));
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 2);
  for (const auto& node : b.graph.nodes)
    if (node.options.AsTranspose()) {
      EXPECT_EQ(b.graph.values[node.inputs[0]].type.dtype, DType::kUInt8);
    }
}

TEST(MoveTransposes, CarriesThroughAReshapeThatSplitsChannels) {
  // ShuffleNet's channel shuffle: only the shuffle itself has to move bytes.
  GraphBuilder b;
  ValueId y = b.nchw_conv(b.input({1, 4, 5, 6}), 8, 1);
  y = b.reshape(b.transpose(b.reshape(y, {1, 2, 4, 5, 6}), {0, 2, 1, 3, 4}), {1, 8, 5, 6});
  b.output(b.nchw_global_average_pool(b.nchw_conv(y, 8, 3)));
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 2) << dump(b.graph);
}

TEST(MoveTransposes, OneDimensionalConvolutionsNeedNoneBetweenThem) {
  GraphBuilder b;
  ValueId y = b.input({1, 4, 9});
  for (int i = 0; i < 3; ++i) {
    y = b.nchw_conv(b.reshape(y, {1, 4, 1, 9}), 4, 1);
    y = b.lut(b.reshape(y, {1, 4, 9}));
  }
  b.output(y);
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 2) << dump(b.graph);
}

TEST(MoveTransposes, KeepsEveryOutputUnderItsName) {
  GraphBuilder b;
  const ValueId x = b.input({1, 4, 5, 6});
  const ValueId y = b.nchw_conv(x, 8, 1);
  const ValueId back = b.transpose(b.transpose(x, kToNhwc), kToNchw);  // the input again
  const ValueId nhwc = b.transpose(y, kToNhwc), again = b.transpose(y, kToNhwc);
  for (ValueId id : {y, back, nhwc, again, b.lut(y)}) b.output(id);
  std::vector<std::string> names, after;
  for (ValueId id : b.graph.outputs) names.push_back(b.graph.values[id].name);
  expect_same_outputs(&b);
  for (ValueId id : b.graph.outputs) after.push_back(b.graph.values[id].name);
  EXPECT_EQ(names, after);
}

TEST(FoldFlatten, PutsThePermutationIntoTheWeights) {
  GraphBuilder b;
  const ValueId y = b.nchw_conv(b.input({1, 3, 4, 5}), 6, 3);
  const ValueId flat = b.lut(b.reshape(y, {1, 120}));
  b.output(b.fully_connected(flat, 7));
  b.output(b.fully_connected(flat, 5));
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 1) << dump(b.graph);  // of the input
}

TEST(FoldFlatten, LeavesAFlattenThatOthersReadToo) {
  GraphBuilder b;
  const ValueId y = b.nchw_conv(b.input({1, 3, 4, 5}), 6, 3);
  const ValueId flat = b.reshape(y, {1, 120});
  b.output(b.fully_connected(flat, 7));
  b.output(flat);
  expect_same_outputs(&b);
  EXPECT_EQ(transposes(b), 2);
}

TEST(OneChannelDepthwise, IsAConvolution) {
  for (int64_t multiplier : {1, 2, 8, 19}) {
    for (int64_t kernel : {1, 3, 5}) {
      GraphBuilder b;
      b.output(b.depthwise(b.input({2, 9, 11, 1}), kernel, multiplier));
      expect_same_outputs(&b);
      EXPECT_EQ(b.count(fb::OpOptions::DepthwiseConv2D), 0);
      EXPECT_EQ(b.count(fb::OpOptions::Conv2D), 1);
    }
  }
  GraphBuilder b;
  b.output(b.depthwise(b.input({1, 9, 11, 2}), 3, 4));
  expect_same_outputs(&b);
  EXPECT_EQ(b.count(fb::OpOptions::DepthwiseConv2D), 1);
}

// Transposes x [n, c, h, w] behind a convolution by `perm` and reduces it, as `image`, by a pool
// over all of it. Returns how many Transposes are left beside that of the input.
int transposes_of_reduction(const Shape& x, const Perm& perm, const Shape& image, bool greatest) {
  GraphBuilder b;
  ValueId y = b.nchw_conv(b.input({x[0], 3, x[2], x[3]}), x[1], 3);
  bool moves = false;
  for (size_t i = 0; i < perm.size(); ++i) moves |= perm[i] != i;
  if (moves) y = b.transpose(y, perm);
  y = b.reshape(b.reshape(y, {image.elements()}), image);
  fb::MaxPool2DOptionsT o;
  o.kernel_h = o.kernel_w = 0;  // the whole image
  y = greatest ? b.op(o, {y}, {image[0], 1, 1, image[3]}) : b.global_average_pool(y);
  b.output(b.reshape(y, {1, image[0] * image[3]}));
  expect_same_outputs(&b);
  return transposes(b) - 1;
}

TEST(FoldReductions, ReadWhatIsBeforeATranspose) {
  for (const bool greatest : {true, false}) {
    const auto left = [&](const Shape& x, const Perm& perm, const Shape& image) {
      return transposes_of_reduction(x, perm, image, greatest);
    };
    const Perm same = {0, 1, 2, 3};
    EXPECT_EQ(left({1, 16, 5, 6}, same, {16, 30, 1, 1}), 0);   // [2, 3] of [n, c, h, w]
    EXPECT_EQ(left({2, 3, 5, 6}, same, {6, 5, 6, 1}), 0);      // of several images
    EXPECT_EQ(left({1, 16, 1, 30}, same, {16, 1, 30, 1}), 0);  // of one dimension
    EXPECT_EQ(left({1, 16, 5, 6}, same, {1, 480, 1, 1}), 0);   // all
    EXPECT_EQ(left({1, 16, 5, 6}, same, {1, 16, 1, 30}), 1);   // [1]: no channels would be left
    EXPECT_EQ(left({1, 16, 5, 6}, same, {16, 5, 1, 6}), 1);    // [2]: the rest in another order
    EXPECT_EQ(left({1, 16, 5, 6}, {0, 1, 3, 2}, {16, 6, 1, 5}), 1);
    EXPECT_EQ(left({1, 16, 5, 6}, same, {8, 60, 1, 1}), 1);  // across dimensions
  }
}

TEST(FoldReductions, OfAnyShapeGiveTheSame) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  int moved = 0;
  for (int i = 0; i < 300; ++i) {
    const auto size = [&] { return int64_t{1} << random.integer(0, 2); };
    const Shape x = {size(), int64_t{4} << random.integer(0, 2), size(), size()};
    Perm perm = {0, 1, 2, 3};
    for (size_t k = 3; k > 0; --k)
      if (i % 2 == 1) std::swap(perm[k], perm[static_cast<size_t>(random.integer(0, k))]);
    Shape image = {1, 1, 1, 1};  // whose sides share the factors of 2
    for (int64_t left = x.elements(); left > 1; left /= 2)
      image[static_cast<int>(random.integer(0, 3))] *= 2;
    moved += transposes_of_reduction(x, perm, image, random.integer(0, 1) == 0) == 0;
    ASSERT_FALSE(HasFailure()) << x.to_string() << " as " << image.to_string();
  }
  EXPECT_GT(moved, 10);
}

TEST(SimplifyReshapes, MergesChainsAndTwinsAndDropsIdentities) {
  GraphBuilder b;
  const ValueId x = b.lut(b.input({1, 4, 6}));
  const ValueId y = b.reshape(b.reshape(b.reshape(x, {1, 24}), {1, 2, 12}), {1, 24});
  const ValueId same = b.reshape(b.reshape(x, {1, 24}), {1, 24});
  b.output(b.add(b.lut(y), b.lut(same)));
  b.output(b.reshape(b.lut(x), {1, 4, 6}));
  expect_same_outputs(&b);
  EXPECT_EQ(b.count(fb::OpOptions::Reshape), 1) << dump(b.graph);
}

TEST(FuseLuts, ChainsBecomeOneTable) {
  GraphBuilder b;
  const ValueId x = b.input({2, 3, 5});
  b.output(b.lut(b.lut(b.lut(x), true)));
  b.output(b.lut(b.lut(x, true), true));
  expect_same_outputs(&b);
  EXPECT_EQ(b.count(fb::OpOptions::Lut), 2) << dump(b.graph);
}

TEST(FuseLuts, KeepsATableThatOthersRead) {
  GraphBuilder b;
  const ValueId mid = b.lut(b.input({2, 3, 5}));
  b.output(b.lut(mid));
  b.output(mid);
  expect_same_outputs(&b);
  EXPECT_EQ(b.count(fb::OpOptions::Lut), 2);
}

TEST(FuseLuts, DropsATableThatChangesNothing) {
  GraphBuilder b;
  const ValueId x = b.lut(b.input({1, 3}));
  const ValueId y = b.lut(x);
  auto& table = b.graph.values[b.graph.nodes[1].inputs[1]].data;
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i);
  b.output(b.fully_connected(y, 4));
  expect_same_outputs(&b);
  EXPECT_EQ(b.count(fb::OpOptions::Lut), 1);
}

// The passes change no output of random graphs of NCHW values of one size, with every operator that
// a front end can write.
TEST(Passes, ChangeNoOutputOfRandomGraphs) {
  GraphBuilder source;
  for (int round = 0; round < 300; ++round) {
    GraphBuilder b;
    b.random = source.random;
    const auto pick = [&](int64_t n) { return static_cast<size_t>(b.random.integer(0, n - 1)); };
    const int64_t batch = b.random.integer(1, 2), h = b.random.integer(1, 4),
                  w = b.random.integer(1, 4);
    const Shape full = {batch, 4, h, w};
    std::vector<ValueId> values;
    values.push_back(b.random.coin() ? b.quantize(b.input(full, DType::kFloat32)) : b.input(full));
    const int64_t ops = b.random.integer(1, 12);
    for (int64_t i = 0; i < ops; ++i) {
      const ValueId x = values[pick(static_cast<int64_t>(values.size()))],
                    y = values[pick(static_cast<int64_t>(values.size()))];
      ValueId z = x;
      switch (b.random.integer(0, 12)) {
        case 0: z = b.nchw_conv(x, 4, 1 + 2 * b.random.integer(0, 1)); break;
        case 1: z = b.nchw_depthwise(x, 3); break;
        case 2: z = b.add(x, y); break;
        case 3: z = b.mul(x, b.nchw_global_average_pool(y)); break;
        case 4: z = b.lut(x); break;
        case 5: z = b.nchw_channel_lut(x); break;
        case 6: z = b.lut(x, true); break;
        case 7: z = b.nchw_conv(b.concat({x, y}, 1), 4, 1); break;
        case 8: z = b.add(b.constant({4, 1, b.random.coin() ? w : 1}), x); break;
        case 9:
          z = b.reshape(b.transpose(b.reshape(x, {batch, 2, 2, h, w}), {0, 2, 1, 3, 4}), full);
          break;
        case 10: z = b.reshape(b.lut(b.reshape(x, {batch, 4, h * w})), full); break;
        case 11:
          z = b.reshape(b.fully_connected(b.reshape(x, {batch, 4 * h * w}), 4 * h * w), full);
          break;
        default: z = b.reshape(b.transpose(x, {0, 3, 1, 2}), full); break;
      }
      values.push_back(z);
    }
    for (size_t i = 0; i < values.size(); ++i)
      if (i + 1 == values.size() || b.random.integer(0, 5) == 0)
        b.output(b.random.coin() ? b.dequantize(values[i]) : values[i]);
    SCOPED_TRACE(b.random.trace() + " round " + std::to_string(round));
    convert::drop_dead(&b.graph);
    expect_same_outputs(&b);
    if (HasFatalFailure()) return;
    source.random = b.random;
  }
}

}  // namespace
}  // namespace qrt::transposes_test
