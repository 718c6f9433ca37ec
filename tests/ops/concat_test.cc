// SPDX-License-Identifier: Apache-2.0
// Concat against a loop over the output's rows: axes, input counts, element types; models it has
// to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "runtime/tensor.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::concat_test {
namespace {

using testing::Bytes;

// Checks a join of inputs of `shape`, one for each of `sizes` along the axis. The batch stays
// symbolic unless it is the axis.
void check(Shape shape, int axis, const std::vector<int64_t>& sizes, DType dtype = DType::kUInt8) {
  SCOPED_TRACE(shape.to_string() + ", axis " + std::to_string(axis));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  testing::ModelBuilder m;
  std::vector<uint32_t> inputs;
  Shape sum = shape;
  sum[axis] = 0;
  for (int64_t size : sizes) {
    shape[axis] = size;
    sum[axis] += size;
    inputs.push_back(m.input(shape, dtype));
  }
  const uint32_t y = m.output(sum, dtype);
  fb::ConcatOptionsT o;
  o.axis = static_cast<uint32_t>(axis);
  m.op(o, inputs, {y});

  for (const size_t batch : {1, 3}) {
    if (batch != 1 && axis == 0) continue;
    size_t rows = axis == 0 ? 1 : batch, inner = dtype_bytes(dtype);
    for (int d = 1; d < axis; ++d) rows *= static_cast<size_t>(shape[d]);
    for (int d = axis + 1; d < shape.rank(); ++d) inner *= static_cast<size_t>(shape[d]);
    std::vector<Bytes> data;
    for (int64_t size : sizes) {
      data.emplace_back(rows * static_cast<size_t>(size) * inner);
      random.fill(data.back(), 0, 255);
    }
    Bytes expected;
    for (size_t r = 0; r < rows; ++r) {
      for (const Bytes& d : data) {
        const ptrdiff_t bytes = static_cast<ptrdiff_t>(d.size() / rows);
        const auto begin = d.begin() + static_cast<ptrdiff_t>(r) * bytes;
        expected.insert(expected.end(), begin, begin + bytes);
      }
    }
    testing::expect_outputs(m, batch, data, {expected});
  }
}

TEST(Concat, EveryAxis) {
  check({2, 3, 4}, 0, {1, 5});
  check({-1, 3, 4}, 1, {1, 5, 2});
  check({-1, 3, 4}, 2, {7, 64, 1});
  check({-1, 5, 6, 8}, 3, {8, 24, 3});
  check({-1, 2, 3, 2, 3, 5}, 4, {3, 2});
}

TEST(Concat, AnyNumberOfInputs) {
  check({-1, 3, 4}, 1, {6});
  check({-1, 9}, 1, std::vector<int64_t>(40, 3));
}

TEST(Concat, AnyElementType) {
  for (const DType dtype : {DType::kInt8, DType::kInt16, DType::kFloat32, DType::kInt64})
    check({-1, 3, 5}, 2, {3, 4}, dtype);
}

// Work is cut into several tasks: by rows, and by bytes where there is one row.
TEST(Concat, ManyTasks) {
  check({-1, 50, 50, 8}, 3, {200, 301});
  check({1, 1000}, 0, {401, 599});
}

TEST(Concat, TakesTheSameInputTwice) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 3}), y = m.output({-1, 6});
  fb::ConcatOptionsT o;
  o.axis = 1;
  m.op(o, {x, x}, {y});
  testing::expect_outputs(m, 2, {{1, 2, 3, 4, 5, 6}}, {{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}});
}

using Damage = std::function<void(testing::ModelBuilder&, fb::ConcatOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t a = m.input({-1, 2, 4}), b = m.input({-1, 3, 4}), y = m.output({-1, 5, 4});
  fb::ConcatOptionsT o;
  o.axis = 1;
  fb::OperatorT& op = m.op(o, {a, b}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsConcat());
  testing::expect_rejected(m, part);
}

TEST(Concat, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::ConcatOptionsT;
  reject("axis is 3, expected less than the rank 3", [](M&, O& o) { o.axis = 3; });
  reject("axis is 4294967295", [](M&, O& o) { o.axis = UINT32_MAX; });
  reject("input 1 has shape [1, 3, 4], expected that of input 0, [1, 2, 4], but for axis 2",
         [](M&, O& o) { o.axis = 2; });
  reject("input 1 has shape [2, 3, 4]", [](M& m, O&) { m.at(1).shape[0] = 2; });
  reject("input 1 has shape [1, 12]", [](M& m, O&) { m.at(1).shape = {-1, 12}; });
  reject("input 1 is int8, expected uint8 as input 0",
         [](M& m, O&) { m.at(1).dtype = fb::DType::INT8; });
  reject("input 0 (x) is uint2, expected elements of whole bytes",
         [](M& m, O&) { m.at(0).dtype = fb::DType::UINT2; });
  reject("has the shape [1, 6, 4], expected [1, 5, 4]", [](M& m, O&) { m.at(2).shape[1] = 6; });
}

}  // namespace
}  // namespace qrt::concat_test
