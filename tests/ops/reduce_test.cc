// SPDX-License-Identifier: Apache-2.0
// Reduce against plain loops: sums and maxima along every axis, modulo 2^32; models it refuses.
#include <gtest/gtest.h>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::reduce_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

template <class T>
void check(DType dtype, const Shape& shape, uint32_t axis, int32_t zero_point, bool maximum) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  std::vector<T> x(static_cast<size_t>(shape.elements()));
  for (T& v : x)
    v = static_cast<T>(
        random.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  Shape to = shape;
  to[static_cast<int>(axis)] = 1;
  size_t inner = 1;
  for (int d = static_cast<int>(axis) + 1; d < shape.rank(); ++d)
    inner *= static_cast<size_t>(shape[d]);
  const auto n = static_cast<size_t>(shape[static_cast<int>(axis)]);
  std::vector<int32_t> y(static_cast<size_t>(to.elements()));
  for (size_t i = 0; i < y.size(); ++i) {
    uint32_t sum = 0;
    int32_t most = INT32_MIN;
    for (size_t k = 0; k < n; ++k) {
      const T v = x[(i / inner * n + k) * inner + i % inner];
      const uint32_t u = static_cast<uint32_t>(v) - static_cast<uint32_t>(zero_point);
      sum += u;
      most = std::max(most, static_cast<int32_t>(u));
    }
    y[i] = maximum ? most : static_cast<int32_t>(sum);
  }
  ModelBuilder m;
  fb::ReduceOptionsT o;
  o.axis = axis;
  o.zero_point = zero_point;
  o.maximum = maximum;
  const uint32_t in = m.input(shape, dtype);
  m.op(o, {in}, {m.output(to, DType::kInt32)});
  testing::expect_outputs(m, 1, {bytes_of(x)}, {bytes_of(y)});
}

TEST(Reduce, EveryAxisOfEveryType) {
  for (const uint32_t axis : {0u, 1u, 2u})
    for (const bool maximum : {false, true}) {
      check<uint8_t>(DType::kUInt8, {3, 7, 300}, axis, 128, maximum);
      check<int16_t>(DType::kInt16, {3, 7, 5}, axis, -32768, maximum);
      check<int32_t>(DType::kInt32, {3, 7, 5}, axis, 0, maximum);
    }
}

TEST(Reduce, RefusesAxesAndTypesItDoesNotHave) {
  const auto refused = [](DType dtype, uint32_t axis, int32_t zero_point, const char* part) {
    ModelBuilder m;
    fb::ReduceOptionsT o;
    o.axis = axis;
    o.zero_point = zero_point;
    const uint32_t x = m.input({2, 3}, dtype);
    m.op(o, {x}, {m.output({2, 1}, DType::kInt32)});
    testing::expect_rejected(m, part);
  };
  refused(DType::kInt32, 2, 0, "axis is 2, expected 0 to 1");
  refused(DType::kInt8, 1, 0, "x is int8, expected uint8, int16 or int32");
  refused(DType::kUInt8, 1, -1, "zero_point is -1, expected 0 to 255");
}

}  // namespace
}  // namespace qrt::reduce_test
