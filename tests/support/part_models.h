// SPDX-License-Identifier: Apache-2.0
// Models of one operator of the digits network each, on what schema/parts.inc lets a library leave out.
#ifndef QRT_TESTS_SUPPORT_PART_MODELS_H_
#define QRT_TESTS_SUPPORT_PART_MODELS_H_

#include <memory>
#include <utility>
#include <vector>

#include "tests/support/model_builder.h"

namespace qrt::testing {

// x INT16 [1, 3] -> y FLOAT32 [1, 3]: only an input has the type.
inline ModelBuilder int16_model() {
  ModelBuilder m;
  fb::DequantizeOptionsT dequantize;
  dequantize.scale = float_bits(std::vector<float>{0.5f});
  dequantize.zero_point = {0};
  const uint32_t x = m.input({1, 3}, DType::kInt16, "x");
  m.op(dequantize, {x}, {m.output({1, 3}, DType::kFloat32, "y")});
  return m;
}

// x UINT8 [1, 4], zero_point UINT8 [] -> sums INT32 [1, 2]
inline ModelBuilder dynamic_layer_model() {
  ModelBuilder m;
  fb::FullyConnectedOptionsT layer;
  layer.weight_sum = {10, -4};
  layer.requant = std::make_unique<fb::RequantT>();
  const uint32_t x = m.input({1, 4}, DType::kUInt8, "x");
  const uint32_t zero_point = m.input({}, DType::kUInt8, "zero_point");
  m.op(std::move(layer),
       {x, m.gemm_weights({2, 4}, {1, 2, 3, 4, -1, -1, -1, -1}), m.bias({0, 0}), zero_point},
       {m.output({1, 2}, DType::kInt32, "sums")});
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_PART_MODELS_H_
