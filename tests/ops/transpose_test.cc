// SPDX-License-Identifier: Apache-2.0
// Transpose against a loop over the output's index: permutations, element types; models it has to
// refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::transpose_test {
namespace {

using testing::Bytes;

void check(const Shape& x, const std::vector<uint8_t>& perm, DType dtype = DType::kUInt8) {
  SCOPED_TRACE(x.to_string());
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Shape y;
  for (uint8_t d : perm) y.push_back(x[d]);
  testing::ModelBuilder m;
  const uint32_t from = m.input(x, dtype), to = m.output(y, dtype);
  fb::TransposeOptionsT o;
  o.perm = perm;
  m.op(o, {from}, {to});

  const bool has_batch = x.rank() > 0 && x[0] == -1;
  for (const int64_t batch : {1, 3}) {
    if (batch != 1 && !has_batch) continue;
    Shape in = x, out = y;
    if (has_batch) in[0] = out[0] = batch;
    const size_t bytes = dtype_bytes(dtype), elements = static_cast<size_t>(in.elements());
    Bytes input(elements * bytes), expected(elements * bytes);
    random.fill(input, 0, 255);
    for (size_t e = 0; e < elements; ++e) {
      // Index of output element e, then its place in the input.
      int64_t index[kMaxTensorRank] = {};
      int64_t rest = static_cast<int64_t>(e);
      for (int i = out.rank(); i-- > 0;) {
        index[perm[static_cast<size_t>(i)]] = rest % out[i];
        rest /= out[i];
      }
      int64_t at = 0;
      for (int i = 0; i < in.rank(); ++i) at = at * in[i] + index[i];
      memcpy(&expected[e * bytes], &input[static_cast<size_t>(at) * bytes], bytes);
    }
    testing::expect_outputs(m, static_cast<size_t>(batch), {input}, {expected});
  }
}

TEST(Transpose, ImageLayouts) {
  check({-1, 3, 10, 11}, {0, 2, 3, 1});
  check({-1, 10, 11, 3}, {0, 3, 1, 2});
  check({-1, 17, 9, 34}, {0, 3, 1, 2});
}

TEST(Transpose, EveryPermutationOfFourDimensions) {
  std::vector<uint8_t> perm(4);
  std::iota(perm.begin(), perm.end(), uint8_t{0});
  do {
    check(perm[0] == 0 ? Shape{-1, 3, 4, 5} : Shape{2, 3, 4, 5}, perm);
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Transpose, AnyRankAndElementType) {
  check({}, {});
  check({7}, {0});
  check({1, 1}, {1, 0});
  check({2, 3, 2, 3, 2, 3}, {5, 1, 3, 0, 4, 2});
  for (const DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kFloat32, DType::kInt64})
    check({-1, 5, 18}, {0, 2, 1}, dtype);
}

// Large enough to be cut.
TEST(Transpose, ManyTasks) {
  check({-1, 3, 120, 130}, {0, 2, 3, 1});
  check({-1, 120, 130, 3}, {0, 3, 1, 2});
}

using Damage = std::function<void(testing::ModelBuilder&, fb::TransposeOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 2, 6}), y = m.output({-1, 6, 2});
  fb::TransposeOptionsT o;
  o.perm = {0, 2, 1};
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsTranspose());
  testing::expect_rejected(m, part);
}

TEST(Transpose, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::TransposeOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("perm[2] is 2, expected each of 0 to 2 once", [](M&, O& o) { o.perm[2] = 2; });
  reject("perm[0] is 3, expected each of 0 to 2 once", [](M&, O& o) { o.perm[0] = 3; });
  reject("perm has 2 values, expected one per dimension of x [1, 2, 6]",
         [](M&, O& o) { o.perm.pop_back(); });
  reject("perm has 0 values", [](M&, O& o) { o.perm.clear(); });
  reject("has the shape [1, 6, 2], expected [1, 2, 6]", [](M&, O& o) { o.perm = {0, 1, 2}; });
  reject("input 0 (x) is int4, expected elements of whole bytes", [](M& m, O&) {
    m.at(0).dtype = fb::DType::INT4;
    m.at(1).dtype = fb::DType::INT4;
  });
  reject("is int8, expected uint8", [](M& m, O&) { m.at(1).dtype = fb::DType::INT8; });
}

}  // namespace
}  // namespace qrt::transpose_test
