// SPDX-License-Identifier: Apache-2.0
// The integer forms of operators that every_op_model() has in float, or with elements of 8 bits.
#ifndef QRT_TESTS_SUPPORT_INTEGER_MODEL_H_
#define QRT_TESTS_SUPPORT_INTEGER_MODEL_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/every_op_model.h"

namespace qrt::testing {

inline std::unique_ptr<fb::RequantT> requant_16(int32_t multiplier, uint8_t shift) {
  auto r = requant_int(multiplier, shift);
  r->lo = INT16_MIN;
  r->hi = INT16_MAX;
  return r;
}

// Returns a model of the integer requantisations, and stages within operators, that
// every_op_model() has in float or not at all.
inline ModelBuilder integer_model() {
  ModelBuilder m;
  const uint32_t x = m.input({4, 40}), wide = m.input({4, 40}, DType::kInt16);
  const auto out = [&](DType dtype) { return m.output({4, 40}, dtype); };
  const DType u8 = DType::kUInt8, s16 = DType::kInt16;

  fb::AddOptionsT add;
  add.kind = fb::AddKind::INT;
  add.left_shift = 8;
  add.a_stages = double_rounding(1 << 30, 1);
  add.b_stages = double_rounding(1 << 29, 2);
  add.requant = requant_int(1 << 20, 26, 100);
  m.op(fb::AddOptionsT(add), {x, x}, {out(u8)});
  add.left_shift = 4;
  add.requant = requant_16(1 << 20, 25);
  m.op(fb::AddOptionsT(add), {wide, wide}, {out(s16)});

  fb::MulOptionsT mul;
  mul.a_zero_point = mul.b_zero_point = 120;
  mul.requant = requant_int(1 << 20, 26, 100);
  mul.requant->stages.push_back(std::make_unique<fb::RequantStageT>(*requant_int(3, 2)->stages[0]));
  m.op(fb::MulOptionsT(mul), {x, x}, {out(u8)});
  mul.requant = requant_16(1 << 20, 35);
  m.op(fb::MulOptionsT(mul), {wide, wide}, {out(s16)});

  fb::RequantizeOptionsT requantize;
  requantize.input_zero_point = 128;
  requantize.requant = requant_int(1 << 20, 20, 90);
  requantize.negative = double_rounding(1 << 30, 3);
  m.op(fb::RequantizeOptionsT(requantize), {x}, {out(u8)});
  requantize.input_zero_point = 0;
  requantize.requant = requant_16(1 << 20, 21);
  m.op(fb::RequantizeOptionsT(requantize), {wide}, {out(s16)});

  fb::SoftmaxOptionsT softmax;
  softmax.kind = fb::SoftmaxKind::INT16;
  std::vector<int16_t> tables(2 * 513);
  for (size_t i = 0; i < 513; ++i) {
    tables[i] = static_cast<int16_t>(32767 * std::exp((static_cast<double>(i) - 512) / 51.2));
    tables[513 + i] = static_cast<int16_t>(32767 / (1 + static_cast<double>(i) / 512));
  }
  softmax.table = m.buffer(tables);
  softmax.stages = double_rounding(1 << 30, 2);
  m.op(fb::SoftmaxOptionsT(softmax), {wide}, {out(s16)});
  softmax.kind = fb::SoftmaxKind::INT16_ANY_SCALE;
  std::vector<int32_t> table(65536);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<int32_t>(std::exp((static_cast<double>(i) - 65535) / 9000) * (1 << 30));
  table.back() = 1 << 30;
  softmax.table = m.buffer(table);
  m.op(fb::SoftmaxOptionsT(softmax), {wide}, {out(s16)});

  fb::BatchMatMulOptionsT product;
  product.transpose_b = true;
  product.requant = requant_16(1 << 20, 38);
  m.op(fb::BatchMatMulOptionsT(product), {wide, wide}, {m.output({4, 4}, s16)});
  product.requant = requant_int(1 << 20, 32, 100);
  m.op(fb::BatchMatMulOptionsT(product), {x, x}, {m.output({4, 4})});

  const uint32_t image = m.tensor({1, 4, 10, 4}), wide_image = m.tensor({1, 4, 10, 4}, s16);
  fb::ReshapeOptionsT reshape;
  reshape.shape = {1, 4, 10, 4};
  m.op(reshape, {x}, {image});
  m.op(reshape, {wide}, {wide_image});
  fb::GlobalAveragePool2DOptionsT pool;
  pool.requant = requant_int(1 << 20, 25);
  m.op(fb::GlobalAveragePool2DOptionsT(pool), {image}, {m.output({1, 1, 1, 4})});
  pool.requant = requant_16(1 << 20, 25);
  m.op(fb::GlobalAveragePool2DOptionsT(pool), {wide_image}, {m.output({1, 1, 1, 4}, s16)});

  fb::DepthwiseConv2DOptionsT depthwise;
  const std::vector<int8_t> weights = pattern<int8_t>(9 * 4, -60, 60, 1);
  depthwise.weight_sum.assign(4, 0);
  for (size_t i = 0; i < weights.size(); ++i) depthwise.weight_sum[i % 4] += weights[i];
  depthwise.requant = requant_16(1 << 20, 30);
  const uint32_t packed = m.depthwise_weights({3, 3, 4}, weights);
  m.op(fb::DepthwiseConv2DOptionsT(depthwise),
       {wide_image, packed, m.constant({4}, DType::kInt64, std::vector<int64_t>(4, 77))},
       {m.output({1, 2, 8, 4}, s16)});
  depthwise.requant = requant_int(1 << 20, 30, 100);
  m.op(std::move(depthwise), {image, packed, m.bias({1, -2, 3, -4})}, {m.output({1, 2, 8, 4})});
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_INTEGER_MODEL_H_
