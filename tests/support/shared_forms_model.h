// SPDX-License-Identifier: Apache-2.0
// A model whose sessions share something: it has every operator that brings constants into another form
// (where the instruction set has that form).
#ifndef QRT_TESTS_SUPPORT_SHARED_FORMS_MODEL_H_
#define QRT_TESTS_SUPPORT_SHARED_FORMS_MODEL_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/every_op_model.h"

namespace qrt::testing {

// Adds a padded 3x3 convolution of x [-1, h, w, in], whose output of `out` channels is the model's.
inline void add_convolution(ModelBuilder* m, uint32_t x, int64_t h, int64_t w, int64_t in,
                            int64_t out, int seed, bool is_integer = false) {
  const std::vector<int8_t> weights =
      pattern<int8_t>(static_cast<size_t>(out * 9 * in), -9, 9, seed);
  fb::Conv2DOptionsT o;
  o.pad_top = o.pad_left = o.pad_bottom = o.pad_right = 1;
  o.input_zero_point = 7;
  for (size_t c = 0; c < static_cast<size_t>(out); ++c) {
    int32_t sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(9 * in); ++i)
      sum += weights[c * static_cast<size_t>(9 * in) + i];
    o.weight_sum.push_back(sum);
  }
  o.requant = is_integer ? requant_int(1 << 30, 9) : requant_f32({0.01f});
  const std::vector<int32_t> bias = pattern<int32_t>(static_cast<size_t>(out), -900, 900, seed);
  m->op(std::move(o), {x, m->gemm_weights({out, 3, 3, in}, weights), m->bias(bias)},
        {m->output({-1, h, w, out})});
}

// Inputs UINT8 [-1, 16, 16, 32], [-1, 6, 24] and [-1, 32, 32, 3].
inline ModelBuilder shared_forms_model() {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 16, 16, 32}), rows = m.input({-1, 6, 24});
  add_convolution(&m, x, 16, 16, 32, 64, 1);  // winograd
  add_convolution(&m, x, 16, 16, 32, 64, 2, /*is_integer=*/true);
  add_convolution(&m, x, 16, 16, 32, 4, 3);  // narrow

  fb::Conv2DOptionsT grouped;
  std::vector<int8_t> weights(32 * 9 * 16);
  for (size_t o = 0; o < 32; ++o)
    for (size_t tap = 0; tap < 9; ++tap)
      for (size_t i = 0; i < 4; ++i)
        weights[(o * 9 + tap) * 16 + o % 16 / 4 * 4 + i] = static_cast<int8_t>(o + tap - i);
  grouped.groups = 2;
  grouped.pad_top = grouped.pad_left = grouped.pad_bottom = grouped.pad_right = 1;
  for (size_t o = 0; o < 32; ++o) {
    int32_t sum = 0;
    for (size_t i = 0; i < 9 * 16; ++i) sum += weights[o * 9 * 16 + i];
    grouped.weight_sum.push_back(sum);
  }
  grouped.requant = requant_f32({0.02f});
  m.op(std::move(grouped),
       {x, m.gemm_weights({32, 3, 3, 16}, weights, 2), m.bias(pattern<int32_t>(32, -50, 50))},
       {m.output({-1, 16, 16, 32})});

  fb::Conv2DOptionsT stem;
  const uint32_t image = m.input({-1, 32, 32, 3});
  const std::vector<int8_t> of_stem = pattern<int8_t>(24 * 27, -9, 9);
  std::vector<int8_t> packed(gemm_packed_bytes(24, 3, 9));
  gemm_pack(of_stem.data(), 24, 3, 9, packed.data());
  stem.stride_h = stem.stride_w = 2;
  stem.pad_top = stem.pad_left = stem.pad_bottom = stem.pad_right = 1;
  stem.tap_layout = fb::TapLayout::ROW;
  for (size_t o = 0; o < 24; ++o) {
    int32_t sum = 0;
    for (size_t i = 0; i < 27; ++i) sum += of_stem[o * 27 + i];
    stem.weight_sum.push_back(sum);
  }
  stem.requant = requant_f32({0.05f});
  m.op(std::move(stem),
       {image, m.packed({24, 3, 3, 3}, fb::Packing::GEMM, packed),
        m.bias(pattern<int32_t>(24, -50, 50))},
       {m.output({-1, 16, 16, 24})});

  fb::BatchMatMulOptionsT product;
  product.requant = requant_f32({0.004f});
  product.b_zero_point = 11;
  const uint32_t right = m.constant({24, 40}, DType::kUInt8, pattern<uint8_t>(24 * 40, 0, 255));
  m.op(std::move(product), {rows, right}, {m.output({-1, 6, 40})});
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_SHARED_FORMS_MODEL_H_
