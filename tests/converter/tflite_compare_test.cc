// SPDX-License-Identifier: Apache-2.0
// Comparisons, truth values and what is chosen by them, against loops that read the reference's sources
// anew.
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_compare_test {
namespace {

using B = BuiltinOperator;
using Dims = TfliteBuilder::Dims;

using Compare = std::function<bool(int64_t, int64_t)>;

const std::vector<std::pair<B, Compare>>& comparisons() {
  static const std::vector<std::pair<B, Compare>> all = {
      {B::EQUAL, [](int64_t x, int64_t y) { return x == y; }},
      {B::NOT_EQUAL, [](int64_t x, int64_t y) { return x != y; }},
      {B::LESS, [](int64_t x, int64_t y) { return x < y; }},
      {B::LESS_EQUAL, [](int64_t x, int64_t y) { return x <= y; }},
      {B::GREATER, [](int64_t x, int64_t y) { return x > y; }},
      {B::GREATER_EQUAL, [](int64_t x, int64_t y) { return x >= y; }},
  };
  return all;
}

template <class T>
std::vector<T> every(int lo, int hi) {
  std::vector<T> x;
  for (int v = lo; v <= hi; ++v) x.push_back(static_cast<T>(v));
  return x;
}

int32_t rescaled(int q, int zero_point, float scale, bool single) {
  return reference_multiply((q - zero_point) * 256,
                            reference_multiplier(static_cast<double>(scale)), single);
}

// Checks all pairs of bytes, x in rows and y in columns.
template <class T>
void check_bytes(TensorType type, float scale_x, int zero_x, float scale_y, int zero_y) {
  const std::vector<T> all = every<T>(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  for (const auto& [code, compare] : comparisons()) {
    SCOPED_TRACE(tflite::EnumNameBuiltinOperator(code));
    TfliteBuilder b;
    const int x = b.input(type, {256, 1}, scale_x, zero_x);
    const int y = b.input(type, {256}, scale_y, zero_y);
    b.op(code, {x, y}, {b.output(TensorType::BOOL, {256, 256})});
    for (const bool single : {false, true}) {
      std::vector<uint8_t> want;
      for (const T p : all)
        for (const T q : all)
          want.push_back(
              compare(rescaled(p, zero_x, scale_x, single), rescaled(q, zero_y, scale_y, single)));
      EXPECT_EQ(b.run({to_bytes(all), to_bytes(all)},
                      single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding),
                std::vector<Bytes>{want});
    }
  }
}

TEST(TfliteCompare, BytesOfUnlikeScales) {
  check_bytes<int8_t>(TensorType::INT8, 0.05f, -3, 0.07f, 12);
  check_bytes<int8_t>(TensorType::INT8, 1.5f, 0, 0.9f, -128);
}

// Bytes of small scales coincide: 2^8 times a small scale leaves few numbers, so neighbours are equal.
TEST(TfliteCompare, BytesOfSmallScalesCoincide) {
  check_bytes<int8_t>(TensorType::INT8, 0.001f, 5, 0.001f, 5);
}

TEST(TfliteCompare, Uint8) { check_bytes<uint8_t>(TensorType::UINT8, 0.05f, 130, 0.04f, 99); }

// Equality looks at the rescaled numbers, order at the integers as they are.
TEST(TfliteCompare, Int16) {
  const std::vector<int16_t> x = {-32768, -300, -299, -1, 0, 1, 4, 5, 299, 32767};
  for (const auto& [code, compare] : comparisons()) {
    SCOPED_TRACE(tflite::EnumNameBuiltinOperator(code));
    TfliteBuilder b;
    const int p = b.input(TensorType::INT16, {10, 1}, 0.001f, 0);
    const int q = b.input(TensorType::INT16, {1, 10}, 0.0015f, 7);
    b.op(code, {p, q}, {b.output(TensorType::BOOL, {10, 10})});
    const bool scales = code == B::EQUAL || code == B::NOT_EQUAL;
    std::vector<uint8_t> want;
    for (const int v : x)
      for (const int w : x)
        want.push_back(scales
                           ? compare(rescaled(v, 0, 0.001f, false), rescaled(w, 7, 0.0015f, false))
                           : compare(v, w));
    EXPECT_EQ(b.run({to_bytes(x), to_bytes(x)}), std::vector<Bytes>{want});
  }
}

template <class T>
void check_integers(TensorType type, const std::vector<T>& values) {
  const auto n = static_cast<int32_t>(values.size());
  for (const auto& [code, compare] : comparisons()) {
    SCOPED_TRACE(tflite::EnumNameBuiltinOperator(code));
    TfliteBuilder b;
    const int x = b.input(type, {n, 1});
    const int y = b.constant(type, {1, n}, values);
    b.op(code, {x, y}, {b.output(TensorType::BOOL, {n, n})});
    std::vector<uint8_t> want;
    for (const T p : values)
      for (const T q : values) want.push_back(compare(p, q));
    EXPECT_EQ(b.run({to_bytes(values)}), std::vector<Bytes>{want});
  }
}

TEST(TfliteCompare, Integers) {
  check_integers<int32_t>(TensorType::INT32, {INT32_MIN, -1, 0, 1, 7, INT32_MAX});
  check_integers<int64_t>(TensorType::INT64,
                          {INT64_MIN, INT32_MIN, -1, 0, 1, int64_t{1} << 40, INT64_MAX});
}

// Floats that a DEQUANTIZE makes are compared with other such floats, or with a number.
TEST(TfliteCompare, Floats) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {256}, 0.5f, 3);
  const int real = b.tensor(TensorType::FLOAT32, {256});
  b.op(B::DEQUANTIZE, {x}, {real});
  const int limit = b.constant(TensorType::FLOAT32, {}, std::vector<float>{-1.5f});
  b.op(B::GREATER_EQUAL, {real, limit}, {b.output(TensorType::BOOL, {256})});
  b.op(B::NOT_EQUAL, {real, limit}, {b.output(TensorType::BOOL, {256})});
  std::vector<uint8_t> least, other;
  for (int v = -128; v <= 127; ++v) {
    least.push_back(v >= 0);
    other.push_back(v != 0);
  }
  EXPECT_EQ(b.run({to_bytes(every<int8_t>(-128, 127))}), (std::vector<Bytes>{least, other}));
}

TEST(TfliteCompare, TruthValues) {
  const Bytes p = {0, 0, 1, 1}, q = {0, 1, 0, 1};
  TfliteBuilder b;
  const int x = b.input(TensorType::BOOL, {4}), y = b.input(TensorType::BOOL, {1, 4});
  const auto next = [&] { return b.output(TensorType::BOOL, {1, 4}); };
  b.op(B::LOGICAL_AND, {x, y}, {next()});
  b.op(B::LOGICAL_OR, {x, y}, {next()});
  b.op(B::EQUAL, {x, y}, {next()});
  b.op(B::NOT_EQUAL, {x, y}, {next()});
  b.op(B::LOGICAL_NOT, {x}, {b.output(TensorType::BOOL, {4})});
  EXPECT_EQ(
      b.run({p, q}),
      (std::vector<Bytes>{{0, 0, 0, 1}, {0, 1, 1, 1}, {1, 0, 0, 1}, {0, 1, 1, 0}, {1, 1, 0, 0}}));
}

TEST(TfliteCompare, Refuses) {
  const auto compare = [](B code, TensorType x, TensorType y, TensorType z, float scale) {
    TfliteBuilder b;
    const int p = b.input(x, {4}, scale), q = b.input(y, {4}, scale);
    b.op(code, {p, q}, {b.output(z, {4})});
    return b;
  };
  const TensorType i8 = TensorType::INT8, truth = TensorType::BOOL;
  expect_rule(compare(B::LESS, i8, TensorType::UINT8, truth, 1), "it compares int8 with uint8");
  expect_rule(compare(B::LESS, i8, i8, i8, 1), "and gives int8");
  expect_rule(compare(B::LESS, truth, truth, truth, 0), "does not order truth values");
  expect_rule(compare(B::LESS, i8, i8, truth, 1e6f), "is too great");
  expect_rule(compare(B::LESS, TensorType::UINT32, TensorType::UINT32, truth, 0), "uint32");
  expect_rule(compare(B::LOGICAL_OR, truth, i8, truth, 1), "expected bool");
}

// --- SELECT

// Checks a SELECT or SELECT_V2 of inputs of these shapes against a loop.
template <class T>
void check_select(B code, TensorType type, const Dims& c, const Dims& x, const Dims& y,
                  const Dims& z, bool is_constant = false) {
  SCOPED_TRACE(::testing::PrintToString(std::vector{c, x, y}));
  const bool is_plain = type == TensorType::INT32 || type == TensorType::BOOL;
  Random random;
  const auto fill = [&](const Dims& dims) {
    size_t n = 1;
    for (const int32_t d : dims) n *= static_cast<size_t>(d);
    std::vector<T> v(n);
    for (T& e : v)
      e = type == TensorType::BOOL ? static_cast<T>(random.integer(0, 1))
                                   : static_cast<T>(random.integer(std::numeric_limits<T>::min(),
                                                                   std::numeric_limits<T>::max()));
    return v;
  };
  const std::vector<T> xs = fill(x), ys = fill(y);
  Bytes cs(1);
  for (const int32_t d : c) cs.resize(cs.size() * static_cast<size_t>(d));
  for (uint8_t& v : cs) v = static_cast<uint8_t>(random.integer(0, 1));
  TfliteBuilder b;
  const float scale = is_plain ? 0 : 0.5f;
  const int condition = b.input(TensorType::BOOL, c);
  const int p = b.input(type, x, scale);
  const int q = is_constant ? b.constant(type, y, ys, {scale}, {0}) : b.input(type, y, scale);
  b.op(code, {condition, p, q}, {b.output(type, z, scale)});
  std::vector<T> want;
  const auto at = [&](const Dims& from, size_t i) {
    size_t index = 0;
    Dims place(z.size());
    for (size_t d = z.size(); d-- > 0;) {
      place[d] = static_cast<int32_t>(i % static_cast<size_t>(z[d]));
      i /= static_cast<size_t>(z[d]);
    }
    const size_t extra = z.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d)
      index = index * static_cast<size_t>(from[d]) +
              (from[d] == 1 ? 0 : static_cast<size_t>(place[d + extra]));
    return index;
  };
  Dims column = c;
  if (code == B::SELECT && c.size() == 1)
    while (column.size() < z.size()) column.push_back(1);
  size_t n = 1;
  for (const int32_t d : z) n *= static_cast<size_t>(d);
  for (size_t i = 0; i < n; ++i)
    want.push_back(cs[at(column, i)] != 0 ? xs[at(x, i)] : ys[at(y, i)]);
  std::vector<Bytes> inputs = {cs, to_bytes(xs)};
  if (!is_constant) inputs.push_back(to_bytes(ys));
  EXPECT_EQ(b.run(inputs), std::vector<Bytes>{to_bytes(want)});
}

template <class T>
void check_selects(TensorType type) {
  check_select<T>(B::SELECT_V2, type, {2, 3, 4}, {2, 3, 4}, {2, 3, 4}, {2, 3, 4});
  check_select<T>(B::SELECT_V2, type, {3, 1}, {2, 1, 4}, {4}, {2, 3, 4});
  check_select<T>(B::SELECT_V2, type, {}, {5}, {2, 5}, {2, 5});
  check_select<T>(B::SELECT, type, {3}, {3, 2, 2}, {3, 2, 2}, {3, 2, 2});
  check_select<T>(B::SELECT, type, {3, 3}, {3, 3}, {3, 3}, {3, 3});
  check_select<T>(B::SELECT, type, {}, {3, 3}, {3, 3}, {3, 3});
}

TEST(TfliteSelectV2, Int8) { check_selects<int8_t>(TensorType::INT8); }
TEST(TfliteSelectV2, Uint8) { check_selects<uint8_t>(TensorType::UINT8); }
TEST(TfliteSelectV2, Int16) { check_selects<int16_t>(TensorType::INT16); }
TEST(TfliteSelectV2, Int32) { check_selects<int32_t>(TensorType::INT32); }
TEST(TfliteSelectV2, Bool) { check_selects<uint8_t>(TensorType::BOOL); }
TEST(TfliteSelectV2, OfAConstant) {
  check_select<int8_t>(B::SELECT_V2, TensorType::INT8, {4}, {2, 4}, {4}, {2, 4}, true);
  check_select<int16_t>(B::SELECT_V2, TensorType::INT16, {4}, {2, 4}, {4}, {2, 4}, true);
}

// The bytes are chosen as they are, whatever the parameters.
TEST(TfliteSelectV2, CopiesBytes) {
  TfliteBuilder b;
  const int c = b.input(TensorType::BOOL, {4}), x = b.input(TensorType::INT8, {4}, 0.5f, 3);
  const int y = b.input(TensorType::INT8, {4}, 0.25f, -9);
  b.op(B::SELECT_V2, {c, x, y}, {b.output(TensorType::INT8, {4}, 0.125f, 1)});
  EXPECT_EQ(b.run({{1, 0, 1, 0}, {1, 2, 3, 4}, {5, 6, 7, 8}}), (std::vector<Bytes>{{1, 6, 3, 8}}));
}

// A selection between functions of one tensor, by a condition on it, becomes a table: a leaky activation.
TEST(TfliteSelectV2, FloatsBecomeATable) {
  TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {256}, 0.5f, 0);
  const int real = b.tensor(TensorType::FLOAT32, {256}),
            small = b.tensor(TensorType::FLOAT32, {256});
  b.op(B::DEQUANTIZE, {x}, {real});
  const int zero = b.constant(TensorType::FLOAT32, {}, std::vector<float>{0});
  const int tenth = b.constant(TensorType::FLOAT32, {}, std::vector<float>{0.1f});
  b.op(B::MUL, {real, tenth}, {small}, tflite::MulOptionsT());
  const int above = b.tensor(TensorType::BOOL, {256}),
            chosen = b.tensor(TensorType::FLOAT32, {256});
  b.op(B::GREATER, {real, zero}, {above});
  b.op(B::SELECT_V2, {above, real, small}, {chosen});
  b.op(B::QUANTIZE, {chosen}, {b.output(TensorType::INT8, {256}, 0.25f, -5)});
  std::vector<int8_t> want;
  for (int v = -128; v <= 127; ++v) {
    const float f = static_cast<float>(v) * 0.5f, y = f > 0 ? f : f * 0.1f;
    want.push_back(static_cast<int8_t>(std::fmin(std::fmax(std::round(y / 0.25f) - 5, -128), 127)));
  }
  EXPECT_EQ(b.run({to_bytes(every<int8_t>(-128, 127))}), std::vector<Bytes>{to_bytes(want)});
}

TEST(TfliteSelectV2, Refuses) {
  const auto select = [](TensorType c, TensorType x, TensorType y, TensorType z) {
    TfliteBuilder b;
    const int p = b.input(c, {4}, 0.5f), q = b.input(x, {4}, 0.5f), r = b.input(y, {4}, 0.5f);
    b.op(B::SELECT_V2, {p, q, r}, {b.output(z, {4}, 0.5f)});
    return b;
  };
  const TensorType i8 = TensorType::INT8, truth = TensorType::BOOL;
  expect_rule(select(i8, i8, i8, i8), "expected bool");
  expect_rule(select(truth, i8, TensorType::INT16, i8), "chooses between int8 and int16");
  expect_rule(select(truth, i8, i8, TensorType::INT16), "and gives int16");
  expect_rule(select(truth, TensorType::INT64, TensorType::INT64, TensorType::INT64), "int64");
}

}  // namespace
}  // namespace qrt::testing::tflite_compare_test
