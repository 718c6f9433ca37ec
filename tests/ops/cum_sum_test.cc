// SPDX-License-Identifier: Apache-2.0
// CumSum against plain loops: every axis, exclusive and reverse, sums beyond the type; models it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/ops/check.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::cum_sum_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

// Writes every sum by itself, from the definition.
template <class T>
void check(DType dtype, const Shape& shape, int axis, bool exclusive, bool reverse) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  using U = std::make_unsigned_t<T>;
  std::vector<T> x(static_cast<size_t>(shape.elements())), y(x.size());
  for (T& v : x)
    v = static_cast<T>(
        random.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  size_t inner = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) inner *= static_cast<size_t>(shape[d]);
  const auto n = static_cast<size_t>(shape[axis]);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t place = i / inner % n;
    U sum = 0;
    for (size_t k = 0; k < n; ++k) {
      const bool counts = reverse ? k >= place : k <= place;
      if (counts && !(exclusive && k == place))
        sum += static_cast<U>(x[i - place * inner + k * inner]);
    }
    y[i] = static_cast<T>(sum);
  }
  ModelBuilder m;
  fb::CumSumOptionsT o;
  o.axis = static_cast<uint32_t>(axis);
  o.exclusive = exclusive;
  o.reverse = reverse;
  const uint32_t in = m.input(shape, dtype);
  m.op(o, {in}, {m.output(shape, dtype)});
  testing::expect_outputs(m, 1, {bytes_of(x)}, {bytes_of(y)});
}

TEST(CumSum, EveryAxisAndForm) {
  for (const int axis : {0, 1, 2})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true}) {
        check<int32_t>(DType::kInt32, {3, 7, 5}, axis, exclusive, reverse);
        check<int64_t>(DType::kInt64, {2, 1, 9}, axis, exclusive, reverse);
      }
}

TEST(CumSum, FloatsInTheirOrder) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  constexpr size_t kRows = 3, kSize = 40;
  std::vector<float> x(kRows * kSize);
  for (float& v : x) v = random.real(-1, 1);
  x[5] = -0.0f;
  x[kSize + 7] = -std::numeric_limits<float>::infinity();
  x[kSize + 9] = std::numeric_limits<float>::infinity();  // and from here on the one NaN
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      std::vector<float> y(x.size());
      for (size_t row = 0; row < kRows; ++row) {
        float sum = exclusive ? 0.0f : -0.0f;  // a first element of -0 stays so
        for (size_t i = 0; i < kSize; ++i) {
          const size_t at = row * kSize + (reverse ? kSize - 1 - i : i);
          const float before = sum;
          sum += x[at];
          if (std::isnan(sum)) sum = float_of(0x7fc00000);
          y[at] = exclusive ? before : sum;
        }
      }
      ModelBuilder m;
      fb::CumSumOptionsT o;
      o.axis = 1;
      o.exclusive = exclusive;
      o.reverse = reverse;
      o.is_float = true;
      const Shape shape = {kRows, kSize};
      const uint32_t in = m.input(shape, DType::kFloat32);
      m.op(o, {in}, {m.output(shape, DType::kFloat32)});
      testing::expect_outputs(m, 1, {bytes_of(x)}, {bytes_of(y)});
    }
}

TEST(CumSum, ManyTasks) { check<int64_t>(DType::kInt64, {300, 400}, 1, false, false); }

TEST(CumSum, RejectsBadModels) {
  const auto reject = [](const Shape& shape, DType dtype, uint32_t axis, const char* part) {
    ModelBuilder m;
    fb::CumSumOptionsT o;
    o.axis = axis;
    const uint32_t in = m.input(shape, dtype);
    m.op(o, {in}, {m.output(shape, dtype)});
    testing::expect_rejected(m, part);
  };
  reject({4}, DType::kUInt8, 0, "x is uint8, expected int32 or int64");
  reject({4}, DType::kFloat32, 0, "x is float32, expected int32 or int64");
  reject({}, DType::kInt32, 0, "x has rank 0, expected at least 1");
  reject({4, 2}, DType::kInt32, 2, "axis is 2, expected 0 to 1");
}

}  // namespace
}  // namespace qrt::cum_sum_test
