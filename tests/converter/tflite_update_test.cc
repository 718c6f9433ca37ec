// SPDX-License-Identifier: Apache-2.0
// Tensors with a part replaced, rows of tables, zeros, shapes that are outputs, and moves of what is not
// quantised.
#include <algorithm>
#include <cstring>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_update_test {
namespace {

using B = BuiltinOperator;
using Dims = TfliteBuilder::Dims;

size_t count(const Dims& dims) {
  size_t n = 1;
  for (const int32_t d : dims) n *= static_cast<size_t>(d);
  return n;
}

// --- DYNAMIC_UPDATE_SLICE

// Returns x with `part` at `begin`, which is moved into range.
template <class T>
std::vector<T> updated(std::vector<T> x, const Dims& dims, const std::vector<T>& part,
                       const Dims& part_dims, const std::vector<int64_t>& begin) {
  for (size_t i = 0; i < part.size(); ++i) {
    size_t rest = i, at = 0, step = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      const auto size = static_cast<size_t>(part_dims[d]);
      const auto first =
          static_cast<size_t>(std::clamp<int64_t>(begin[d], 0, dims[d] - part_dims[d]));
      at += (first + rest % size) * step;
      rest /= size;
      step *= static_cast<size_t>(dims[d]);
    }
    x[at] = part[i];
  }
  return x;
}

template <class T>
void check_update(TensorType type, const Dims& dims, const Dims& part_dims,
                  const std::vector<int64_t>& begin) {
  SCOPED_TRACE(::testing::PrintToString(begin));
  const bool is_quantised =
      type == TensorType::INT8 || type == TensorType::UINT8 || type == TensorType::INT16;
  const float scale = is_quantised ? 0.5f : 0;
  std::vector<T> x(count(dims)), part(count(part_dims));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i % 100);
  for (size_t i = 0; i < part.size(); ++i) part[i] = static_cast<T>(100 + i % 20);
  const auto rank = static_cast<int32_t>(dims.size());
  for (const TensorType index : {TensorType::INT32, TensorType::INT64})
    for (const bool is_known : {false, true}) {
      const std::vector<int32_t> narrow(begin.begin(), begin.end());
      const Bytes bytes = index == TensorType::INT32 ? to_bytes(narrow) : to_bytes(begin);
      TfliteBuilder b;
      const int whole = b.input(type, dims, scale), piece = b.input(type, part_dims, scale);
      int at;
      if (!is_known)
        at = b.input(index, {rank});
      else if (index == TensorType::INT32)
        at = b.constant(index, {rank}, narrow);
      else
        at = b.constant(index, {rank}, begin);
      b.op(B::DYNAMIC_UPDATE_SLICE, {whole, piece, at}, {b.output(type, dims, scale)});
      std::vector<Bytes> inputs = {to_bytes(x), to_bytes(part)};
      if (!is_known) inputs.push_back(bytes);
      EXPECT_EQ(b.run(inputs),
                std::vector<Bytes>{to_bytes(updated(x, dims, part, part_dims, begin))});
    }
}

TEST(TfliteUpdate, EveryTypeAndPlace) {
  for (const int64_t first : {-3, 0, 1, 5, 100}) {
    check_update<int8_t>(TensorType::INT8, {6}, {2}, {first});
    check_update<int16_t>(TensorType::INT16, {1, 6, 3, 2}, {1, 2, 3, 2}, {0, first, 0, 0});
    check_update<int32_t>(TensorType::INT32, {3, 6, 2}, {2, 2, 2}, {1, first, 7});
    check_update<int64_t>(TensorType::INT64, {3, 4}, {2, 3}, {first, 1});
    check_update<float>(TensorType::FLOAT32, {3, 6, 2}, {1, 2, 1}, {first, 2, 1});
    check_update<uint8_t>(TensorType::UINT8, {2, 3}, {2, 3}, {first, first});
  }
}

// Indices beyond int32 are moved into range, too.
TEST(TfliteUpdate, FarIndices) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {4}, 0.5f), part = b.input(TensorType::INT8, {1}, 0.5f);
  b.op(B::DYNAMIC_UPDATE_SLICE, {x, part, b.input(TensorType::INT64, {1})},
       {b.output(TensorType::INT8, {4}, 0.5f)});
  EXPECT_EQ(b.run({{1, 2, 3, 4}, {9}, to_bytes(std::vector<int64_t>{INT64_MAX})}),
            (std::vector<Bytes>{{1, 2, 3, 9}}));
  EXPECT_EQ(b.run({{1, 2, 3, 4}, {9}, to_bytes(std::vector<int64_t>{INT64_MIN})}),
            (std::vector<Bytes>{{9, 2, 3, 4}}));
}

TEST(TfliteUpdate, Refuses) {
  const auto update = [](const Dims& part, TensorType type, TensorType index) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {4, 4}, 0.5f), p = b.input(type, part, 0.5f);
    b.op(B::DYNAMIC_UPDATE_SLICE, {x, p, b.input(index, {2})},
         {b.output(TensorType::INT8, {4, 4}, 0.5f)});
    return b;
  };
  expect_rule(update({2, 2}, TensorType::INT16, TensorType::INT32), "it puts int16 into int8");
  expect_rule(update({2, 2}, TensorType::INT8, TensorType::INT16), "at indices of int16");
  EXPECT_EQ(update({5, 2}, TensorType::INT8, TensorType::INT32).import().status.code(),
            Code::kInvalidModel);
  EXPECT_EQ(update({2}, TensorType::INT8, TensorType::INT32).import().status.code(),
            Code::kInvalidModel);
}

// --- EMBEDDING_LOOKUP

TEST(TfliteEmbedding, RowsOfBytes) {
  TfliteBuilder b;
  const int lookup = b.input(TensorType::INT32, {4});
  const int table = b.constant(TensorType::INT8, {3, 2, 1},
                               std::vector<int8_t>{-128, 1, 2, 3, 4, 127}, {0.5f}, {7});
  b.op(B::EMBEDDING_LOOKUP, {lookup, table}, {b.output(TensorType::INT8, {4, 2, 1}, 0.5f, 7)});
  EXPECT_EQ(b.run({to_bytes(std::vector<int32_t>{2, 0, 1, 2})}),
            std::vector<Bytes>{to_bytes(std::vector<int8_t>{4, 127, -128, 1, 2, 3, 4, 127})});
}

// Rows of an embedding have one scale, or one each, and 8, 4 or 2 bits.
TEST(TfliteEmbedding, RowsOfFloats) {
  struct {
    TensorType type;
    std::vector<uint8_t> data;  // of {3, 4}
    std::vector<int> codes;
  } const tables[] = {
      {TensorType::INT8,
       {0x80, 1, 2, 3, 4, 5, 6, 7, 0xff, 0xfe, 0, 127},
       {-128, 1, 2, 3, 4, 5, 6, 7, -1, -2, 0, 127}},
      {TensorType::INT4,
       {0x21, 0x8f, 0x70, 0x43, 0xa9, 0x65},
       {1, 2, -1, -8, 0, 7, 3, 4, -7, -6, 5, 6}},
      {TensorType::INT2, {0xe4, 0x1b, 0x00}, {0, 1, -2, -1, -1, -2, 1, 0, 0, 0, 0, 0}},
  };
  for (const auto& t : tables)
    for (const std::vector<float>& scale :
         {std::vector<float>{0.1f}, std::vector<float>{0.1f, 0.02f, 3.0f}}) {
      TfliteBuilder b;
      const int lookup = b.input(TensorType::INT32, {2});
      const int table =
          b.constant(t.type, {3, 4}, t.data, scale, std::vector<int64_t>(scale.size()), 0);
      b.op(B::EMBEDDING_LOOKUP, {lookup, table}, {b.output(TensorType::FLOAT32, {2, 4})});
      std::vector<float> want;
      for (const size_t row : {2, 1})
        for (size_t i = 0; i < 4; ++i)
          want.push_back(static_cast<float>(t.codes[4 * row + i]) *
                         scale[scale.size() > 1 ? row : 0]);
      EXPECT_EQ(b.run({to_bytes(std::vector<int32_t>{2, 1})}), std::vector<Bytes>{to_bytes(want)});
    }
}

TEST(TfliteEmbedding, Refuses) {
  const auto look_up = [](TensorType type, const Dims& dims, std::vector<float> scale,
                          int64_t zero_point, int axis, TensorType out) {
    TfliteBuilder b;
    const size_t zero_points = scale.size();
    const int table = b.constant(type, dims, Bytes(count(dims)), std::move(scale),
                                 std::vector<int64_t>(zero_points, zero_point), axis);
    b.op(B::EMBEDDING_LOOKUP, {b.input(TensorType::INT32, {2}), table},
         {b.output(out, {2, dims[1]}, out == TensorType::FLOAT32 ? 0 : 0.5f)});
    return b;
  };
  const TensorType i8 = TensorType::INT8, f32 = TensorType::FLOAT32;
  expect_rule(look_up(i8, {3, 4}, {0.5f}, 3, 0, f32), "has a zero point other than 0");
  expect_rule(look_up(i8, {3, 4}, std::vector<float>(4, 0.5f), 0, 1, f32), "not quantised per row");
  expect_rule(look_up(i8, {3, 4}, {}, 0, 0, f32), "has no scale");
  expect_rule(look_up(TensorType::UINT8, {3, 4}, {0.5f}, 0, 0, f32), "is uint8 of rows of 4");
  expect_rule(look_up(i8, {3, 4}, {0.5f}, 0, 0, TensorType::INT16), "the output int16");
}

// --- zeros and shapes

TEST(TfliteZerosLike, EveryType) {
  const auto check = [](TensorType type, float scale, size_t bytes) {
    TfliteBuilder b;
    const int x = b.input(type, {2, 3}, scale, scale == 0 ? 0 : 1);
    b.op(B::ZEROS_LIKE, {x}, {b.output(type, {2, 3}, scale, scale == 0 ? 0 : 1)});
    EXPECT_EQ(b.run({Bytes(6 * bytes, 1)}), std::vector<Bytes>{Bytes(6 * bytes)});
  };
  check(TensorType::INT8, 0.5f, 1);
  check(TensorType::UINT8, 0.5f, 1);
  check(TensorType::BOOL, 0, 1);
  check(TensorType::INT16, 0.5f, 2);
  check(TensorType::INT32, 0, 4);
  check(TensorType::INT64, 0, 8);
  check(TensorType::FLOAT32, 0, 4);
}

// Zeros like floats are one number, which operators of floats take, or which becomes bytes.
TEST(TfliteZerosLike, FloatsAreANumber) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {3}, 0.5f), real = b.tensor(TensorType::FLOAT32, {3});
  const int zeros = b.tensor(TensorType::FLOAT32, {3}), least = b.tensor(TensorType::FLOAT32, {3});
  b.op(B::DEQUANTIZE, {x}, {real});
  b.op(B::ZEROS_LIKE, {real}, {zeros});
  b.op(B::MAXIMUM, {real, zeros}, {least});
  b.op(B::QUANTIZE, {least}, {b.output(TensorType::INT8, {3}, 0.5f)});
  const int moved = b.tensor(TensorType::FLOAT32, {1, 3});
  b.op(B::RESHAPE, {zeros}, {moved});
  b.op(B::QUANTIZE, {moved}, {b.output(TensorType::INT8, {1, 3}, 0.5f, 4)});
  EXPECT_EQ(b.run({to_bytes(std::vector<int8_t>{-3, 0, 5})}),
            (std::vector<Bytes>{{0, 0, 5}, {4, 4, 4}}));
}

TEST(TfliteShape, IsAnOutput) {
  for (const TensorType type : {TensorType::INT32, TensorType::INT64}) {
    TfliteBuilder b;
    const int x = b.input(TensorType::FLOAT32, {2, 3, 4});
    tflite::ShapeOptionsT o;
    o.out_type = type;
    b.op(B::SHAPE, {x}, {b.output(type, {3})}, o);
    const Bytes want = type == TensorType::INT32 ? to_bytes(std::vector<int32_t>{2, 3, 4})
                                                 : to_bytes(std::vector<int64_t>{2, 3, 4});
    EXPECT_EQ(b.run({Bytes(96)}), std::vector<Bytes>{want});
    // The update has the size of this batch, so the batch is closed.
    EXPECT_NE(b.import().graph.batch_closed, "");
  }
}

// --- moves of what is not quantised

template <class T>
void check_moves(TensorType type, const std::vector<T>& x) {
  TfliteBuilder b;
  const auto ints = [&](const Dims& v) {
    return b.constant(TensorType::INT32, {static_cast<int32_t>(v.size())}, v);
  };
  const int in = b.input(type, {2, 3});
  const int turned = b.tensor(type, {3, 2}), joined = b.tensor(type, {6, 2});
  b.op(B::TRANSPOSE, {in, ints({1, 0})}, {turned});
  tflite::ConcatenationOptionsT o;
  b.op(B::CONCATENATION, {turned, turned}, {joined}, o);
  b.op(B::SLICE, {joined, ints({2, 0}), ints({2, 1})}, {b.output(type, {2, 1})});
  const int pads = b.constant(TensorType::INT64, {2, 2}, std::vector<int64_t>{0, 0, 1, 1});
  b.op(B::PAD, {in, pads}, {b.output(type, {2, 5})});
  b.op(B::RESHAPE, {in}, {b.output(type, {6})});
  b.op(B::PADV2, {in, pads, b.constant(type, {}, std::vector<T>{x[1]})}, {b.output(type, {2, 5})});
  tflite::PackOptionsT pack;
  b.op(B::PACK, {in, in}, {b.output(type, {2, 2, 3})}, pack);
  std::vector<T> twice = x;
  twice.insert(twice.end(), x.begin(), x.end());
  const T zero{};
  EXPECT_EQ(
      b.run({to_bytes(x)}),
      (std::vector<Bytes>{
          to_bytes(std::vector<T>{x[2], x[0]}),
          to_bytes(std::vector<T>{zero, x[0], x[1], x[2], zero, zero, x[3], x[4], x[5], zero}),
          to_bytes(x),
          to_bytes(std::vector<T>{x[1], x[0], x[1], x[2], x[1], x[1], x[3], x[4], x[5], x[1]}),
          to_bytes(twice)}));
}

TEST(TfliteMoves, OfWhatIsNotQuantised) {
  check_moves<int64_t>(TensorType::INT64, {int64_t{1} << 40, -1, 2, INT64_MIN, 4, 5});
  check_moves<int32_t>(TensorType::INT32, {1, -1, 2, INT32_MIN, 4, 5});
  check_moves<uint8_t>(TensorType::BOOL, {1, 0, 0, 1, 1, 0});
  check_moves<float>(TensorType::FLOAT32, {1, -1, 2.5f, 3, -0.0f, 5});
}

// Indices that ARG_MAX finds go through moves.
TEST(TfliteMoves, OfIndices) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2, 3}, 0.5f), best = b.tensor(TensorType::INT64, {2});
  tflite::ArgMaxOptionsT o;
  o.output_type = TensorType::INT64;
  b.op(B::ARG_MAX, {x, b.constant(TensorType::INT32, {}, std::vector<int32_t>{1})}, {best}, o);
  b.op(B::RESHAPE, {best}, {b.output(TensorType::INT64, {2, 1})});
  EXPECT_EQ(b.run({{1, 9, 3, 7, 5, 6}}), std::vector<Bytes>{to_bytes(std::vector<int64_t>{1, 0})});
}

// A float input may be moved before it is quantised, also by a constant int64.
TEST(TfliteMoves, OfFloatsBeforeQuantize) {
  TfliteBuilder b;
  const int x = b.input(TensorType::FLOAT32, {1, 3}), wide = b.tensor(TensorType::FLOAT32, {1, 7});
  tflite::MirrorPadOptionsT o;
  o.mode = tflite::MirrorPadMode::REFLECT;
  b.op(B::MIRROR_PAD, {x, b.constant(TensorType::INT64, {2, 2}, std::vector<int64_t>{0, 0, 2, 2})},
       {wide}, o);
  b.op(B::QUANTIZE, {wide}, {b.output(TensorType::INT8, {1, 7}, 0.5f, 1)});
  EXPECT_EQ(b.run({to_bytes(std::vector<float>{1, 2, 3})}),
            (std::vector<Bytes>{{7, 5, 3, 5, 7, 5, 3}}));
}

// Floats of DEQUANTIZE are padded with the code of 0, or, where none stands for the number, as floats.
TEST(TfliteMoves, OfDequantizedFloats) {
  const auto pad = [](float fill) {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {2}, 0.5f, 3),
              real = b.tensor(TensorType::FLOAT32, {2});
    const int wide = b.tensor(TensorType::FLOAT32, {4});
    const int pads = b.constant(TensorType::INT32, {1, 2}, std::vector<int32_t>{1, 1});
    b.op(B::DEQUANTIZE, {x}, {real});
    if (fill == 0)
      b.op(B::PAD, {real, pads}, {wide});
    else
      b.op(B::PADV2, {real, pads, b.constant(TensorType::FLOAT32, {}, std::vector<float>{fill})},
           {wide});
    b.op(B::QUANTIZE, {wide}, {b.output(TensorType::INT8, {4}, 0.25f, 10)});
    return b;
  };
  const Bytes x = {1, 5};
  EXPECT_EQ(pad(0).run({x}), (std::vector<Bytes>{{10, 6, 14, 10}}));
  EXPECT_EQ(pad(0).import().count(fb::OpOptions::Quantize), 0);
  EXPECT_EQ(pad(1.3f).run({x}), (std::vector<Bytes>{{15, 6, 14, 15}}));
}

TEST(TfliteMoves, RefusesInt64BeyondInt32) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {2}, 0.5f);
  const int far = b.constant(TensorType::INT64, {1, 2}, std::vector<int64_t>{int64_t{1} << 40, 0});
  b.op(B::PAD, {x, far}, {b.output(TensorType::INT8, {2}, 0.5f)});
  expect_rule(b, "has an element beyond int32");
}

}  // namespace
}  // namespace qrt::testing::tflite_update_test
