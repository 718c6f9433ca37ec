// SPDX-License-Identifier: Apache-2.0
// Gather against index arithmetic: every axis, every element size, fills, repeated and reversed
// indices, cuts for threads; models it has to refuse.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "runtime/tensor.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::gather_test {
namespace {

using testing::Bytes;
using Index = std::vector<int32_t>;

struct Map {
  int axis;
  Index index;
};

Index count_up(int32_t first, int32_t n, int32_t step = 1) {
  Index index;
  for (int32_t i = 0; i < n; ++i) index.push_back(first + i * step);
  return index;
}

fb::GatherOptionsT gather_options(const std::vector<Map>& maps, int64_t fill) {
  fb::GatherOptionsT o;
  o.fill = fill;
  for (const Map& map : maps) {
    o.axes.push_back(std::make_unique<fb::GatherAxisT>());
    o.axes.back()->axis = static_cast<uint8_t>(map.axis);
    o.axes.back()->index = map.index;
  }
  return o;
}

Bytes gathered(const Bytes& x, const Shape& from, const Shape& to, const std::vector<Map>& maps,
               size_t bytes, int64_t fill) {
  Bytes y;
  std::vector<int64_t> at(static_cast<size_t>(to.rank()), 0);
  for (int64_t n = 0; n < to.elements(); ++n) {
    int64_t offset = 0;
    bool filled = false;
    for (int d = 0; d < to.rank(); ++d) {
      int64_t i = at[static_cast<size_t>(d)];
      for (const Map& map : maps)
        if (map.axis == d) i = map.index[static_cast<size_t>(i)];
      filled = filled || i < 0;
      offset = offset * from[d] + i;
    }
    for (size_t b = 0; b < bytes; ++b)
      y.push_back(filled ? static_cast<uint8_t>(static_cast<uint64_t>(fill) >> 8 * b)
                         : x[static_cast<size_t>(offset) * bytes + b]);
    for (int d = to.rank(); d-- > 0;) {
      if (++at[static_cast<size_t>(d)] < to[d]) break;
      at[static_cast<size_t>(d)] = 0;
    }
  }
  return y;
}

// Checks a Gather. The batch is symbolic where no map is on axis 0.
void check(Shape from, const std::vector<Map>& maps, DType dtype = DType::kUInt8,
           int64_t fill = 0x0123456789ABCDEF) {
  SCOPED_TRACE(from.to_string());
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Shape to = from;
  for (const Map& map : maps) to[map.axis] = static_cast<int64_t>(map.index.size());
  const bool open = from.rank() > 0 && (maps.empty() || maps[0].axis != 0);
  Shape in_file = from, out_file = to;
  if (open) in_file[0] = out_file[0] = -1;
  testing::ModelBuilder m;
  const uint32_t x = m.input(in_file, dtype), y = m.output(out_file, dtype);
  m.op(gather_options(maps, fill), {x}, {y});
  for (const int64_t batch : {1, 3}) {
    if (batch != 1 && !open) continue;
    if (open) from[0] = to[0] = batch;
    Bytes data(static_cast<size_t>(from.elements()) * dtype_bytes(dtype));
    random.fill(data, 0, 255);
    testing::expect_outputs(m, static_cast<size_t>(batch), {data},
                            {gathered(data, from, to, maps, dtype_bytes(dtype), fill)});
  }
}

TEST(Gather, SlicesEveryAxis) {
  check({7, 5, 9}, {{0, count_up(2, 3)}});
  check({1, 7, 5, 9}, {{1, count_up(2, 3)}});
  check({1, 7, 5, 9}, {{2, count_up(1, 4)}});
  check({1, 7, 5, 9}, {{3, count_up(3, 5)}});
  check({1, 7, 5, 9}, {{1, count_up(6, 1)}, {2, count_up(0, 2)}, {3, count_up(8, 1)}});
  check({1, 2, 3, 2, 3, 5}, {{4, count_up(1, 2)}});
}

// Slices of a few bytes are copied right, in few pieces, which are copied for all rows together, or in more.
TEST(Gather, SlicesAFewBytesOfManyRows) {
  for (const int n : {2, 3, 4, 17, 32}) {
    check({1, 7, 1, 70}, {{3, count_up(5, n)}});
    check({1, 4, 2, 70}, {{3, count_up(5, n)}}, DType::kInt16);
    Index pieces = count_up(70 - n, n);
    for (int copies = 0; copies < 4; ++copies) {
      const Index more = count_up(copies, n);
      pieces.insert(pieces.end(), more.begin(), more.end());
    }
    check({1, 3, 5, 70}, {{3, pieces}});
    pieces.resize(pieces.size() - static_cast<size_t>(n));
    check({1, 3, 5, 70}, {{1, {2, -1, 0}}, {3, pieces}});
  }
}

TEST(Gather, StepsForwardAndBack) {
  check({1, 40, 3}, {{1, count_up(1, 13, 3)}});
  check({1, 40, 3}, {{1, count_up(39, 40, -1)}});
  check({1, 6, 41}, {{2, count_up(40, 21, -2)}});
  check({1, 6, 41}, {{1, count_up(5, 6, -1)}, {2, count_up(40, 41, -1)}});
}

TEST(Gather, FillsAround) {
  Index padded(17, -1);
  std::iota(padded.begin() + 3, padded.end() - 2, 0);
  check({1, 12, 12, 3}, {{1, padded}});
  check({1, 12, 12, 3}, {{2, padded}});
  check({1, 12, 12, 3}, {{1, padded}, {2, padded}});
  check({1, 2, 12}, {{2, padded}});
  check({1, 2, 3}, {{1, {-1, -1}}, {2, {-1}}});
}

TEST(Gather, RepeatsIndices) {
  check({1, 3, 4, 5}, {{1, {0, 0, 1, 1, 2, 2}}, {2, {0, 0, 1, 1, 2, 2, 3, 3}}});
  check({1, 3, 4, 70}, {{1, {0, 0, 1, 1, 2, 2}}, {2, {0, 0, 1, 1, 2, 2, 3, 3}}});
  check({1, 3, 1}, {{2, Index(50, 0)}});
  check({2, 3}, {{0, {0, 1, 0, 1, 0, 1}}});
}

TEST(Gather, AnyMap) {
  check({1, 6, 37}, {{1, {5, -1, 0, 0, 3, 2, 1}}, {2, {36, 0, 1, 2, -1, -1, 7, 7, 9, 8}}});
  check({5, 6, 4}, {{0, {4, 4, -1, 0}}, {2, {3, 1}}});
  check({1, 3, 4, 5, 6}, {{1, {2, 0}}, {3, {4, 4, -1, 1}}});
}

TEST(Gather, WithoutMapsCopies) {
  check({1, 3, 4}, {});
  check({}, {});
}

TEST(Gather, EveryElementSize) {
  for (const DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kFloat32}) {
    check({1, 9, 11}, {{1, {-1, 0, 1, 2, 2}}, {2, {10, 9, -1, 3, 4, 5, 6, 7, 8}}}, dtype);
    check({1, 9, 11}, {{1, count_up(3, 5)}}, dtype, -1);
  }
}

TEST(Gather, EveryBlockSize) {
  for (const int64_t c : {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129})
    check({1, 6, c}, {{1, {5, 0, 0, 3, -1, 1, 2, 3}}});
}

// Work is cut into several tasks: by groups, and within a single group.
TEST(Gather, ManyTasks) {
  check({1, 150, 140, 21}, {{1, count_up(149, 150, -1)}, {2, count_up(3, 120)}});
  check({1, 600, 1000}, {{2, count_up(1, 997)}});
  Index doubled;
  for (int32_t i = 0; i < 300; ++i) doubled.insert(doubled.end(), {i / 2, i / 2});
  check({1, 150, 150, 5}, {{1, doubled}, {2, doubled}});
}

using Damage = std::function<void(testing::ModelBuilder&, fb::GatherOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 4, 6}), y = m.output({-1, 2, 3});
  fb::OperatorT& op = m.op(gather_options({{1, {3, -1}}, {2, {0, 5, 1}}}, 7), {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsGather());
  testing::expect_rejected(m, part);
}

TEST(Gather, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::GatherOptionsT;
  reject("input 0 (x) is int4, expected elements of whole bytes",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT4; });
  reject("axis 1 is 3, expected ascending axes below the rank 3",
         [](M&, O& o) { o.axes[1]->axis = 3; });
  reject("axis 1 is 1, expected ascending", [](M&, O& o) { o.axes[1]->axis = 1; });
  reject("axis 0 is 255, expected ascending", [](M&, O& o) { o.axes[0]->axis = 255; });
  reject("axis 2 has no indices", [](M&, O& o) { o.axes[1]->index.clear(); });
  reject("index 1 of axis 2 is 6, expected -1 to 5", [](M&, O& o) { o.axes[1]->index[1] = 6; });
  reject("index 0 of axis 1 is -2, expected -1 to 3", [](M&, O& o) { o.axes[0]->index[0] = -2; });
  reject("index 0 of axis 1 is 2147483647", [](M&, O& o) { o.axes[0]->index[0] = INT32_MAX; });
  reject("has the shape [1, 2, 3], expected [1, 2, 4]",
         [](M&, O& o) { o.axes[1]->index.push_back(0); });
  reject("is int16, expected uint8", [](M& m, O&) { m.at(1).dtype = fb::DType::INT16; });
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
}

// A map on the batch fixes it: another batch would need other indices.
TEST(Gather, AMapOnTheBatchFixesIt) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 2}), y = m.output({2, 2});
  m.model().default_batch = 3;
  m.op(gather_options({{0, {2, 1}}}, 0), {x}, {y});
  testing::expect_outputs(m, 3, {{1, 2, 3, 4, 5, 6}}, {{5, 6, 3, 4}});
  Result<std::shared_ptr<const VerifiedModel>> model = testing::load(m);
  ASSERT_TRUE(model.ok());
  SessionOptions options;
  options.batch = 1;
  Result<std::unique_ptr<Session>> session = Session::create(*model, options);
  ASSERT_FALSE(session.ok());
  ASSERT_NE(std::string(session.status().message()).find("index 0 of axis 0 is 2"),
            std::string::npos)
      << session.status().message();
}

}  // namespace
}  // namespace qrt::gather_test
