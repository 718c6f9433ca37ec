// SPDX-License-Identifier: Apache-2.0
// ONNX graphs on integers of more than 8 bits without quantisation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_integers_test {
namespace {

template <class T>
constexpr int kLo = std::numeric_limits<T>::min();
template <class T>
constexpr int kHi = std::numeric_limits<T>::max();

// Integers without quantisation.
template <class T>
void check_raw(const std::string& op, const std::function<int64_t(int64_t, int64_t)>& f,
               const std::vector<Attr>& attributes = {}) {
  SCOPED_TRACE(op);
  Random random;
  SCOPED_TRACE(random.trace());
  auto a = random_integers<T>(&random, 300), b = random_integers<T>(&random, 300);
  for (size_t i = 0; i < 100; ++i) b[i] = static_cast<T>(random.integer(1, 20));
  b[0] = a[0];
  OnnxBuilder m(18);
  const std::string x = m.input<T>({300}), y = m.input<T>({300});
  const std::string z =
      attributes.empty() ? m.node(op, {x, y}) : m.node(op, {x, y}, {attributes[0]});
  m.output(z);
  const auto got = m.run({to_bytes(a), to_bytes(b)});
  ASSERT_EQ(got.size(), 1u);
  const bool compares = got[0].size() == 300 && sizeof(T) > 1;
  for (size_t i = 0; i < 300; ++i) {
    const int64_t expected = f(a[i], b[i]);
    if (compares) {
      ASSERT_EQ(got[0][i], expected) << i;
    } else {
      ASSERT_EQ(from_bytes<T>(got[0])[i], static_cast<T>(expected)) << i;
    }
  }
}

template <class T>
void check_raw_type() {
  check_raw<T>("Add", [](int64_t a, int64_t b) { return a + b; });
  check_raw<T>("Sub", [](int64_t a, int64_t b) { return a - b; });
  check_raw<T>("Mul", [](int64_t a, int64_t b) { return a * b; });
  check_raw<T>("Div", [](int64_t a, int64_t b) { return b == 0 ? 0 : a / b; });
  check_raw<T>("Mod", [](int64_t a, int64_t b) {
    const int64_t r = b == 0 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  });
  check_raw<T>("Mod", [](int64_t a, int64_t b) { return b == 0 ? 0 : a % b; }, {{"fmod", 1}});
  check_raw<T>("BitwiseXor", [](int64_t a, int64_t b) { return a ^ b; });
  check_raw<T>("Equal", [](int64_t a, int64_t b) { return a == b; });
  check_raw<T>("Less", [](int64_t a, int64_t b) { return a < b; });
  check_raw<T>("GreaterOrEqual", [](int64_t a, int64_t b) { return a >= b; });
  check_raw<T>("Max", [](int64_t a, int64_t b) { return std::max(a, b); });
}

TEST(OnnxIntegers, TwoTensorsOfEveryType) {
  check_raw_type<uint16_t>();
  check_raw_type<int16_t>();
  check_raw_type<int32_t>();
  check_raw<uint16_t>("BitShift", [](int64_t a, int64_t b) { return b > 15 ? 0 : a << b; },
                      {{"direction", "LEFT"}});
  check_raw<uint16_t>("BitShift", [](int64_t a, int64_t b) { return b > 15 ? 0 : a >> b; },
                      {{"direction", "RIGHT"}});
}

template <class T>
void check_raw_unary() {
  std::vector<T> x = {0, 1, 2, static_cast<T>(kLo<T>), static_cast<T>(kHi<T>), static_cast<T>(-9)};
  const std::vector<std::pair<std::string, std::function<int64_t(int64_t)>>> ops = {
      {"Abs", [](int64_t v) { return v < 0 ? -v : v; }},
      {"Neg", [](int64_t v) { return -v; }},
      {"Sign", [](int64_t v) { return (v > 0) - (v < 0); }},
      {"BitwiseNot", [](int64_t v) { return ~v; }},
      {"Relu", [](int64_t v) { return v < 0 ? 0 : v; }}};
  OnnxBuilder m(18);
  const std::string in = m.input<T>({6});
  for (const auto& [op, f] : ops) m.output(m.node(op, {in}));
  const auto got = m.run({to_bytes(x)});
  ASSERT_EQ(got.size(), ops.size());
  for (size_t o = 0; o < ops.size(); ++o)
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(from_bytes<T>(got[o])[i], static_cast<T>(ops[o].second(x[i]))) << ops[o].first;
}

TEST(OnnxIntegers, OneTensorOfEveryType) {
  check_raw_unary<uint16_t>();
  check_raw_unary<int16_t>();
  check_raw_unary<int32_t>();
}

}  // namespace
}  // namespace qrt::testing::onnx_integers_test
