// SPDX-License-Identifier: Apache-2.0
// Cast against conversions of single elements: every pair of types, limits, ties and what is no number; models it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/op_tester.h"

namespace qrt::cast_test {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::ModelBuilder;

template <class From, class To>
void check(DType from, DType to, const std::vector<From>& x, const std::vector<To>& y,
           bool is_truth = false) {
  SCOPED_TRACE(std::string(dtype_name(from)) + " to " + dtype_name(to));
  ModelBuilder m;
  fb::CastOptionsT o;
  o.is_truth = is_truth;
  o.is_float = from == DType::kFloat32 || to == DType::kFloat32;
  const Shape shape = {static_cast<int64_t>(x.size())};
  const uint32_t in = m.input(shape, from);
  m.op(o, {in}, {m.output(shape, to)});
  testing::expect_outputs(m, 1, {bytes_of(x)}, {bytes_of(y)});
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kMost = std::numeric_limits<int64_t>::max();

TEST(Cast, Integers) {
  const std::vector<int64_t> wide = {
      0, 1, -1, 255, 256, -256, INT32_MAX, int64_t{INT32_MAX} + 1, kLeast, kMost};
  check<int64_t, int32_t>(DType::kInt64, DType::kInt32, wide,
                          {0, 1, -1, 255, 256, -256, INT32_MAX, INT32_MIN, 0, -1});
  check<int64_t, uint8_t>(DType::kInt64, DType::kUInt8, wide,
                          {0, 1, 255, 255, 0, 0, 255, 0, 0, 255});
  check<int64_t, uint8_t>(DType::kInt64, DType::kUInt8, wide, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, true);
  check<int32_t, int64_t>(DType::kInt32, DType::kInt64, {0, -1, INT32_MIN, INT32_MAX},
                          {0, -1, INT32_MIN, INT32_MAX});
  check<uint8_t, int64_t>(DType::kUInt8, DType::kInt64, {0, 1, 255}, {0, 1, 255});
  check<uint8_t, int32_t>(DType::kUInt8, DType::kInt32, {0, 1, 255}, {0, 1, 255});
  check<uint8_t, uint8_t>(DType::kUInt8, DType::kUInt8, {0, 1, 255}, {0, 1, 1}, true);
}

TEST(Cast, IntegersToTheNearestFloat) {
  // Ties of 24 bits: 2^24 + 1 goes down to even, 2^24 + 3 up.
  check<int64_t, float>(
      DType::kInt64, DType::kFloat32,
      {0, -7, 16777217, 16777219, -16777217, kMost, kLeast, (int64_t{1} << 40) + (1 << 16) + 1},
      {0, -7, 16777216, 16777220, -16777216, 0x1p63f, -0x1p63f, 0x1.000002p40f});
  check<int32_t, float>(DType::kInt32, DType::kFloat32, {16777217, 16777219, INT32_MAX, INT32_MIN},
                        {16777216, 16777220, 0x1p31f, -0x1p31f});
  check<uint8_t, float>(DType::kUInt8, DType::kFloat32, {0, 1, 255}, {0, 1, 255});
}

TEST(Cast, FloatsTowardsZero) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0,   -0.0f,    1.9f,      -1.9f, 0x1.fffffep30f, 0x1p31f, -0x1p31f,
                                nan, infinity, -infinity, 300};
  check<float, int32_t>(
      DType::kFloat32, DType::kInt32, x,
      {0, 0, 1, -1, 2147483520, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 300});
  check<float, int64_t>(
      DType::kFloat32, DType::kInt64, x,
      {0, 0, 1, -1, 2147483520, int64_t{1} << 31, INT32_MIN, kLeast, kLeast, kLeast, 300});
  check<float, int64_t>(DType::kFloat32, DType::kInt64, {0x1p63f, -0x1p63f, 0x1.fffffep62f},
                        {kLeast, kLeast, 9223371487098961920});
  check<float, uint8_t>(DType::kFloat32, DType::kUInt8, x, {0, 0, 1, 255, 128, 0, 0, 0, 0, 0, 44});
  check<float, uint8_t>(DType::kFloat32, DType::kUInt8, x, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, true);
  check<float, float>(DType::kFloat32, DType::kFloat32, {1.5f, -0.0f}, {1.5f, -0.0f});
}

TEST(Cast, ManyTasks) {
  std::vector<int64_t> x(100003);
  std::vector<float> y;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<int64_t>(i) * 977 - 3000000;
    y.push_back(static_cast<float>(x[i]));
  }
  check<int64_t, float>(DType::kInt64, DType::kFloat32, x, y);
}

void reject(DType from, DType to, bool is_truth, bool is_float, const std::string& part) {
  ModelBuilder m;
  fb::CastOptionsT o;
  o.is_truth = is_truth;
  o.is_float = is_float;
  const uint32_t in = m.input({4}, from);
  m.op(o, {in}, {m.output({4}, to)});
  testing::expect_rejected(m, part);
}

TEST(Cast, RejectsBadModels) {
  reject(DType::kInt16, DType::kInt32, false, false,
         "x is int16, expected uint8, int32, int64 or float32");
  reject(DType::kInt32, DType::kInt16, false, false, "the output is int16, expected uint8");
  reject(DType::kInt32, DType::kInt64, true, false, "truth values are int64, expected uint8");
  reject(DType::kInt32, DType::kFloat32, false, false, "is_float is 0 for int32 to float32");
  reject(DType::kInt32, DType::kInt64, false, true, "is_float is 1 for int32 to int64");
}

}  // namespace
}  // namespace qrt::cast_test
