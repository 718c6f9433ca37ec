// SPDX-License-Identifier: Apache-2.0
// MinMax against std::min and std::max: every way of broadcasting, every integer type; models it
// has to refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/broadcast.h"
#include "tests/support/op_tester.h"

namespace qrt::min_max_test {
namespace {

using testing::Bytes;

fb::MinMaxOptionsT options(bool maximum) {
  fb::MinMaxOptionsT o;
  o.maximum = maximum;
  return o;
}

TEST(MinMax, Broadcasts) {
  for (const bool maximum : {false, true})
    for (const auto& [a, b] : testing::broadcast_pairs())
      testing::check_broadcast(options(maximum), a, b, [&](uint8_t x, uint8_t y) {
        return maximum ? std::max(x, y) : std::min(x, y);
      });
}

// Large enough to be cut.
TEST(MinMax, ManyTasks) {
  testing::check_broadcast(options(true), {-1, 700, 701}, {-1, 700, 701},
                           [](uint8_t x, uint8_t y) { return std::max(x, y); });
  testing::check_broadcast(options(false), {-1, 700, 701}, {701},
                           [](uint8_t x, uint8_t y) { return std::min(x, y); });
}

// [-1, 2, 5, 3] against [5, 1]: strides of wider elements.
template <class T>
void check_type(DType dtype) {
  SCOPED_TRACE(dtype_name(dtype));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  testing::ModelBuilder m;
  const uint32_t a = m.input({-1, 2, 5, 3}, dtype), b = m.input({5, 1}, dtype);
  m.op(options(true), {a, b}, {m.output({-1, 2, 5, 3}, dtype)});
  std::vector<T> x(3 * 30), y(5), expected;
  for (T& v : x) v = static_cast<T>(random.integer(-3, 3));
  for (T& v : y) v = static_cast<T>(random.integer(-3, 3));
  for (size_t i = 0; i < x.size(); ++i) expected.push_back(std::max(x[i], y[i / 3 % 5]));
  testing::expect_outputs(m, 3, {testing::bytes_of(x), testing::bytes_of(y)},
                          {testing::bytes_of(expected)});
}

TEST(MinMax, IntegerTypes) {
  check_type<uint8_t>(DType::kUInt8);
  check_type<int8_t>(DType::kInt8);
  check_type<uint16_t>(DType::kUInt16);
  check_type<int16_t>(DType::kInt16);
  check_type<int32_t>(DType::kInt32);
  check_type<int64_t>(DType::kInt64);
}

TEST(MinMax, RejectsBadModels) {
  const auto reject = [](const std::string& part, DType a, DType b, const Shape& shape) {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 4}, a), y = m.input(shape, b);
    m.op(options(false), {x, y}, {m.output({-1, 4}, a)});
    testing::expect_rejected(m, part);
  };
  reject("input 0 (a) is float32, expected an integer type", DType::kFloat32, DType::kFloat32,
         {-1, 4});
  reject("input 1 (b) is int8, expected uint8", DType::kUInt8, DType::kInt8, {-1, 4});
  reject("do not broadcast", DType::kUInt8, DType::kUInt8, {-1, 3});
  testing::ModelBuilder m;
  m.op(options(false), {m.input({-1, 4})}, {m.output({-1, 4})});
  testing::expect_rejected(m, "has 1 inputs, expected 2");
}

}  // namespace
}  // namespace qrt::min_max_test
