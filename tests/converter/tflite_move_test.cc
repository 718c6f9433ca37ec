// SPDX-License-Identifier: Apache-2.0
// Data movement of TFLite models, converted and run, against the indices the reference reads.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_move_test {
namespace {

using B = BuiltinOperator;
using Dims = TfliteBuilder::Dims;

// The quantisation of all int8 tensors here.
constexpr float kScale = 0.5f;
constexpr int64_t kZero = -7;

Bytes count_up(const Dims& dims) {
  Bytes bytes(static_cast<size_t>(
      std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<int32_t>())));
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

struct Case {
  TfliteBuilder b;
  int x;
  std::vector<int> outputs;
  Dims dims;

  explicit Case(const Dims& in, const std::vector<Dims>& out) : dims(in) {
    x = b.input(TensorType::INT8, in, kScale, kZero);
    for (const Dims& d : out) outputs.push_back(b.output(TensorType::INT8, d, kScale, kZero));
  }
  int ints(const Dims& values) {
    return b.constant(TensorType::INT32, {static_cast<int32_t>(values.size())}, values);
  }
  int scalar(int32_t value) { return b.constant(TensorType::INT32, {}, Dims{value}); }
  // And the same of int16.
  void expect(const std::vector<Bytes>& expected) {
    ASSERT_EQ(b.run({count_up(dims)}), expected);
    widen();
    std::vector<Bytes> wide;
    for (const Bytes& bytes : expected) wide.push_back(widened(bytes));
    ASSERT_EQ(b.run({widened(count_up(dims))}), wide) << "int16";
  }

 private:
  // Numbers of int8 as int16; zero points, which padding fills with, are 0 there.
  static Bytes widened(const Bytes& bytes) {
    std::vector<int16_t> numbers;
    for (const uint8_t v : bytes) {
      const auto number = static_cast<int8_t>(v);
      numbers.push_back(number == kZero ? int16_t{0} : number);
    }
    return to_bytes(numbers);
  }
  void widen() {
    for (auto& tensor : b.graph().tensors) {
      if (tensor->type != TensorType::INT8) continue;
      tensor->type = TensorType::INT16;
      tensor->quantization->zero_point = {0};
      Bytes& data = b.model.buffers[tensor->buffer]->data;
      if (!data.empty()) data = widened(data);
    }
  }
};

uint8_t byte(int v) { return static_cast<uint8_t>(v); }

TEST(TfliteMove, Slice) {
  Case c({2, 4}, {{1, 3}});
  c.b.op(B::SLICE, {c.x, c.ints({1, 1}), c.ints({1, -1})}, c.outputs);
  c.expect({{5, 6, 7}});
}

TEST(TfliteMove, StridedSliceWithEveryMask) {
  const auto check = [](const Dims& in, const Dims& out, const Dims& begin, const Dims& end,
                        const Dims& stride, const tflite::StridedSliceOptionsT& o,
                        const Bytes& expected) {
    Case c(in, {out});
    c.b.op(B::STRIDED_SLICE, {c.x, c.ints(begin), c.ints(end), c.ints(stride)}, c.outputs, o);
    c.expect({expected});
  };
  tflite::StridedSliceOptionsT o;
  check({2, 5}, {1, 2}, {1, 0}, {2, 4}, {1, 2}, o, {5, 7});
  check({5}, {3}, {-1}, {-6}, {-2}, o, {4, 2, 0});
  o.begin_mask = o.end_mask = 1;
  check({5}, {5}, {3}, {2}, {-1}, o, {4, 3, 2, 1, 0});
  check({5}, {5}, {3}, {2}, {1}, o, {0, 1, 2, 3, 4});
  o = {};
  o.shrink_axis_mask = 2;
  check({2, 5}, {2}, {0, -2}, {2, 0}, {1, 1}, o, {3, 8});
  o = {};
  o.ellipsis_mask = 1;
  check({2, 2, 2}, {2, 2, 1}, {0, 1}, {0, 2}, {1, 1}, o, {1, 3, 5, 7});
  o = {};
  o.new_axis_mask = 1;
  check({4}, {1, 2}, {0, 1}, {0, 3}, {1, 1}, o, {1, 2});
  o = {};
  o.offset = true;
  check({6}, {2}, {3}, {2}, {1}, o, {3, 4});
}

TEST(TfliteMove, SplitAndUnpack) {
  Case even({2, 4}, {{2, 2}, {2, 2}});
  even.b.op(B::SPLIT, {even.scalar(-1), even.x}, even.outputs);
  even.expect({{0, 1, 4, 5}, {2, 3, 6, 7}});
  Case sized({2, 4}, {{2, 1}, {2, 3}});
  sized.b.op(B::SPLIT_V, {sized.x, sized.ints({1, -1}), sized.scalar(1)}, sized.outputs);
  sized.expect({{0, 4}, {1, 2, 3, 5, 6, 7}});
  Case unpacked({2, 2}, {{2}, {2}});
  tflite::UnpackOptionsT o;
  o.num = 2;
  o.axis = 1;
  unpacked.b.op(B::UNPACK, {unpacked.x}, unpacked.outputs, o);
  unpacked.expect({{0, 2}, {1, 3}});
}

TEST(TfliteMove, PackOfTensors) {
  Case c({2}, {{2, 2}});
  tflite::PackOptionsT o;
  o.values_count = 2;
  o.axis = 1;
  c.b.op(B::PACK, {c.x, c.x}, c.outputs, o);
  c.expect({{0, 0, 1, 1}});
}

TEST(TfliteMove, PadsWithTheZeroPointOrAValueOrTheMirror) {
  Case pad({2, 2}, {{2, 4}});
  pad.b.op(B::PAD, {pad.x, pad.b.constant(TensorType::INT32, {2, 2}, Dims{0, 0, 1, 1})},
           pad.outputs);
  pad.expect({{byte(-7), 0, 1, byte(-7), byte(-7), 2, 3, byte(-7)}});
  Case value({2}, {{4}});
  const int five =
      value.b.constant(TensorType::INT8, {}, std::vector<int8_t>{-5}, {kScale}, {kZero});
  value.b.op(B::PADV2, {value.x, value.b.constant(TensorType::INT32, {1, 2}, Dims{2, 0}), five},
             value.outputs);
  value.expect({{byte(-5), byte(-5), 0, 1}});
  for (const bool symmetric : {false, true}) {
    Case mirror({3}, {{6}});
    tflite::MirrorPadOptionsT o;
    o.mode = symmetric ? tflite::MirrorPadMode::SYMMETRIC : tflite::MirrorPadMode::REFLECT;
    mirror.b.op(B::MIRROR_PAD, {mirror.x, mirror.b.constant(TensorType::INT32, {1, 2}, Dims{2, 1})},
                mirror.outputs, o);
    mirror.expect({symmetric ? Bytes{1, 0, 0, 1, 2, 2} : Bytes{2, 1, 0, 1, 2, 1}});
  }
}

TEST(TfliteMove, TileReverseAndBroadcast) {
  Case tile({2}, {{4}});
  tile.b.op(B::TILE, {tile.x, tile.ints({2})}, tile.outputs);
  tile.expect({{0, 1, 0, 1}});
  Case reverse({2, 3}, {{2, 3}});
  reverse.b.op(B::REVERSE_V2, {reverse.x, reverse.ints({-1})}, reverse.outputs);
  reverse.expect({{2, 1, 0, 5, 4, 3}});
  Case broadcast({2, 1}, {{2, 2, 2}});
  broadcast.b.op(B::BROADCAST_TO, {broadcast.x, broadcast.ints({2, 2, 2})}, broadcast.outputs);
  broadcast.expect({{0, 0, 1, 1, 0, 0, 1, 1}});
}

TEST(TfliteMove, GatherOfConstantIndices) {
  Case plain({2, 3}, {{2, 2}});
  tflite::GatherOptionsT o;
  o.axis = 1;
  plain.b.op(B::GATHER, {plain.x, plain.ints({2, 0})}, plain.outputs, o);
  plain.expect({{2, 0, 5, 3}});
  Case batched({2, 3}, {{2, 2}});
  o.batch_dims = 1;
  batched.b.op(B::GATHER,
               {batched.x, batched.b.constant(TensorType::INT32, {2, 2}, Dims{2, 0, 1, 1})},
               batched.outputs, o);
  batched.expect({{2, 0, 4, 4}});
  Case apart({2, 2, 3}, {{2, 2, 2}});
  o.axis = 2;
  apart.b.op(B::GATHER, {apart.x, apart.b.constant(TensorType::INT32, {2, 2}, Dims{2, 0, 1, 1})},
             apart.outputs, o);
  apart.expect({{2, 0, 5, 3, 7, 7, 10, 10}});
  Case points({2, 3}, {{2}});
  points.b.op(B::GATHER_ND,
              {points.x, points.b.constant(TensorType::INT32, {2, 2}, Dims{1, 2, 0, 1})},
              points.outputs);
  points.expect({{5, 1}});
}

TEST(TfliteMove, BlocksOfSpaceDepthAndBatch) {
  Case depth({1, 1, 1, 8}, {{1, 2, 2, 2}});
  tflite::DepthToSpaceOptionsT d;
  d.block_size = 2;
  depth.b.op(B::DEPTH_TO_SPACE, {depth.x}, depth.outputs, d);
  depth.expect({{0, 1, 2, 3, 4, 5, 6, 7}});
  Case space({1, 2, 4, 1}, {{1, 1, 2, 4}});
  tflite::SpaceToDepthOptionsT s;
  s.block_size = 2;
  space.b.op(B::SPACE_TO_DEPTH, {space.x}, space.outputs, s);
  space.expect({{0, 1, 4, 5, 2, 3, 6, 7}});
  Case batch({1, 2, 3, 1}, {{4, 1, 2, 1}});
  batch.b.op(
      B::SPACE_TO_BATCH_ND,
      {batch.x, batch.ints({2, 2}), batch.b.constant(TensorType::INT32, {2, 2}, Dims{0, 0, 1, 0})},
      batch.outputs);
  batch.expect({{byte(-7), 1, 0, 2, byte(-7), 4, 3, 5}});
  Case back({4, 1, 2, 1}, {{1, 2, 3, 1}});
  back.b.op(
      B::BATCH_TO_SPACE_ND,
      {back.x, back.ints({2, 2}), back.b.constant(TensorType::INT32, {2, 2}, Dims{0, 0, 1, 0})},
      back.outputs);
  back.expect({{2, 1, 3, 6, 5, 7}});
  Case line({1, 4, 1}, {{2, 2, 1}});
  line.b.op(B::SPACE_TO_BATCH_ND,
            {line.x, line.ints({2}), line.b.constant(TensorType::INT32, {1, 2}, Dims{0, 0})},
            line.outputs);
  line.expect({{0, 2, 1, 3}});
}

TEST(TfliteMove, ResizeNearestNeighbor) {
  const auto check = [](int32_t size, bool corners, bool half, const Bytes& expected) {
    Case c({1, 1, 4, 1}, {{1, 1, size, 1}});
    tflite::ResizeNearestNeighborOptionsT o;
    o.align_corners = corners;
    o.half_pixel_centers = half;
    c.b.op(B::RESIZE_NEAREST_NEIGHBOR, {c.x, c.ints({1, size})}, c.outputs, o);
    c.expect({expected});
  };
  check(6, false, false, {0, 0, 1, 2, 2, 3});
  check(5, true, false, {0, 1, 2, 2, 3});
  check(2, false, true, {1, 3});
  check(3, true, true, {1, 2, 3});
}

TEST(TfliteMove, GatherAtIndicesOfARun) {
  Case c({2, 3}, {{2, 2}});
  tflite::GatherOptionsT o;
  o.axis = 1;
  c.b.op(B::GATHER, {c.x, c.b.input(TensorType::INT32, {2})}, c.outputs, o);
  ASSERT_EQ(c.b.run({count_up({2, 3}), to_bytes(Dims{2, 0})}), (std::vector<Bytes>{{2, 0, 5, 3}}));
}

TEST(TfliteMove, ResizeBilinear) {
  const auto check = [](bool corners, bool half, const std::vector<int8_t>& expected,
                        const std::vector<int8_t>& single) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {1, 1, 2, 1}, kScale, kZero);
    const int y = b.output(TensorType::INT8, {1, 1, 4, 1}, kScale, kZero);
    tflite::ResizeBilinearOptionsT o;
    o.align_corners = corners;
    o.half_pixel_centers = half;
    b.op(B::RESIZE_BILINEAR, {x, b.constant(TensorType::INT32, {2}, Dims{1, 4})}, {y}, o);
    const Bytes input = to_bytes(std::vector<int8_t>{-6, 3});
    ASSERT_EQ(b.run({input}), std::vector<Bytes>{to_bytes(expected)});
    ASSERT_EQ(b.run({input}, TfliteReference::kSingleRounding),
              std::vector<Bytes>{to_bytes(single)});
  };
  check(false, false, {-6, -2, 3, 3}, {-6, -1, 3, 3});  // -1.5: away from zero, or up
  check(true, false, {-6, -3, 0, 3}, {-6, -3, 0, 3});
  check(false, true, {-6, -4, 1, 3}, {-6, -4, 1, 3});
  Case outside({1, 1, 1, 1}, {{1, 1, 55, 1}});
  outside.b.op(B::RESIZE_BILINEAR, {outside.x, outside.ints({1, 55})}, outside.outputs,
               tflite::ResizeBilinearOptionsT());
  expect_rule(outside.b, "the reference reads outside its input");
}

// int16 tensors move as they are; padding is 0.
TEST(TfliteMove, Int16) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT16, {3}, kScale, 0);
  const int y = b.output(TensorType::INT16, {5}, kScale, 0);
  b.op(B::PAD, {x, b.constant(TensorType::INT32, {1, 2}, Dims{1, 1})}, {y});
  const std::vector<int16_t> values = {-300, 2, 1000}, expected = {0, -300, 2, 1000, 0};
  ASSERT_EQ(b.run({to_bytes(values)}), std::vector<Bytes>{to_bytes(expected)});
}

// The target shape of a Reshape is folded where it follows from a tensor's shape, here by SHAPE, REVERSE_V2,
// SLICE and CONCATENATION.
TEST(TfliteMove, ShapesAreFolded) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {1, 2, 3}, kScale, kZero);
  const auto ints = [&](const Dims& v) {
    return b.constant(TensorType::INT32, {static_cast<int32_t>(v.size())}, v);
  };
  const int shape = b.tensor(TensorType::INT32, {3}), reversed = b.tensor(TensorType::INT32, {3});
  const int first = b.tensor(TensorType::INT32, {1}), both = b.tensor(TensorType::INT32, {2});
  const int y = b.output(TensorType::INT8, {3, 2}, kScale, kZero);
  b.op(B::SHAPE, {x}, {shape});
  b.op(B::REVERSE_V2, {shape, ints({0})}, {reversed});
  b.op(B::SLICE, {reversed, ints({0}), ints({1})}, {first});
  b.op(B::CONCATENATION, {first, ints({2})}, {both}, tflite::ConcatenationOptionsT());
  b.op(B::RESHAPE, {x, both}, {y});
  ASSERT_EQ(b.run({{0, 1, 2, 3, 4, 5}}), (std::vector<Bytes>{{0, 1, 2, 3, 4, 5}}));
}

// A gather of no rows of known integers, which has no indices, is empty.
TEST(TfliteMove, GathersNothingOfNoBatches) {
  TfliteBuilder b;
  const auto ints = [&](const Dims& v) {
    return b.constant(TensorType::INT32, {static_cast<int32_t>(v.size())}, v);
  };
  const auto none = [&] {
    const int all = b.constant(TensorType::INT32, {1, 2}, Dims{0, 1});
    const int y = b.tensor(TensorType::INT32, {0, 2});
    b.op(B::SLICE, {all, ints({0, 0}), ints({0, 2})}, {y});
    return y;
  };
  const int data = none(), indices = none(), y = b.tensor(TensorType::INT32, {0, 2});
  tflite::GatherOptionsT o;
  o.axis = o.batch_dims = 1;
  b.op(B::GATHER, {data, indices}, {y}, o);
  const int flat = b.tensor(TensorType::INT32, {0}), shape = b.tensor(TensorType::INT32, {1});
  b.op(B::RESHAPE, {y, ints({0})}, {flat});
  b.op(B::CONCATENATION, {flat, ints({6})}, {shape}, tflite::ConcatenationOptionsT());
  const int x = b.input(TensorType::INT8, {2, 3}, kScale, kZero);
  b.op(B::RESHAPE, {x, shape}, {b.output(TensorType::INT8, {6}, kScale, kZero)});
  ASSERT_EQ(b.run({{0, 1, 2, 3, 4, 5}}), (std::vector<Bytes>{{0, 1, 2, 3, 4, 5}}));
}

void expect_damaged(Case& c, const std::string& part) {
  Imported imported = c.b.import();
  ASSERT_EQ(imported.status.code(), Code::kInvalidModel) << imported.status.message();
  ASSERT_NE(std::string(imported.status.message()).find(part), std::string::npos)
      << imported.status.message();
}

TEST(TfliteMove, RefusesDamagedModels) {
  Case slice({4}, {{2}});
  slice.b.op(B::SLICE, {slice.x, slice.ints({3}), slice.ints({2})}, slice.outputs);
  expect_damaged(slice, "2 indices from 3 on of 4");
  Case shape({4}, {{3}});
  shape.b.op(B::SLICE, {shape.x, shape.ints({0}), shape.ints({2})}, shape.outputs);
  expect_damaged(shape, "its output has shape [3], expected [2]");
  Case mirror({2}, {{6}});
  mirror.b.op(B::MIRROR_PAD, {mirror.x, mirror.b.constant(TensorType::INT32, {1, 2}, Dims{2, 2})},
              mirror.outputs, tflite::MirrorPadOptionsT());
  expect_damaged(mirror, "padding 2 and 2 mirrors 2 indices");
  Case gather({2}, {{1}});
  gather.b.op(B::GATHER, {gather.x, gather.ints({2})}, gather.outputs, tflite::GatherOptionsT());
  expect_damaged(gather, "index 2, expected 0 to 1");
  Case split({4}, {{2}, {1}});
  split.b.op(B::SPLIT_V, {split.x, split.ints({2, 1}), split.scalar(0)}, split.outputs);
  expect_damaged(split, "its sizes do not add up to 4");
}

TEST(TfliteMove, RefusesUnknownIndices) {
  Case c({4}, {{2}});
  const int begin = c.b.input(TensorType::INT32, {1});
  c.b.op(B::SLICE, {c.x, begin, c.ints({2})}, c.outputs);
  Imported imported = c.b.import();
  ASSERT_EQ(imported.status.code(), Code::kUnsupported) << imported.status.message();
}

}  // namespace
}  // namespace qrt::testing::tflite_move_test
