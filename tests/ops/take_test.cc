// SPDX-License-Identifier: Apache-2.0
// Take against index arithmetic: axes, batch dimensions, element sizes, indices outside; models it
// has to refuse.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "runtime/session.h"
#include "runtime/tensor.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::take_test {
namespace {

using testing::Bytes;

int64_t product(const Shape& s, int begin, int end) {
  int64_t n = 1;
  for (int d = begin; d < end; ++d) n *= s[d];
  return n;
}

template <class Index = int32_t>
void check(const Shape& x, const Shape& index, int axis, int batch, DType dtype = DType::kUInt8,
           bool is_checked = false) {
  SCOPED_TRACE(x.to_string() + index.to_string() + " axis " + std::to_string(axis));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Shape y;
  for (int d = 0; d < axis; ++d) y.push_back(x[d]);
  for (int d = batch; d < index.rank(); ++d) y.push_back(index[d]);
  for (int d = axis + 1; d < x.rank(); ++d) y.push_back(x[d]);
  testing::ModelBuilder m;
  const DType index_type = sizeof(Index) == 8 ? DType::kInt64 : DType::kInt32;
  const uint32_t a = m.input(x, dtype), i = m.input(index, index_type);
  fb::TakeOptionsT o;
  o.is_checked = is_checked;
  o.axis = static_cast<uint32_t>(axis);
  o.batch_dims = static_cast<uint32_t>(batch);
  m.op(o, {a, i}, {m.output(y, dtype)});

  const int64_t n = x[axis], inner = product(x, axis + 1, x.rank());
  const size_t bytes = static_cast<size_t>(inner) * dtype_bytes(dtype);
  Bytes data(static_cast<size_t>(x.elements()) * dtype_bytes(dtype));
  random.fill(data, 0, 255);
  std::vector<Index> indices(static_cast<size_t>(index.elements()));
  const int64_t outside = is_checked ? 0 : 2;
  for (Index& v : indices) v = static_cast<Index>(random.integer(-n - outside, n - 1 + outside));
  indices[0] = is_checked ? static_cast<Index>(-n) : std::numeric_limits<Index>::min();
  indices.back() = is_checked ? static_cast<Index>(n - 1) : std::numeric_limits<Index>::max();
  Bytes expected;
  const int64_t each = product(index, batch, index.rank());
  for (int64_t b = 0; b < product(x, 0, batch); ++b)
    for (int64_t p = 0; p < product(x, batch, axis); ++p)
      for (int64_t k = 0; k < each; ++k) {
        int64_t at = indices[static_cast<size_t>(b * each + k)];
        if (at < 0 && at >= -n) at += n;
        at = at < 0 ? 0 : at >= n ? n - 1 : at;
        const auto from =
            data.begin() +
            static_cast<ptrdiff_t>(static_cast<size_t>((b * product(x, batch, axis) + p) * n + at) *
                                   bytes);
        expected.insert(expected.end(), from, from + static_cast<ptrdiff_t>(bytes));
      }
  testing::expect_outputs(m, 1, {data, testing::bytes_of(indices)}, {expected});
}

TEST(Take, EveryAxis) {
  check({5, 4, 3}, {7}, 0, 0);
  check({5, 4, 3}, {2, 3}, 1, 0);
  check({5, 4, 3}, {1}, 2, 0);
  check({5, 4, 3}, {}, 1, 0);
  check({1}, {6}, 0, 0);
}

TEST(Take, BatchDimensionsHaveTheirOwnIndices) {
  check({3, 4, 5}, {3, 2}, 1, 1);
  check({2, 3, 4, 5}, {2, 6}, 2, 1);
  check({2, 3, 4, 5}, {2, 3, 2}, 2, 2);
}

TEST(Take, EveryElementSizeAndManyTasks) {
  for (const DType dtype : {DType::kInt16, DType::kInt32, DType::kInt64})
    check({4, 5, 3}, {3}, 1, 0, dtype);
  check({50, 40, 64}, {300}, 1, 0);
}

TEST(Take, IndicesOf64Bits) {
  check<int64_t>({5, 4, 3}, {7}, 0, 0);
  check<int64_t>({2, 3, 4, 5}, {2, 6}, 2, 1, DType::kInt16);
}

TEST(Take, ChecksIndices) {
  check({5, 4, 3}, {7}, 0, 0, DType::kUInt8, true);
  check<int64_t>({3, 4, 5}, {3, 2}, 1, 1, DType::kFloat32, true);
}

// Returns what a run reports for these ids, one of which is outside a table of four rows; the next
// run succeeds.
template <class Index>
std::string said(DType dtype, const std::vector<Index>& ids, size_t threads = 1) {
  testing::ModelBuilder m;
  const uint32_t x = m.constant<int32_t>({4, 2}, DType::kInt32, {1, 2, 3, 4, 5, 6, 7, 8}, "table");
  const uint32_t i = m.input({static_cast<int64_t>(ids.size())}, dtype, "ids");
  fb::TakeOptionsT o;
  o.is_checked = true;
  m.op(o, {x, i}, {m.output({static_cast<int64_t>(ids.size()), 2}, DType::kInt32)});
  auto model = testing::load(m);
  EXPECT_TRUE(model.ok());
  SessionOptions options;
  options.threads = threads;
  auto session = Session::create(*model, options);
  EXPECT_TRUE(session.ok());
  const auto run = [&](const std::vector<Index>& values) {
    memcpy((*session)->data(i), values.data(), values.size() * sizeof(Index));
    return (*session)->run();
  };
  const Status first = run(ids);
  EXPECT_EQ(first.code(), Code::kOutOfRange);
  EXPECT_TRUE(run(std::vector<Index>(ids.size(), -4)).ok()) << "a failure is of its run alone";
  return first.message();
}

TEST(Take, EndsTheRunAtAnIndexOutside) {
  const std::string rest = " of 'ids' is outside the 4 rows of 'table'";
  for (const size_t threads : {1u, 3u}) {
    EXPECT_EQ(said<int32_t>(DType::kInt32, {0, 3, 4}, threads), "index 4" + rest);
    EXPECT_EQ(said<int64_t>(DType::kInt64, {-5, 9}, threads), "index -5" + rest);
    EXPECT_EQ(said<int64_t>(DType::kInt64, {INT64_MIN}, threads),
              "index -9223372036854775808" + rest);
    EXPECT_EQ(said<int64_t>(DType::kInt64, {0, int64_t{1} << 32}, threads),
              "index 4294967296" + rest);
  }
}

TEST(Take, LeavesVariablesAsTheyWereWhereItEndsTheRun) {
  testing::ModelBuilder m;
  const uint32_t state = m.tensor({2}, DType::kInt32, "state");
  const uint32_t one = m.constant<int32_t>({2}, DType::kInt32, {1, 1});
  const uint32_t next = m.output({2}, DType::kInt32, "next");
  m.op(fb::IntegerOptionsT(), {state, one}, {next});
  m.variable(state, next, 20);
  const uint32_t ids = m.input({1}, DType::kInt64, "ids");
  fb::TakeOptionsT o;
  o.is_checked = true;
  m.op(o, {next, ids}, {m.output({1}, DType::kInt32)});
  auto model = testing::load(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session.ok());
  const auto run = [&](int64_t id) {
    memcpy((*session)->data(ids), &id, sizeof id);
    return (*session)->run().code();
  };
  const auto* values = reinterpret_cast<const int32_t*>((*session)->data(next));
  EXPECT_EQ(run(0), Code::kOk);
  EXPECT_EQ(values[1], 21);
  EXPECT_EQ(run(2), Code::kOutOfRange);
  EXPECT_EQ(run(1), Code::kOk);
  EXPECT_EQ(values[1], 22);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::TakeOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({2, 4, 3}), i = m.input({2, 5}, DType::kInt32);
  fb::TakeOptionsT o;
  o.axis = o.batch_dims = 1;
  fb::OperatorT& op = m.op(o, {x, i}, {m.output({2, 5, 3})});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsTake());
  testing::expect_rejected(m, part);
}

TEST(Take, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::TakeOptionsT;
  reject("axis is 3, expected 0 to 2", [](M&, O& o) { o.axis = 3; });
  reject("axis is 4294967295", [](M&, O& o) { o.axis = UINT32_MAX; });
  reject("batch_dims is 2, expected 0 to 1", [](M&, O& o) { o.batch_dims = 2; });
  reject("index is uint8, expected int32 or int64",
         [](M& m, O&) { m.at(1).dtype = fb::DType::UINT8; });
  reject("batch dimension 0 is 2 of x [2, 4, 3] and 3", [](M& m, O&) { m.at(1).shape[0] = 3; });
  reject("its output has 7 dimensions, expected at most 6",
         [](M& m, O&) { m.at(1).shape = {2, 1, 1, 1, 1, 5}; });
  reject("has the shape [2, 5, 3], expected [2, 4, 5, 3]", [](M& m, O& o) {
    o.batch_dims = 0;
    o.axis = 1;
    m.at(1).shape = {4, 5};
  });
  reject("has 1 inputs, expected 2", [](M& m, O&) { m.model().operators[0]->inputs.pop_back(); });
}

}  // namespace
}  // namespace qrt::take_test
