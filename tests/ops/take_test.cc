// Take against index arithmetic: axes, batch dimensions, element sizes, indices outside; models it
// has to refuse.
#include <gtest/gtest.h>

#include <functional>

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

void check(const Shape& x, const Shape& index, int axis, int batch, DType dtype = DType::kUInt8) {
  SCOPED_TRACE(x.to_string() + index.to_string() + " axis " + std::to_string(axis));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Shape y;
  for (int d = 0; d < axis; ++d) y.push_back(x[d]);
  for (int d = batch; d < index.rank(); ++d) y.push_back(index[d]);
  for (int d = axis + 1; d < x.rank(); ++d) y.push_back(x[d]);
  testing::ModelBuilder m;
  const uint32_t a = m.input(x, dtype), i = m.input(index, DType::kInt32);
  fb::TakeOptionsT o;
  o.axis = static_cast<uint32_t>(axis);
  o.batch_dims = static_cast<uint32_t>(batch);
  m.op(o, {a, i}, {m.output(y, dtype)});

  const int64_t n = x[axis], inner = product(x, axis + 1, x.rank());
  const size_t bytes = static_cast<size_t>(inner) * dtype_bytes(dtype);
  Bytes data(static_cast<size_t>(x.elements()) * dtype_bytes(dtype));
  random.fill(data, 0, 255);
  std::vector<int32_t> indices(static_cast<size_t>(index.elements()));
  for (int32_t& v : indices) v = static_cast<int32_t>(random.integer(-n - 2, n + 1));
  indices[0] = INT32_MIN;
  indices.back() = INT32_MAX;
  Bytes expected;
  const int64_t each = product(index, batch, index.rank());
  for (int64_t b = 0; b < product(x, 0, batch); ++b)
    for (int64_t p = 0; p < product(x, batch, axis); ++p)
      for (int64_t k = 0; k < each; ++k) {
        int64_t at = indices[static_cast<size_t>(b * each + k)];
        if (at < 0) at += n;
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
  reject("input 1 (index) is uint8, expected int32",
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
