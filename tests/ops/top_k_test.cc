// SPDX-License-Identifier: Apache-2.0
// TopK against a stable sort: ties, orders, index types; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::top_k_test {
namespace {

using testing::Bytes;

template <class T, class Index>
void check(int64_t rows, int64_t n, uint32_t k, bool smallest, DType dtype) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(n) + ", k " + std::to_string(k));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, rows, n}, dtype);
  fb::TopKOptionsT o;
  o.k = k;
  o.smallest = smallest;
  const uint32_t values = m.output({-1, rows, k}, dtype);
  m.op(o, {x},
       {values, m.output({-1, rows, k}, sizeof(Index) == 8 ? DType::kInt64 : DType::kInt32)});
  std::vector<T> input(static_cast<size_t>(3 * rows * n)), best;
  for (T& v : input) v = static_cast<T>(random.integer(-20, 20));
  std::vector<Index> indices;
  for (size_t r = 0; r < input.size(); r += static_cast<size_t>(n)) {
    std::vector<Index> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    const auto at = [&](Index i) { return input[r + static_cast<size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](Index i, Index j) { return smallest ? at(i) < at(j) : at(j) < at(i); });
    for (size_t i = 0; i < k; ++i) {
      best.push_back(at(order[i]));
      indices.push_back(order[i]);
    }
  }
  testing::expect_outputs(m, 3, {testing::bytes_of(input)},
                          {testing::bytes_of(best), testing::bytes_of(indices)});
}

TEST(TopK, ValuesAndIndices) {
  for (const bool smallest : {false, true}) {
    for (const uint32_t k : {1u, 2u, 40u}) {
      check<uint8_t, int64_t>(3, 40, k, smallest, DType::kUInt8);
      check<int8_t, int32_t>(1, 40, k, smallest, DType::kInt8);
      check<int16_t, int64_t>(2, 40, k, smallest, DType::kInt16);
      check<int32_t, int32_t>(2, 40, k, smallest, DType::kInt32);
      check<int64_t, int32_t>(2, 40, k, smallest, DType::kInt64);
      check<uint16_t, int64_t>(2, 40, k, smallest, DType::kUInt16);
    }
  }
  check<uint8_t, int64_t>(1, 1, 1, false, DType::kUInt8);
}

// Zeros of both signs are equal, infinities ordinary, and a NaN is above all.
TEST(TopK, Floats) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0f,    -0.0f, 1e-45f, -inf, 3.5f, nan,   inf,  -nan,
                                -1e-45f, 3.5f,  -2.0f,  0.0f, 7.0f, -7.0f, 1.0f, 2.0f};
  const std::vector<int64_t> descending = {5, 7, 6, 12, 4, 9, 15, 14, 2, 0, 1, 11, 8, 10, 13, 3};
  const std::vector<int64_t> ascending = {3, 13, 10, 8, 0, 1, 11, 2, 14, 15, 4, 9, 12, 6, 5, 7};
  for (const bool smallest : {false, true})
    for (const uint32_t k : {1u, 6u, 16u}) {
      testing::ModelBuilder m;
      fb::TopKOptionsT o;
      o.k = k;
      o.smallest = smallest;
      const uint32_t in = m.input({1, 16}, DType::kFloat32);
      m.op(o, {in}, {m.output({1, k}, DType::kFloat32), m.output({1, k}, DType::kInt64)});
      std::vector<int64_t> order = smallest ? ascending : descending;
      order.resize(k);
      std::vector<float> best;
      for (const int64_t i : order) best.push_back(x[static_cast<size_t>(i)]);
      testing::expect_outputs(m, 1, {testing::bytes_of(x)},
                              {testing::bytes_of(best), testing::bytes_of(order)});
    }
}

// Large enough to be cut.
TEST(TopK, ManyTasks) { check<uint8_t, int64_t>(300, 200, 5, false, DType::kUInt8); }

TEST(TopK, RejectsBadModels) {
  const auto reject = [](const std::string& part, uint32_t k, DType indices, bool both) {
    testing::ModelBuilder m;
    fb::TopKOptionsT o;
    o.k = k;
    const uint32_t x = m.input({-1, 4}), y = m.output({-1, 2});
    if (both)
      m.op(o, {x}, {y, m.output({-1, 2}, indices)});
    else
      m.op(o, {x}, {y});
    testing::expect_rejected(m, part);
  };
  reject("k is 5, expected 1 to 4", 5, DType::kInt64, true);
  reject("k is 0, expected 1 to 4", 0, DType::kInt64, true);
  reject("output 1 (indices) is int16, expected int32 or int64", 2, DType::kInt16, true);
  reject("has 1 outputs, expected 2", 2, DType::kInt64, false);
}

}  // namespace
}  // namespace qrt::top_k_test
