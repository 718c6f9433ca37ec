// SPDX-License-Identifier: Apache-2.0
// Reshape: the bytes stay, the shape changes; as a view inside a model and as its only operator;
// models it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/op_tester.h"

namespace qrt::reshape_test {
namespace {

using testing::Bytes;

void check(const Shape& x, const std::vector<int32_t>& shape, const Shape& y,
           DType dtype = DType::kUInt8) {
  SCOPED_TRACE(x.to_string() + " to " + y.to_string());
  testing::ModelBuilder m;
  const uint32_t from = m.input(x, dtype), to = m.output(y, dtype);
  fb::ReshapeOptionsT o;
  o.shape = shape;
  m.op(o, {from}, {to});
  for (const int64_t batch : {1, 3}) {
    Shape concrete = x;
    if (concrete.rank() && concrete[0] == -1) {
      concrete[0] = batch;
    } else if (batch != 1) {
      continue;
    }
    Bytes data(static_cast<size_t>(concrete.elements()) * dtype_bytes(dtype));
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 7);
    testing::expect_outputs(m, static_cast<size_t>(batch), {data}, {data});
  }
}

TEST(Reshape, KeepsTheBytes) {
  check({-1, 2, 3, 4}, {-1, 24}, {-1, 24});
  check({-1, 24}, {-1, 2, 3, 4}, {-1, 2, 3, 4});
  check({2, 6}, {3, -1}, {3, 4});
  check({2, 6}, {12}, {12});
  check({1, 1}, {}, {});
  check({}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1});
}

TEST(Reshape, AnyElementType) {
  for (const DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kFloat32})
    check({-1, 2, 9}, {-1, 18}, {-1, 18}, dtype);
}

// A Reshape inside a model is a view: between two tables that add 1 and 2 it shares memory with its neighbours.
TEST(Reshape, IsAViewInsideAModel) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 2, 3}), a = m.tensor({-1, 2, 3}), b = m.tensor({-1, 6}),
                 y = m.output({-1, 6});
  const auto table = [&](int add) {
    Bytes t;
    for (int i = 0; i < 256; ++i) t.push_back(static_cast<uint8_t>(i + add));
    fb::LutOptionsT o;
    o.table = m.buffer(t);
    return o;
  };
  m.op(table(1), {x}, {a});
  fb::ReshapeOptionsT o;
  o.shape = {-1, 6};
  m.op(o, {a}, {b});
  m.op(table(2), {b}, {y});
  testing::expect_outputs(m, 1, {{1, 2, 3, 4, 5, 255}}, {{4, 5, 6, 7, 8, 2}});
}

using Damage = std::function<void(testing::ModelBuilder&, fb::ReshapeOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 2, 6}), y = m.output({-1, 3, 4});
  fb::ReshapeOptionsT o;
  o.shape = {-1, 3, 4};
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsReshape());
  testing::expect_rejected(m, part);
}

TEST(Reshape, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::ReshapeOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("shape has -1 at 0 and at 1, expected at most one", [](M&, O& o) { o.shape[1] = -1; });
  reject("shape[1] is -2, expected -1 or more", [](M&, O& o) { o.shape[1] = -2; });
  reject("the 12 elements of x do not divide into 20", [](M&, O& o) { o.shape[1] = 5; });
  reject("do not divide into 0", [](M&, O& o) { o.shape[1] = 0; });
  reject("x has shape [1, 2, 6] and does not fit into [1, 3, 5]", [](M&, O& o) {
    o.shape = {1, 3, 5};
  });
  reject("does not fit into []", [](M&, O& o) { o.shape.clear(); });
  reject("shape has 7 dimensions, expected at most 6",
         [](M&, O& o) { o.shape = {1, 1, 1, 1, 1, 3, 4}; });
  reject("shape has more than 2^40 elements", [](M&, O& o) {
    o.shape = {INT32_MAX, INT32_MAX, INT32_MAX};
  });
  reject("is int8, expected uint8", [](M& m, O&) { m.at(1).dtype = fb::DType::INT8; });
}

}  // namespace
}  // namespace qrt::reshape_test
