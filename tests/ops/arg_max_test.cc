// SPDX-License-Identifier: Apache-2.0
// ArgMax against a loop: axes, ties, index types; models it has to refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::arg_max_test {
namespace {

using testing::Bytes;

template <class Index>
void check(const Shape& shape, const fb::ArgMaxOptionsT& o) {
  SCOPED_TRACE(shape.to_string() + ", axis " + std::to_string(o.axis));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const int axis = static_cast<int>(o.axis);
  Shape y_shape, concrete = shape;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis || o.keep_dims) y_shape.push_back(i == axis ? 1 : shape[i]);
  testing::ModelBuilder m;
  const uint32_t x = m.input(shape);
  m.op(o, {x}, {m.output(y_shape, sizeof(Index) == 8 ? DType::kInt64 : DType::kInt32)});
  concrete[0] = 3;
  size_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= static_cast<size_t>(concrete[i]);
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= static_cast<size_t>(concrete[i]);
  const size_t n = static_cast<size_t>(concrete[axis]);
  Bytes input(outer * n * inner);
  random.fill(input, 0, 9);
  std::vector<Index> expected;
  for (size_t i = 0; i < outer; ++i)
    for (size_t j = 0; j < inner; ++j) {
      size_t best = 0;
      for (size_t k = 1; k < n; ++k) {
        const uint8_t v = input[(i * n + k) * inner + j], b = input[(i * n + best) * inner + j];
        if ((o.minimum ? v < b : v > b) || (o.last_index && v == b)) best = k;
      }
      expected.push_back(static_cast<Index>(best));
    }
  testing::expect_outputs(m, 3, {input}, {testing::bytes_of(expected)});
}

TEST(ArgMax, AxesTiesAndIndexTypes) {
  for (const uint32_t axis : {1u, 2u, 3u}) {
    for (int flags = 0; flags < 8; ++flags) {
      fb::ArgMaxOptionsT o;
      o.axis = axis;
      o.keep_dims = (flags & 1) != 0;
      o.minimum = (flags & 2) != 0;
      o.last_index = (flags & 4) != 0;
      check<int64_t>({-1, 7, 5, 33}, o);
      check<int32_t>({-1, 7, 5, 33}, o);
    }
  }
}

// Large enough to be cut.
TEST(ArgMax, ManyTasks) {
  fb::ArgMaxOptionsT o;
  o.axis = 2;
  check<int64_t>({-1, 3000, 19}, o);
}

// Zeros of both signs are equal, and a NaN is never greater: nothing is greater than a NaN that comes first.
TEST(ArgMax, OfFloats) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-0.0f, 0, -1, nan, 1, 2, 1, nan, 3, -infinity, nan, -5};
  for (const bool minimum : {false, true}) {
    testing::ModelBuilder m;
    fb::ArgMaxOptionsT o;
    o.axis = 1;
    o.minimum = minimum;
    const uint32_t in = m.input({4, 3}, DType::kFloat32);
    m.op(o, {in}, {m.output({4, 1}, DType::kInt64)});
    const std::vector<int64_t> y =
        minimum ? std::vector<int64_t>{2, 0, 0, 0} : std::vector<int64_t>{0, 0, 2, 2};
    testing::expect_outputs(m, 1, {testing::bytes_of(x)}, {testing::bytes_of(y)});
  }
}

TEST(ArgMax, RejectsBadModels) {
  const auto reject = [](const std::string& part, DType in, DType out, uint32_t axis) {
    testing::ModelBuilder m;
    fb::ArgMaxOptionsT o;
    o.axis = axis;
    m.op(o, {m.input({-1, 4}, in)}, {m.output({-1, 1}, out)});
    testing::expect_rejected(m, part);
  };
  reject("axis is 2, expected less than the rank 2", DType::kUInt8, DType::kInt64, 2);
  reject("output 0 (indices) is uint8, expected int32 or int64", DType::kUInt8, DType::kUInt8, 1);
  reject("input 0 (x) is float16, expected an integer type", DType::kFloat16, DType::kInt64, 1);
}

}  // namespace
}  // namespace qrt::arg_max_test
