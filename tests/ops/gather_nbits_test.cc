// SPDX-License-Identifier: Apache-2.0
// GatherNBits: every value of the rows at random indices; indices outside; models it has to refuse.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/nbits.h"
#include "tests/support/op_tester.h"

namespace qrt::gather_nbits_test {
namespace {

using testing::ModelBuilder;
using testing::Random;
using testing::RandomNBits;

template <class Index>
fb::OperatorT& build(const RandomNBits& w, const Shape& index, ModelBuilder* m) {
  fb::GatherNBitsOptionsT o;
  o.bits = static_cast<uint8_t>(w.weights.bits);
  o.block = static_cast<uint16_t>(w.weights.block);
  o.n = static_cast<uint32_t>(w.weights.n);
  o.k = static_cast<uint32_t>(w.weights.k);
  o.has_zero_points = !w.zero_points.empty();
  std::vector<uint32_t> more, inputs = w.add_to(m, &more);
  inputs.push_back(m->input(index, sizeof(Index) == 8 ? DType::kInt64 : DType::kInt32));
  inputs.insert(inputs.end(), more.begin(), more.end());
  Shape y = index;
  y.push_back(static_cast<int64_t>(w.weights.k));
  return m->op(o, inputs, {m->output(y, DType::kFloat32)});
}

template <class Index>
void check(size_t bits, size_t block, size_t k, size_t n, bool has_zero_points,
           const Shape& index) {
  Random random;
  SCOPED_TRACE(random.trace());
  const RandomNBits w(bits, block, k, n, has_zero_points, &random);
  ModelBuilder m;
  build<Index>(w, index, &m);
  const auto rows = static_cast<int64_t>(n);
  std::vector<Index> indices(static_cast<size_t>(index.elements()));
  std::vector<float> y;
  for (Index& i : indices) {
    i = static_cast<Index>(random.integer(-rows, rows - 1));
    for (size_t j = 0; j < k; ++j)
      y.push_back(w.real(static_cast<size_t>(i < 0 ? i + rows : i), j));
  }
  testing::expect_outputs(m, 1, {testing::bytes_of(indices)}, {testing::bytes_of(y)});
}

TEST(GatherNBits, EveryForm) {
  for (const size_t bits : {2, 4, 8}) {
    check<int64_t>(bits, 16, 40, 21, true, {3, 4});
    check<int32_t>(bits, 128, 130, 16, false, {5});
  }
  check<int64_t>(4, 32, 32, 1, false, {});
}

TEST(GatherNBits, ManyTasks) { check<int64_t>(4, 32, 512, 99, true, {40}); }

TEST(GatherNBits, EndsTheRunAtAnIndexOutside) {
  Random random;
  const RandomNBits w(4, 32, 32, 5, false, &random);
  ModelBuilder m;
  const uint32_t index = build<int64_t>(w, {1}, &m).inputs[2];
  auto model = testing::load(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session.ok());
  for (const int64_t i : {5, -6}) {
    memcpy((*session)->data(index), &i, sizeof i);
    const Status ended = (*session)->run();
    EXPECT_EQ(ended.code(), Code::kOutOfRange);
    EXPECT_NE(std::string(ended.message()).find("is outside the 5 rows of 'codes'"),
              std::string::npos)
        << ended.message();
  }
}

void reject(
    const std::string& part,
    const std::function<void(ModelBuilder&, fb::OperatorT&, fb::GatherNBitsOptionsT&)>& change) {
  Random random;
  const RandomNBits w(4, 32, 70, 20, true, &random);
  ModelBuilder m;
  fb::OperatorT& op = build<int64_t>(w, {3}, &m);
  change(m, op, *op.options.AsGatherNBits());
  SCOPED_TRACE(part);
  testing::expect_rejected(m, part);
}

TEST(GatherNBits, RejectsBadModels) {
  using M = ModelBuilder;
  using Op = fb::OperatorT;
  using O = fb::GatherNBitsOptionsT;
  reject("has 3 inputs, expected 4", [](M&, Op& op, O&) { op.inputs.pop_back(); });
  reject("has 4 inputs, expected 3", [](M&, Op&, O& o) { o.has_zero_points = false; });
  reject("bits is 0, expected 2, 4 or 8", [](M&, Op&, O& o) { o.bits = 0; });
  reject("block is 1, expected a multiple of 16 from 16 to 256",
         [](M&, Op&, O& o) { o.block = 1; });
  reject("k", [](M&, Op&, O& o) { o.k = 0; });
  reject("(w)", [](M&, Op&, O& o) { o.k = 97; });
  reject("index is float32, expected int32 or int64",
         [](M& m, Op& op, O&) { m.at(op.inputs[2]).dtype = fb::DType::FLOAT32; });
  reject("(zero_points)", [](M& m, Op& op, O&) { m.at(op.inputs[3]).shape = {96}; });
}

}  // namespace
}  // namespace qrt::gather_nbits_test
