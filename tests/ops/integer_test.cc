// SPDX-License-Identifier: Apache-2.0
// Integer against loops in 128 bits: every function on every type, at the extremes, broadcast;
// models it has to refuse.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/broadcast.h"
#include "tests/support/op_tester.h"

namespace qrt::integer_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

constexpr fb::IntegerFunction kLast = fb::IntegerFunction::LESS_OR_EQUAL;

fb::IntegerOptionsT options(fb::IntegerFunction function) {
  fb::IntegerOptionsT o;
  o.function = function;
  return o;
}

__int128 floor_modulo(__int128 a, __int128 b) {
  const __int128 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// The result before it is cut to the type's width. `bits`: of the type; count: b as unsigned.
template <class T>
__int128 result(fb::IntegerFunction function, T x, T y) {
  const __int128 a = x, b = y, width = 8 * sizeof(T);
  const __int128 modulus = __int128{1} << (8 * sizeof(T));
  const __int128 unsigned_a = a < 0 ? a + modulus : a, count = b < 0 ? b + modulus : b;
  switch (function) {
    case fb::IntegerFunction::ADD: return a + b;
    case fb::IntegerFunction::SUB: return a - b;
    case fb::IntegerFunction::MUL: return a * b;
    case fb::IntegerFunction::DIV: return b == 0 ? 0 : a / b;
    case fb::IntegerFunction::MOD: return b == 0 ? 0 : floor_modulo(a, b);
    case fb::IntegerFunction::FMOD: return b == 0 ? 0 : a % b;
    case fb::IntegerFunction::AND: return a & b;
    case fb::IntegerFunction::OR: return a | b;
    case fb::IntegerFunction::XOR: return a ^ b;
    case fb::IntegerFunction::SHIFT_LEFT:
      return count >= width ? 0 : unsigned_a * (__int128{1} << static_cast<int>(count)) % modulus;
    case fb::IntegerFunction::SHIFT_RIGHT:
      return count >= width ? 0 : unsigned_a >> static_cast<int>(count);
    case fb::IntegerFunction::EQUAL: return a == b;
    case fb::IntegerFunction::LESS: return a < b;
    case fb::IntegerFunction::LESS_OR_EQUAL: return a <= b;
  }
  return 0;
}

// Extremes and small values against each other, and random ones; x [.., n] against y [.., n], or
// one of them a single element.
template <class T>
void check_type(DType dtype) {
  SCOPED_TRACE(dtype_name(dtype));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  constexpr T kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
  const std::vector<T> corners = {kMin,
                                  static_cast<T>(kMin + 1),
                                  static_cast<T>(-1),
                                  0,
                                  1,
                                  2,
                                  7,
                                  static_cast<T>(-7),
                                  static_cast<T>(8 * sizeof(T) - 1),
                                  static_cast<T>(8 * sizeof(T)),
                                  static_cast<T>(kMax - 1),
                                  kMax};
  std::vector<T> a, b;
  for (const T x : corners)
    for (const T y : corners) {
      a.push_back(x);
      b.push_back(y);
    }
  for (int i = 0; i < 200; ++i) {
    a.push_back(static_cast<T>(random.integer(INT64_MIN, INT64_MAX)));
    b.push_back(static_cast<T>(random.integer(INT64_MIN, INT64_MAX)));
  }
  const auto n = static_cast<int64_t>(a.size());
  for (int f = 0; f <= static_cast<int>(kLast); ++f) {
    const auto function = static_cast<fb::IntegerFunction>(f);
    SCOPED_TRACE(fb::EnumNameIntegerFunction(function));
    const bool compares = function >= fb::IntegerFunction::EQUAL;
    for (const int single : {-1, 0, 1}) {
      const std::vector<T> x = single == 0 ? std::vector<T>{corners[7]} : a;
      const std::vector<T> y = single == 1 ? std::vector<T>{corners[5]} : b;
      std::vector<T> expected;
      std::vector<uint8_t> truth;
      for (size_t i = 0; i < a.size(); ++i) {
        const __int128 v = result(function, x[single == 0 ? 0 : i], y[single == 1 ? 0 : i]);
        expected.push_back(static_cast<T>(v));
        truth.push_back(static_cast<uint8_t>(v));
      }
      ModelBuilder m;
      const uint32_t left = m.input(single == 0 ? Shape{1} : Shape{n}, dtype);
      const uint32_t right = m.input(single == 1 ? Shape{1} : Shape{n}, dtype);
      m.op(options(function), {left, right}, {m.output({n}, compares ? DType::kUInt8 : dtype)});
      testing::expect_outputs(m, 1, {bytes_of(x), bytes_of(y)},
                              {compares ? truth : bytes_of(expected)});
    }
  }
}

TEST(Integer, EveryFunctionOnEveryType) {
  check_type<uint8_t>(DType::kUInt8);
  check_type<int8_t>(DType::kInt8);
  check_type<uint16_t>(DType::kUInt16);
  check_type<int16_t>(DType::kInt16);
  check_type<int32_t>(DType::kInt32);
  check_type<int64_t>(DType::kInt64);
}

TEST(Integer, Broadcasts) {
  for (const auto& [a, b] : testing::broadcast_pairs())
    testing::check_broadcast(options(fb::IntegerFunction::SUB), a, b,
                             [](uint8_t x, uint8_t y) { return static_cast<uint8_t>(x - y); });
}

// Work is cut into several tasks, also where the output's elements are smaller than the operands'.
TEST(Integer, ManyTasks) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  std::vector<int32_t> a(700 * 701), b(701);
  random.fill(a, -5, 5);
  random.fill(b, -5, 5);
  std::vector<uint8_t> expected;
  for (size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] < b[i % b.size()]);
  ModelBuilder m;
  const uint32_t x = m.input({-1, 700, 701}, DType::kInt32), y = m.input({701}, DType::kInt32);
  m.op(options(fb::IntegerFunction::LESS), {x, y}, {m.output({-1, 700, 701})});
  testing::expect_outputs(m, 1, {bytes_of(a), bytes_of(b)}, {expected});
}

// Integers of the other sign have their highest bit flipped: uint16 less 32768.
TEST(Integer, OtherSign) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 4}, DType::kUInt16), y = m.output({-1, 4}, DType::kInt16);
  const uint32_t bit = m.constant({}, DType::kUInt16, std::vector<uint16_t>{32768});
  m.op(options(fb::IntegerFunction::XOR), {x, bit}, {y});
  testing::expect_outputs(m, 1, {bytes_of(std::vector<uint16_t>{0, 1, 32768, 65535})},
                          {bytes_of(std::vector<int16_t>{-32768, -32767, 0, 32767})});
}

TEST(Integer, RejectsBadModels) {
  const auto reject = [](const std::string& part, DType a, DType b, const Shape& shape,
                         int function = 0) {
    ModelBuilder m;
    const uint32_t x = m.input({-1, 4}, a), y = m.input(shape, b);
    m.op(options(static_cast<fb::IntegerFunction>(function)), {x, y}, {m.output({-1, 4}, a)});
    testing::expect_rejected(m, part);
  };
  reject("input 0 (a) is float32, expected an integer type", DType::kFloat32, DType::kFloat32,
         {-1, 4});
  reject("input 1 (b) is int8, expected uint8", DType::kUInt8, DType::kInt8, {-1, 4});
  reject("do not broadcast", DType::kUInt8, DType::kUInt8, {-1, 3});
  reject("function is 14, expected 0 to 13", DType::kUInt8, DType::kUInt8, {-1, 4}, 14);
  ModelBuilder other;
  const uint32_t v = other.input({-1, 4}, DType::kInt16);
  other.op(options(fb::IntegerFunction::ADD), {v, v}, {other.output({-1, 4}, DType::kInt32)});
  testing::expect_rejected(other, "the output is int32, expected int16 or of the other sign");
  ModelBuilder m;
  m.op(options(fb::IntegerFunction::ADD), {m.input({-1, 4})}, {m.output({-1, 4})});
  testing::expect_rejected(m, "has 1 inputs, expected 2");
}

}  // namespace
}  // namespace qrt::integer_test
