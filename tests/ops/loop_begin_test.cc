// SPDX-License-Identifier: Apache-2.0
// LoopBegin: the number of the iteration, first values of states, slices along every axis, from either end, of every width; models that it has
// to refuse. tests/runtime/loops_test.cc has what holds of a loop as a whole.
#include <gtest/gtest.h>

#include "tests/support/loop_model.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::loop_begin_test {
namespace {

using testing::Bytes;
using testing::loop_options;
using testing::ModelBuilder;

// Puts together, along axis 0, the slices of x along `axis`.
void check(DType dtype, const Shape& shape, int axis, bool is_reversed) {
  SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + shape.to_string() + ", axis " +
               std::to_string(axis) + (is_reversed ? ", reversed" : ""));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Shape slice = testing::without(shape, axis);
  const int64_t trips = shape[axis];
  ModelBuilder m;
  const uint32_t x = m.input(shape, dtype), iteration = m.tensor({1}, DType::kInt64),
                 part = m.tensor(slice, dtype);
  m.op(loop_options<fb::LoopBeginOptionsT>(0, {{axis, is_reversed}}), {x}, {iteration, part});
  m.op(loop_options<fb::LoopEndOptionsT>(0, {{0}}, static_cast<uint32_t>(trips)), {iteration, part},
       {m.output(testing::with(slice, 0, trips), dtype)});
  const size_t element = dtype_bytes(dtype);
  Bytes input(tensor_bytes({dtype, shape})), expected;
  random.fill(input, 0, 255);
  size_t rows = 1, inner = element;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d < axis) rows *= static_cast<size_t>(shape[d]);
    if (d > axis) inner *= static_cast<size_t>(shape[d]);
  }
  const auto count = static_cast<size_t>(trips);
  for (size_t t = 0; t < count; ++t)
    for (size_t r = 0; r < rows; ++r) {
      const auto from =
          input.begin() +
          static_cast<ptrdiff_t>((r * count + (is_reversed ? count - 1 - t : t)) * inner);
      expected.insert(expected.end(), from, from + static_cast<ptrdiff_t>(inner));
    }
  testing::expect_outputs(m, 1, {input}, {expected});
}

TEST(LoopBegin, SlicesAlongEveryAxis) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat32, DType::kInt64})
    for (const bool is_reversed : {false, true}) {
      for (int axis = 0; axis < 3; ++axis) check(dtype, {3, 5, 2}, axis, is_reversed);
      check(dtype, {7}, 0, is_reversed);
      check(dtype, {1, 33}, 0, is_reversed);
    }
  check(DType::kUInt8, {2, 3, 1, 2, 2, 3}, 4, true);
}

TEST(LoopBegin, CountsIterations) {
  ModelBuilder m;
  const uint32_t iteration = m.tensor({1}, DType::kInt64), state = m.tensor({2});
  m.op(loop_options<fb::LoopBeginOptionsT>(1, {}), {m.input({2})}, {iteration, state});
  m.op(loop_options<fb::LoopEndOptionsT>(1, {{1}}, 5), {iteration, state, iteration},
       {m.output({2}), m.output({1, 5}, DType::kInt64)});
  testing::expect_outputs(m, 1, {{3, 4}}, {{3, 4}, testing::bytes_of<int64_t>({0, 1, 2, 3, 4})});
}

// The states of two tensors change places in each iteration.
TEST(LoopBegin, StatesBeginAsTheInputs) {
  for (const uint32_t trips : {1u, 2u, 5u}) {
    ModelBuilder m;
    const uint32_t a = m.input({3}), b = m.input({3}), iteration = m.tensor({1}, DType::kInt64),
                   of_a = m.tensor({3}), of_b = m.tensor({3});
    m.op(loop_options<fb::LoopBeginOptionsT>(2, {}), {a, b}, {iteration, of_a, of_b});
    m.op(loop_options<fb::LoopEndOptionsT>(2, {{0}}, trips), {iteration, of_b, of_a, of_a},
         {m.output({3}), m.output({3}), m.output({trips, 3})});
    const Bytes x = {1, 2, 3}, y = {7, 8, 9};
    Bytes all;
    for (uint32_t t = 0; t < trips; ++t)
      for (const uint8_t v : t % 2 == 0 ? x : y) all.push_back(v);
    const bool is_odd = trips % 2 == 1;
    testing::expect_outputs(m, 1, {x, y}, {is_odd ? y : x, is_odd ? x : y, all});
  }
}

TEST(LoopBegin, RejectsBadModels) {
  const auto reject = [](const char* part, uint32_t states, std::vector<testing::Slice> slices,
                         size_t inputs, DType dtype = DType::kUInt8) {
    ModelBuilder m;
    std::vector<uint32_t> in, out = {m.tensor({1}, DType::kInt64)};
    for (size_t i = 0; i < inputs; ++i) {
      in.push_back(m.input({2, 2}, dtype));
      out.push_back(m.tensor(i < states ? Shape{2, 2} : Shape{2}, dtype));
    }
    const uint32_t iteration = out[0];
    m.op(loop_options<fb::LoopBeginOptionsT>(states, slices), in, out);
    m.op(loop_options<fb::LoopEndOptionsT>(states, {{0}}, 2), {iteration, iteration},
         {m.output({2, 1}, DType::kInt64)});
    testing::expect_rejected(m, part);
  };
  reject("1 inputs, expected 2", 1, {{0}}, 1);
  reject("inputs, expected", UINT32_MAX, {{0}}, 2);
  reject("axis 0 is 2, expected less than the rank 2", 0, {{2}}, 1);
  reject("int4", 0, {{0}}, 1, DType::kInt4);
  ModelBuilder m;
  const uint32_t iteration = m.tensor({1}, DType::kInt64);
  m.op(loop_options<fb::LoopBeginOptionsT>(0, {{0}, {0}}), {m.input({2, 3}), m.input({3, 3})},
       {iteration, m.tensor({3}), m.tensor({3})});
  m.op(loop_options<fb::LoopEndOptionsT>(0, {{0}}, 2), {iteration, iteration},
       {m.output({2, 1}, DType::kInt64)});
  testing::expect_rejected(m, "it slices tensors of 2 and 3 slices");
}

}  // namespace
}  // namespace qrt::loop_begin_test
