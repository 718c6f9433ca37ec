// SPDX-License-Identifier: Apache-2.0
// Scatter against index arithmetic: batch dimensions, element sizes, equal indices, indices outside; models it has to refuse.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "runtime/session.h"
#include "runtime/tensor.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::scatter_test {
namespace {

using testing::Bytes;

template <class Index>
void check(const Shape& x, int batch, int64_t count, DType dtype) {
  SCOPED_TRACE(x.to_string() + " batch " + std::to_string(batch));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Shape index, updates = x;
  for (int d = 0; d < batch; ++d) index.push_back(x[d]);
  index.push_back(count);
  updates[batch] = count;
  testing::ModelBuilder m;
  fb::ScatterOptionsT o;
  o.batch_dims = static_cast<uint32_t>(batch);
  m.op(o,
       {m.input(x, dtype), m.input(index, sizeof(Index) == 8 ? DType::kInt64 : DType::kInt32),
        m.input(updates, dtype)},
       {m.output(x, dtype)});

  const int64_t n = x[batch];
  int64_t batches = 1;
  size_t block = dtype_bytes(dtype);
  for (int d = 0; d < batch; ++d) batches *= x[d];
  for (int d = batch + 1; d < x.rank(); ++d) block *= static_cast<size_t>(x[d]);
  Bytes data(static_cast<size_t>(batches * n) * block),
      from(static_cast<size_t>(batches * count) * block);
  random.fill(data, 0, 255);
  random.fill(from, 0, 255);
  std::vector<Index> indices(static_cast<size_t>(batches * count));
  for (Index& v : indices) v = static_cast<Index>(random.integer(-n, n - 1));
  if (count > 1) indices[1] = indices[0];
  Bytes expected = data;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t k = 0; k < count; ++k) {
      const size_t i = static_cast<size_t>(b * count + k);
      const int64_t at = indices[i] < 0 ? indices[i] + n : indices[i];
      memcpy(expected.data() + static_cast<size_t>(b * n + at) * block, from.data() + i * block,
             block);
    }
  testing::expect_outputs(m, 1, {data, testing::bytes_of(indices), from}, {expected});
}

TEST(Scatter, EveryBatchDimensionAndElementSize) {
  check<int32_t>({7}, 0, 3, DType::kUInt8);
  check<int64_t>({5, 4, 3}, 0, 4, DType::kInt16);
  check<int64_t>({5, 4, 3}, 1, 2, DType::kFloat32);
  check<int32_t>({5, 4, 3}, 2, 5, DType::kInt64);
  check<int64_t>({2, 3, 4, 5}, 2, 1, DType::kUInt8);
}

TEST(Scatter, ManyTasks) { check<int64_t>({60, 50, 64}, 1, 30, DType::kFloat32); }

TEST(Scatter, EndsTheRunAtAnIndexOutside) {
  testing::ModelBuilder m;
  const uint32_t x = m.constant<int32_t>({4}, DType::kInt32, {1, 2, 3, 4}, "cache");
  const uint32_t at = m.input({1}, DType::kInt64, "place");
  const uint32_t value = m.input({1}, DType::kInt32, "value");
  m.op(fb::ScatterOptionsT(), {x, at, value}, {m.output({4}, DType::kInt32)});
  auto model = testing::load(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session.ok());
  const auto run = [&](int64_t place) {
    memcpy((*session)->data(at), &place, sizeof place);
    return (*session)->run();
  };
  for (const int64_t place : {4, -5}) {
    const Status ended = run(place);
    EXPECT_EQ(ended.code(), Code::kOutOfRange);
    EXPECT_EQ(ended.message(),
              "index " + std::to_string(place) + " of 'place' is outside the 4 rows of 'cache'");
  }
  EXPECT_TRUE(run(-4).ok());
}

void reject(const char* part, const Shape& x, const Shape& index, const Shape& updates,
            uint32_t batch_dims, DType index_type = DType::kInt64,
            DType updates_type = DType::kUInt8) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  fb::ScatterOptionsT o;
  o.batch_dims = batch_dims;
  m.op(o, {m.input(x), m.input(index, index_type), m.input(updates, updates_type)}, {m.output(x)});
  testing::expect_rejected(m, part);
}

TEST(Scatter, RejectsBadModels) {
  reject("batch_dims is 2, expected 0 to 1", {4, 3}, {4, 3, 1}, {4, 3}, 2);
  reject("index is uint8, expected int32 or int64", {4, 3}, {2}, {2, 3}, 0, DType::kUInt8);
  reject("(updates) is int32, expected uint8", {4, 3}, {2}, {2, 3}, 0, DType::kInt64,
         DType::kInt32);
  reject("the indices have shape [2, 1], expected the first 0 dimensions", {4, 3}, {2, 1}, {2, 3},
         0);
  reject("the indices have shape [3, 2], expected the first 1 dimensions", {4, 3}, {3, 2}, {4, 2},
         1);
  reject("updates have shape [2, 2], expected [2, 3]", {4, 3}, {2}, {2, 2}, 0);
}

}  // namespace
}  // namespace qrt::scatter_test
