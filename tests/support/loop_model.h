// SPDX-License-Identifier: Apache-2.0
// Builds loops for tests: slices, and options of LoopBegin and LoopEnd.
#ifndef QRT_TESTS_SUPPORT_LOOP_MODEL_H_
#define QRT_TESTS_SUPPORT_LOOP_MODEL_H_

#include <memory>
#include <vector>

#include "tests/support/model_builder.h"

namespace qrt::testing {

struct Slice {
  int axis;
  bool is_reversed = false;
};

// Returns the options of a LoopBegin or LoopEnd.
template <class Options>
Options loop_options(uint32_t states, const std::vector<Slice>& slices, uint32_t trips = 1) {
  Options o;
  o.states = states;
  for (const Slice& s : slices) {
    o.slices.push_back(std::make_unique<fb::LoopSliceT>());
    o.slices.back()->axis = static_cast<uint8_t>(s.axis);
    o.slices.back()->reversed = s.is_reversed;
  }
  if constexpr (std::is_same_v<Options, fb::LoopEndOptionsT>) o.trips = trips;
  return o;
}

// Returns the shape without, or with another, dimension at the axis.
inline Shape without(const Shape& whole, int axis) {
  Shape slice;
  for (int d = 0; d < whole.rank(); ++d)
    if (d != axis) slice.push_back(whole[d]);
  return slice;
}
inline Shape with(const Shape& slice, int axis, int64_t size) {
  Shape whole;
  for (int d = 0; d <= slice.rank(); ++d)
    whole.push_back(d == axis ? size : slice[d < axis ? d : d - 1]);
  return whole;
}

// A loop of bytes that gives the running maximum: s = max(s, x[t]), y[t] = s. x is [trips, n]; the first s is an input.
struct MaximumLoop {
  explicit MaximumLoop(uint32_t trips, int64_t n = 4) {
    first = m.input({n});
    x = m.input({trips, n});
    iteration = m.tensor({1}, DType::kInt64);
    state = m.tensor({n});
    slice = m.tensor({n});
    next = m.tensor({n});
    last = m.output({n});
    y = m.output({trips, n});
    m.op(loop_options<fb::LoopBeginOptionsT>(1, {{0}}), {first, x}, {iteration, state, slice});
    fb::MinMaxOptionsT most;
    most.maximum = true;
    m.op(most, {state, slice}, {next});
    m.op(loop_options<fb::LoopEndOptionsT>(1, {{0}}, trips), {iteration, next, next}, {last, y});
  }
  ModelBuilder m;
  uint32_t first, x, iteration, state, slice, next, last, y;
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_LOOP_MODEL_H_
