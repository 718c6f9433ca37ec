// SPDX-License-Identifier: Apache-2.0
// A model whose outputs depend on the runs before, with a state for each way in which one passes to the next run.
#ifndef QRT_TESTS_SUPPORT_STREAM_MODEL_H_
#define QRT_TESTS_SUPPORT_STREAM_MODEL_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/every_op_model.h"

namespace qrt::testing {

// frame UINT8 [batch, 6, 6, 8] and ids INT32 [3] -> sum UINT8 [batch, 6, 6, 8] and rows UINT8 [3, 4]. An id outside
// 0 to 4 ends a run. States:
//   plane  UINT8, read by a convolution, which keeps its address: copied
//   total  UINT8, exchanged; seen by a view
//   shown  UINT8, whose next content is an output: copied
//   first, second  FLOAT32 and back  INT64, which exchange or pass on their content through copies of an operator
//   third  FLOAT32, of the same next content as first: copied
inline ModelBuilder stream_model() {
  ModelBuilder m;
  const Shape shape = {-1, 6, 6, 8};
  const uint32_t frame = m.input(shape, DType::kUInt8, "frame");
  const uint32_t ids = m.input({3}, DType::kInt32, "ids");
  const uint32_t plane = m.tensor(shape, DType::kUInt8, "plane");
  const uint32_t total = m.tensor(shape, DType::kUInt8, "total");
  const uint32_t shown = m.tensor(shape, DType::kUInt8, "shown");

  fb::TakeOptionsT take;
  take.is_checked = true;
  m.model().version = 2;
  const uint32_t table = m.constant({5, 4}, DType::kUInt8, pattern<uint8_t>(20, 0, 255), "table");

  fb::Conv2DOptionsT conv;
  conv.pad_top = conv.pad_left = conv.pad_bottom = conv.pad_right = 1;
  const std::vector<int8_t> weights = pattern<int8_t>(8 * 9 * 8, -20, 20);
  for (size_t o = 0; o < 8; ++o) {
    int32_t sum = 0;
    for (size_t i = 0; i < 72; ++i) sum += weights[o * 72 + i];
    conv.weight_sum.push_back(sum);
  }
  conv.requant = requant_f32({0.002f}, 120);
  const uint32_t seen = m.tensor(shape, DType::kUInt8, "seen");
  m.op(std::move(conv),
       {plane, m.gemm_weights({8, 3, 3, 8}, weights), m.bias(pattern<int32_t>(8, -90, 90))},
       {seen});

  const auto add = [&](uint32_t a, uint32_t b, uint32_t y) {
    fb::AddOptionsT options;
    options.a_scale = float_bits(0.75f);
    options.b_scale = float_bits(0.5f);
    m.op(options, {a, b}, {y});
    return y;
  };
  const auto reshaped = [&](uint32_t x, const Shape& to, DType dtype, std::string name) {
    fb::ReshapeOptionsT options;
    for (const int64_t d : to) options.shape.push_back(static_cast<int32_t>(d));
    const uint32_t y = m.tensor(to, dtype, std::move(name));
    m.op(std::move(options), {x}, {y});
    return y;
  };
  m.variable(plane, add(seen, frame, m.tensor(shape, DType::kUInt8, "next_plane")), 7);
  const uint32_t next_total = m.tensor(shape, DType::kUInt8, "next_total");
  m.variable(total, add(total, frame, next_total), 100);
  const uint32_t flat = reshaped(total, {-1, 288}, DType::kUInt8, "flat");
  const uint32_t again = reshaped(flat, shape, DType::kUInt8, "again");
  const uint32_t sum = add(again, next_total, m.tensor(shape, DType::kUInt8, "both"));
  m.variable(shown, add(shown, add(seen, sum, m.tensor(shape, DType::kUInt8, "all")),
                        m.output(shape, DType::kUInt8, "sum")));
  // After the others, so that a run which ends here has computed them.
  m.op(std::move(take), {table, ids}, {m.output({3, 4}, DType::kUInt8, "rows")});

  const auto state = [&](DType dtype, std::string name) {
    return m.tensor({3, 5}, dtype, std::move(name));
  };
  const uint32_t first = state(DType::kFloat32, "first"), second = state(DType::kFloat32, "second");
  const uint32_t third = state(DType::kFloat32, "third"), back = state(DType::kInt64, "back");
  const uint32_t from_second = reshaped(second, {3, 5}, DType::kFloat32, "from_second");
  m.variable(first, from_second);
  m.variable(second, reshaped(first, {3, 5}, DType::kFloat32, "from_first"));
  m.variable(third, from_second);
  m.variable(back, reshaped(back, {3, 5}, DType::kInt64, "from_back"), -3);
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_STREAM_MODEL_H_
