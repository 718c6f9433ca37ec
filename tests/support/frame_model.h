// SPDX-License-Identifier: Apache-2.0
// A convolution that reads uint8 frames where they stand: by a table of addresses, which follows them.
#ifndef QRT_TESTS_SUPPORT_FRAME_MODEL_H_
#define QRT_TESTS_SUPPORT_FRAME_MODEL_H_

#include <utility>
#include <vector>

#include "tests/support/model_builder.h"

namespace qrt::testing {

constexpr size_t kFrameBytes = 9 * 9 * 3;

// frame UINT8 [1, 9, 9, 3] -> map UINT8 [1, 5, 5, 8]
inline ModelBuilder frame_model() {
  ModelBuilder m;
  const uint32_t frame = m.input({1, 9, 9, 3}, DType::kUInt8, "frame");
  const uint32_t map = m.output({1, 5, 5, 8}, DType::kUInt8, "map");
  fb::Conv2DOptionsT conv;
  conv.stride_h = conv.stride_w = 2;
  conv.pad_top = conv.pad_left = conv.pad_bottom = conv.pad_right = 1;
  conv.input_zero_point = 7;
  conv.requant = requant_f32({0.02f}, 100);
  std::vector<int8_t> weights(8 * 3 * 3 * 3);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<int8_t>(static_cast<int>(i * 37 % 81) - 40);
  for (size_t n = 0; n < 8; ++n) {
    int32_t sum = 0;
    for (size_t k = 0; k < 27; ++k) sum += weights[n * 27 + k];
    conv.weight_sum.push_back(sum);
  }
  m.op(std::move(conv),
       {frame, m.gemm_weights({8, 3, 3, 3}, weights), m.bias(std::vector<int32_t>(8))}, {map});
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_FRAME_MODEL_H_
