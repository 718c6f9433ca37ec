// SPDX-License-Identifier: Apache-2.0
// LoopEnd: last values of states, slices put together along every axis, from either end, of every width; models that it has to refuse.
#include <gtest/gtest.h>

#include "tests/support/loop_model.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::loop_end_test {
namespace {

using testing::Bytes;
using testing::loop_options;
using testing::ModelBuilder;

// Puts the slices of x along axis 0 together along another axis.
void check(DType dtype, const Shape& slice, int64_t trips, int axis, bool is_reversed) {
  SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + slice.to_string() + ", axis " +
               std::to_string(axis) + (is_reversed ? ", reversed" : ""));
  testing::Random random;
  SCOPED_TRACE(random.trace());
  ModelBuilder m;
  const Shape from = testing::with(slice, 0, trips), to = testing::with(slice, axis, trips);
  const uint32_t x = m.input(from, dtype), iteration = m.tensor({1}, DType::kInt64),
                 part = m.tensor(slice, dtype);
  m.op(loop_options<fb::LoopBeginOptionsT>(0, {{0}}), {x}, {iteration, part});
  m.op(loop_options<fb::LoopEndOptionsT>(0, {{axis, is_reversed}}, static_cast<uint32_t>(trips)),
       {iteration, part}, {m.output(to, dtype)});
  Bytes input(tensor_bytes({dtype, from})), expected(input.size());
  random.fill(input, 0, 255);
  size_t rows = 1, inner = dtype_bytes(dtype);
  for (int d = 0; d < slice.rank(); ++d) (d < axis ? rows : inner) *= static_cast<size_t>(slice[d]);
  const auto count = static_cast<size_t>(trips);
  for (size_t t = 0; t < count; ++t)
    for (size_t r = 0; r < rows; ++r)
      memcpy(&expected[(r * count + (is_reversed ? count - 1 - t : t)) * inner],
             &input[(t * rows + r) * inner], inner);
  testing::expect_outputs(m, 1, {input}, {expected});
}

TEST(LoopEnd, PutsTogetherAlongEveryAxis) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat32, DType::kInt64})
    for (const bool is_reversed : {false, true}) {
      for (int axis = 0; axis < 3; ++axis) check(dtype, {5, 2}, 3, axis, is_reversed);
      check(dtype, {}, 7, 0, is_reversed);
      check(dtype, {33}, 1, 1, is_reversed);
    }
  check(DType::kUInt8, {2, 3, 1, 2, 3}, 4, 5, true);
}

TEST(LoopEnd, GivesLastStates) {
  for (const uint32_t trips : {1u, 2u, 9u}) {
    const testing::MaximumLoop loop(trips);
    testing::Random random;
    SCOPED_TRACE(random.trace());
    Bytes first(4), x(4 * trips), y;
    random.fill(first, 0, 255);
    random.fill(x, 0, 255);
    Bytes state = first;
    for (uint32_t t = 0; t < trips; ++t)
      for (size_t i = 0; i < 4; ++i) {
        state[i] = std::max(state[i], x[4 * t + i]);
        y.push_back(state[i]);
      }
    testing::expect_outputs(loop.m, 1, {first, x}, {state, y});
  }
}

TEST(LoopEnd, RejectsBadModels) {
  const auto reject = [](const char* part, std::vector<testing::Slice> slices, uint32_t trips,
                         const Shape& slice, DType dtype = DType::kUInt8) {
    ModelBuilder m;
    const uint32_t x = m.input(slice, dtype), iteration = m.tensor({1}, DType::kInt64),
                   state = m.tensor({2});
    m.op(loop_options<fb::LoopBeginOptionsT>(1, {}), {m.input({2})}, {iteration, state});
    m.op(loop_options<fb::LoopEndOptionsT>(1, slices, trips), {iteration, state, x},
         {m.output({2}), m.output({2}, dtype)});
    testing::expect_rejected(m, part);
  };
  reject("3 inputs, expected 4", {{0}, {0}}, 1, {2});
  reject("axis 0 is 2, expected at most 1", {{2}}, 1, {2});
  reject("trips is 0, expected 1", {{0}}, 0, {2});
  reject("trips is 4294967295", {{0}}, UINT32_MAX, {2});
  reject("slice 0 has 6 dimensions, expected at most 5", {{0}}, 1, {1, 1, 1, 1, 1, 2});
  reject("int4", {{0}}, 1, {2}, DType::kInt4);
  reject("has the shape [2], expected [3, 2]", {{0}}, 3, {2});
}

TEST(LoopEnd, RejectsOtherStatesAndTrips) {
  {
    testing::MaximumLoop loop(3);
    loop.m.model().operators[0]->outputs[1] = loop.m.tensor({4});
    testing::expect_rejected(loop.m, "");
  }
  testing::MaximumLoop loop(3);
  auto& end = *loop.m.model().operators[2]->options.AsLoopEnd();
  end.trips = 4;
  loop.m.at(loop.y).shape = {4, 4};
  testing::expect_rejected(loop.m, "it makes 4 trips, its LoopBegin slices tensors of 3 slices");
  ModelBuilder m;
  const uint32_t a = m.input({4}), b = m.input({2}), iteration = m.tensor({1}, DType::kInt64);
  m.op(loop_options<fb::LoopBeginOptionsT>(1, {}), {a}, {iteration, m.tensor({4})});
  m.op(loop_options<fb::LoopEndOptionsT>(1, {}, 2), {iteration, b}, {m.output({2})});
  testing::expect_rejected(m, "state 0 is uint8 [4], its next value uint8 [2]");
}

}  // namespace
}  // namespace qrt::loop_end_test
