// SPDX-License-Identifier: Apache-2.0
// Sessions at sizes at which an input has no elements, as a decoder's past has before the first token.
#include <gtest/gtest.h>

#include <qrt/qrt.hpp>
#include <string>
#include <vector>

#include "tests/support/runner.h"
#include "tests/support/sized_model.h"

namespace qrt::empty_inputs_test {
namespace {

using testing::Bytes;
using testing::constant_size;
using testing::ModelBuilder;
using testing::symbol_size;

// y = x + x of what a past [2, p, 3] and new rows [2, n, 3] are side by side, and the past reversed along its last dimension.
Bytes decoder() {
  ModelBuilder m;
  testing::add_symbol(&m, "p", 4, 0);
  testing::add_symbol(&m, "n", 5, 1);
  const uint32_t past = m.input({2, 4, 3}, DType::kUInt8, "past");
  const uint32_t rows = m.input({2, 5, 3}, DType::kUInt8, "rows");
  testing::set_sizes(&m, past, {constant_size(2), symbol_size(0), constant_size(3)});
  testing::set_sizes(&m, rows, {constant_size(2), symbol_size(1), constant_size(3)});
  const uint32_t reversed = m.output({2, 4, 3}), all = m.tensor({2, 9, 3}),
                 sum = m.output({2, 9, 3});
  fb::GatherOptionsT last;
  last.axes.push_back(std::make_unique<fb::GatherAxisT>());
  last.axes[0]->axis = 2;
  last.axes[0]->index = {2, 1, 0};
  m.op(last, {past}, {reversed});
  fb::ConcatOptionsT concat;
  concat.axis = 1;
  m.op(concat, {reversed, rows}, {all});
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = testing::float_bits(1.0f);
  m.op(add, {all, all}, {sum});
  return m.build();
}

testing::RunResult run_at(const Bytes& file, int64_t p, int64_t n) {
  Bytes past, rows;
  for (int64_t i = 0; i < 2 * p * 3; ++i) past.push_back(static_cast<uint8_t>(i + 1));
  for (int64_t i = 0; i < 2 * n * 3; ++i) rows.push_back(static_cast<uint8_t>(100 + i));
  testing::RunOptions options;
  options.dims = {{"p", p}, {"n", n}};
  return testing::run_model(file, {past, rows}, options);
}

TEST(EmptyInputs, AreNoPartOfAConcat) {
  const Bytes file = decoder();
  const testing::RunResult one = run_at(file, 1, 1);
  ASSERT_EQ(one.status, QRT_OK) << one.message;
  EXPECT_EQ(one.outputs[0], (Bytes{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(one.outputs[1], (Bytes{6, 4, 2, 200, 202, 204, 12, 10, 8, 206, 208, 210}));
  const testing::RunResult none = run_at(file, 0, 2);
  ASSERT_EQ(none.status, QRT_OK) << none.message;
  EXPECT_EQ(none.outputs[0], Bytes());
  EXPECT_EQ(none.outputs[1], (Bytes{200, 202, 204, 206, 208, 210, 212, 214, 216, 218, 220, 222}));
}

TEST(EmptyInputs, AreOutOfRangeWhereTheLeastSizeIsAbove) {
  const testing::RunResult r = run_at(decoder(), 2, 0);
  EXPECT_EQ(r.status, QRT_OUT_OF_RANGE);
  EXPECT_NE(r.message.find("the size of 'n' is 0, expected 1 to 64"), std::string::npos)
      << r.message;
}

// A session goes from an empty input to one with elements and back.
TEST(EmptyInputs, ComeAndGoByReshape) {
  const Bytes file = decoder();
  const api::Model model = api::Model::load_memory(file.data(), file.size());
  const qrt_dim dims[] = {{"p", 0}, {"n", 1}}, most[] = {{"p", 8}, {"n", 8}};
  api::SessionOptions options;
  options.dims = dims;
  options.dim_count = 2;
  options.max_dims = most;
  options.max_dim_count = 2;
  api::Session session(model, options);
  for (const int64_t p : {0, 3, 0, 8, 0}) {
    session.reshape({{"p", p}});
    const std::vector<uint8_t> past(static_cast<size_t>(6 * p), 5), rows(6, 9);
    session.set_input(0, past);
    session.set_input(1, rows);
    session.run();
    std::vector<uint8_t> sum(static_cast<size_t>(6 * (p + 1)));
    session.get_output(1, sum);
    for (size_t i = 0; i < sum.size(); ++i)
      EXPECT_EQ(sum[i], i / 3 % static_cast<size_t>(p + 1) < static_cast<size_t>(p) ? 10 : 18) << i;
  }
}

// No other operator makes elements of an input that has none.
TEST(EmptyInputs, OfOtherOperatorsAreRefused) {
  ModelBuilder m;
  testing::add_symbol(&m, "p", 4, 0);
  const uint32_t x = m.input({4, 1, 1, 3}, DType::kUInt8, "x");
  testing::set_sizes(&m, x, {symbol_size(0), constant_size(1), constant_size(1), constant_size(3)});
  const uint32_t y = m.output({4, 1, 1, 3}, DType::kUInt8);
  fb::GatherOptionsT filled;
  filled.axes.push_back(std::make_unique<fb::GatherAxisT>());
  filled.axes[0]->index = {-1, -1, -1, -1};
  m.op(filled, {x}, {y});
  testing::RunOptions options;
  options.dims = {{"p", 0}};
  const testing::RunResult r = testing::run_model(m.build(), {Bytes()}, options);
  EXPECT_EQ(r.status, QRT_INVALID_ARGUMENT);
  EXPECT_NE(r.message.find("input 0 has the shape [0, 1, 1, 3], which is empty"), std::string::npos)
      << r.message;
}

}  // namespace
}  // namespace qrt::empty_inputs_test
