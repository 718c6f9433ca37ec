// SPDX-License-Identifier: Apache-2.0
// ScatterAdd against index arithmetic: types, batch dimensions, blocks, equal indices, whose updates are added in their order; models it
// has to refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/ops/check.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::scatter_add_test {
namespace {

using testing::bytes_of;
using testing::ModelBuilder;

float added(float a, float b) {
  const float sum = a + b;
  return std::isnan(sum) ? float_of(0x7fc00000) : sum;
}
int32_t added(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
int64_t added(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void fill(testing::Random* random, std::vector<float>* values) {
  for (float& v : *values)
    v = random->integer(0, 9) == 0 ? (random->coin() ? INFINITY : -INFINITY) : random->real(-1, 1);
}
template <class T>
void fill(testing::Random* random, std::vector<T>* values) {
  for (T& v : *values)
    v = static_cast<T>(
        random->integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <class T, class Index>
void check(DType dtype, const Shape& x, int batch, int64_t count) {
  SCOPED_TRACE(x.to_string() + " batch " + std::to_string(batch));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Shape index, updates = x;
  for (int d = 0; d < batch; ++d) index.push_back(x[d]);
  index.push_back(count);
  updates[batch] = count;
  ModelBuilder m;
  fb::ScatterAddOptionsT o;
  o.batch_dims = static_cast<uint32_t>(batch);
  o.is_float = dtype == DType::kFloat32;
  m.op(o,
       {m.input(x, dtype), m.input(index, sizeof(Index) == 8 ? DType::kInt64 : DType::kInt32),
        m.input(updates, dtype)},
       {m.output(x, dtype)});
  std::vector<T> data(static_cast<size_t>(x.elements())),
      from(static_cast<size_t>(updates.elements()));
  fill(&random, &data);
  fill(&random, &from);
  std::vector<Index> indices(static_cast<size_t>(index.elements()));
  const int64_t n = x[batch];
  for (Index& v : indices) v = static_cast<Index>(random.integer(-n, n - 1));
  if (count > 1) indices[1] = indices[0];
  size_t block = 1;
  for (int d = batch + 1; d < x.rank(); ++d) block *= static_cast<size_t>(x[d]);
  std::vector<T> expected = data;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t at = indices[i] < 0 ? indices[i] + n : indices[i];
    const int64_t row = static_cast<int64_t>(i) / count * n + at;
    for (size_t j = 0; j < block; ++j) {
      T& to = expected[static_cast<size_t>(row) * block + j];
      to = added(to, from[i * block + j]);
    }
  }
  testing::expect_outputs(m, 1, {bytes_of(data), bytes_of(indices), bytes_of(from)},
                          {bytes_of(expected)});
}

TEST(ScatterAdd, EveryTypeAndBatchDimension) {
  check<int32_t, int32_t>(DType::kInt32, {7}, 0, 3);
  check<int64_t, int64_t>(DType::kInt64, {5, 4, 3}, 0, 4);
  check<float, int64_t>(DType::kFloat32, {5, 4, 3}, 1, 6);
  check<float, int32_t>(DType::kFloat32, {5, 4, 3}, 2, 5);
  check<int32_t, int64_t>(DType::kInt32, {2, 3, 4, 5}, 2, 1);
}

TEST(ScatterAdd, ManyTasks) { check<float, int64_t>(DType::kFloat32, {60, 50, 64}, 1, 30); }

TEST(ScatterAdd, RejectsBadModels) {
  const auto reject = [](const char* part, DType dtype, bool is_float, const Shape& updates) {
    ModelBuilder m;
    fb::ScatterAddOptionsT o;
    o.is_float = is_float;
    const uint32_t x = m.input({4, 3}, dtype), at = m.input({2}, DType::kInt64);
    m.op(o, {x, at, m.input(updates, dtype)}, {m.output({4, 3}, dtype)});
    testing::expect_rejected(m, part);
  };
  reject("x is uint8, expected int32 or int64", DType::kUInt8, false, {2, 3});
  reject("x is float32, expected int32 or int64", DType::kFloat32, false, {2, 3});
  reject("x is int32, expected float32", DType::kInt32, true, {2, 3});
  reject("updates have shape [3, 3], expected [2, 3]", DType::kInt32, false, {3, 3});
}

}  // namespace
}  // namespace qrt::scatter_add_test
