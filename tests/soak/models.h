// SPDX-License-Identifier: Apache-2.0
// The models of the soak: one with every operator and state, and three of few and larger layers, so that there
// is work for several threads.
#ifndef QRT_TESTS_SOAK_MODELS_H_
#define QRT_TESTS_SOAK_MODELS_H_

#include <vector>

#include "tests/support/every_op_model.h"

namespace qrt::testing {

inline std::vector<int32_t> row_sums(const std::vector<int8_t>& weights, size_t rows) {
  std::vector<int32_t> sums(rows);
  for (size_t i = 0; i < weights.size(); ++i) sums[i / (weights.size() / rows)] += weights[i];
  return sums;
}

// Bias that takes the zero point 128 of a layer's input out again.
inline std::vector<int32_t> centred(const std::vector<int32_t>& sums) {
  std::vector<int32_t> bias;
  for (const int32_t sum : sums) bias.push_back(-128 * sum);
  return bias;
}

// Returns a model of two convolutions and their sum: UINT8 [batch, 16, 16, 32].
inline ModelBuilder images_model() {
  ModelBuilder m;
  const Shape shape = {-1, 16, 16, 32};
  const uint32_t x = m.input(shape);
  uint32_t at = x;
  for (int layer = 0; layer < 2; ++layer) {
    fb::Conv2DOptionsT conv;
    conv.pad_top = conv.pad_left = conv.pad_bottom = conv.pad_right = 1;
    conv.input_zero_point = 128;
    const std::vector<int8_t> weights = pattern<int8_t>(32 * 9 * 32, -70, 70, layer);
    conv.weight_sum = row_sums(weights, 32);
    conv.requant = requant_f32({0.0007f}, 128);
    const uint32_t bias = m.bias(centred(conv.weight_sum)), y = m.tensor(shape);
    m.op(std::move(conv), {at, m.gemm_weights({32, 3, 3, 32}, weights), bias}, {y});
    at = y;
  }
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = float_bits(0.5f);
  m.op(add, {at, x}, {m.output(shape)});
  return m;
}

// Dense layers: UINT8 [batch, 256] -> [batch, 10].
inline ModelBuilder dense_model() {
  ModelBuilder m;
  uint32_t at = m.input({-1, 256});
  for (const int64_t width : {192, 64, 10}) {
    const int64_t from = m.model().tensors[at]->shape[1];
    fb::FullyConnectedOptionsT dense;
    const auto rows = static_cast<size_t>(width);
    const std::vector<int8_t> weights =
        pattern<int8_t>(rows * static_cast<size_t>(from), -100, 100, static_cast<int>(width));
    dense.weight_sum = row_sums(weights, rows);
    dense.requant = requant_f32({0.002f}, 128);
    const uint32_t bias = m.bias(centred(dense.weight_sum));
    const uint32_t y = width == 10 ? m.output({-1, width}) : m.tensor({-1, width});
    m.op(std::move(dense), {at, m.gemm_weights({width, from}, weights), bias}, {y});
    at = y;
  }
  return m;
}

// Returns a sum that goes on from run to run: UINT8 [1, 4096].
inline ModelBuilder running_sum_model() {
  ModelBuilder m;
  const uint32_t x = m.input({1, 4096}), sum = m.tensor({1, 4096}), next = m.output({1, 4096});
  m.variable(sum, next, 100);
  fb::AddOptionsT add;
  add.a_scale = float_bits(0.75f);
  add.b_scale = float_bits(0.25f);
  m.op(add, {sum, x}, {next});
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SOAK_MODELS_H_
