// SPDX-License-Identifier: Apache-2.0
// The forms of operators that neither every_op_model() nor integer_model() has: other types, parameters
// that are inputs, other kinds of arithmetic. Each reads the model's inputs and writes an output.
#ifndef QRT_TESTS_SUPPORT_OTHER_FORMS_MODEL_H_
#define QRT_TESTS_SUPPORT_OTHER_FORMS_MODEL_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/integer_model.h"

namespace qrt::testing {

// Layers whose input's zero point and scale are inputs, too, and products of two inputs.
inline void add_dynamic_products(ModelBuilder* m) {
  const uint32_t x = m->input({2, 6}), zero = m->input({}), scale = m->input({}, DType::kFloat32);
  const std::vector<int8_t> weights = pattern<int8_t>(3 * 6, -90, 90);
  fb::FullyConnectedOptionsT dense;
  for (size_t o = 0; o < 3; ++o) {
    int32_t total = 0;
    for (size_t i = 0; i < 6; ++i) total += weights[o * 6 + i];
    dense.weight_sum.push_back(total);
  }
  const auto dense_layer = [&](std::vector<uint32_t> more, DType output) {
    fb::FullyConnectedOptionsT o;
    o.weight_sum = dense.weight_sum;
    o.requant = requant_acc();
    std::vector<uint32_t> inputs = {x, m->gemm_weights({3, 6}, weights), m->bias({1, -2, 3}), zero};
    inputs.insert(inputs.end(), more.begin(), more.end());
    m->op(std::move(o), inputs, {m->output({2, 3}, output)});
  };
  const auto floats = [&] {
    return m->constant({3}, DType::kFloat32, std::vector<float>{0.5f, -2.0f, 3.0f});
  };
  dense_layer({}, DType::kInt32);
  dense_layer({scale, floats()}, DType::kFloat32);
  dense_layer({scale, floats(), floats()}, DType::kFloat32);

  fb::DynamicProductOptionsT product;
  const uint32_t a = m->input({1, 4, 5, 5}), b = m->input({4, 2, 3, 3});
  const uint32_t zeros = m->input({4});
  product.is_convolution = true;
  product.groups = 2;
  product.pad_top = 1;
  m->op(product, {a, b, zero, zeros}, {m->output({1, 4, 4, 3}, DType::kInt32)});
  const uint32_t scales = m->input({4}, DType::kFloat32), sums = m->input({4}, DType::kInt32);
  m->op(product, {a, b, zero, zeros, scale, scales, scale, zero}, {m->output({1, 4, 4, 3})});
  m->op(product, {a, b, zero, zeros, scale, scales, scale, zero, sums}, {m->output({1, 4, 4, 3})});
  const uint32_t left = m->input({3, 2, 4}), right = m->input({4, 4});
  m->op(fb::DynamicProductOptionsT(), {left, right, zero, zeros, scale, scales, scale, zero},
        {m->output({3, 2, 4})});
}

// Layers whose rows or images have scales of their own, quantised in each of the ways.
inline void add_dynamic_range(ModelBuilder* m) {
  const auto floats = [m](float first) {
    return m->constant({3}, DType::kFloat32, std::vector<float>{first, -2.0f, 3.0f});
  };
  const auto quantised = [m](const Shape& shape, fb::DynamicForm form) {
    fb::DynamicQuantizeOptionsT o;
    o.form = form;
    const std::vector<uint32_t> made = {m->tensor(shape, DType::kUInt8),
                                        m->tensor({shape[0]}, DType::kFloat32),
                                        m->tensor({shape[0]}, DType::kUInt8)};
    m->op(o, {m->input(shape, DType::kFloat32)}, made);
    return made;
  };
  const auto store = [](bool weights_first) {
    auto o = std::make_unique<fb::FloatStoreT>();
    o->weights_first = weights_first;
    o->lo = float_bits(-1.0f);
    o->hi = float_bits(6.0f);
    return o;
  };
  const auto weight_sums = [](const std::vector<int8_t>& weights) {
    std::vector<int32_t> sums(3, 0);
    for (size_t i = 0; i < weights.size(); ++i) sums[i / (weights.size() / 3)] += weights[i];
    return sums;
  };
  for (const auto form : {fb::DynamicForm::TFLITE_SYMMETRIC, fb::DynamicForm::TFLITE_ASYMMETRIC}) {
    const bool is_symmetric = form == fb::DynamicForm::TFLITE_SYMMETRIC;
    const std::vector<uint32_t> rows = quantised({2, 6}, form);
    const std::vector<int8_t> matrix = pattern<int8_t>(3 * 6, -90, 90);
    fb::FullyConnectedOptionsT dense;
    dense.weight_sum = weight_sums(matrix);
    dense.requant = requant_acc();
    if (is_symmetric) dense.store = store(false);
    m->op(std::move(dense),
          {rows[0], m->gemm_weights({3, 6}, matrix), m->bias({0, 0, 0}), rows[2], rows[1],
           floats(0.5f), floats(1.5f)},
          {m->output({2, 3}, DType::kFloat32)});
    const std::vector<uint32_t> images = quantised({2, 3, 3, 2}, form);
    const std::vector<int8_t> taps = pattern<int8_t>(3 * 2 * 2 * 2, -90, 90);
    fb::Conv2DOptionsT conv;
    conv.weight_sum = weight_sums(taps);
    conv.requant = requant_acc();
    conv.store = store(!is_symmetric);
    m->op(std::move(conv),
          {images[0], m->gemm_weights({3, 2, 2, 2}, taps), m->bias({0, 0, 0}), images[2], images[1],
           floats(0.5f), floats(1.5f)},
          {m->output({2, 2, 2, 3}, DType::kFloat32)});
  }
}

// Convolutions of int16 in planes of digits, of rows of taps, of several terms; and with a multiplier.
inline void add_convolutions(ModelBuilder* m) {
  const uint32_t wide = m->input({1, 4, 5, 3}, DType::kInt16), image = m->input({1, 4, 5, 3});
  const std::vector<int8_t> weights = pattern<int8_t>(4 * 2 * 2 * 3, -60, 60);
  std::vector<int32_t> sums(4);
  for (size_t i = 0; i < weights.size(); ++i) sums[i / 12] += weights[i];
  for (DType bias : {DType::kInt64, DType::kInt32}) {
    fb::Conv2DOptionsT conv;
    conv.weight_sum = sums;
    conv.requant = bias == DType::kInt64 ? requant_16(1 << 20, 38) : requant_acc();
    const uint32_t offsets = bias == DType::kInt64
                                 ? m->constant({4}, bias, std::vector<int64_t>{5, -6, 7, 8})
                                 : m->bias({5, -6, 7, 8});
    m->op(std::move(conv), {wide, m->gemm_weights({4, 2, 2, 3}, weights), offsets},
          {m->output({1, 3, 4, 4}, bias == DType::kInt64 ? DType::kInt16 : DType::kInt32)});
  }
  fb::Conv2DOptionsT rows;  // 2 taps of 2 pixels of 3 channels
  rows.weight_sum = sums;
  rows.tap_layout = fb::TapLayout::ROW;
  rows.requant = requant_f32({0.01f}, 3);
  std::vector<int8_t> packed(gemm_packed_bytes(4, 2, 6));
  gemm_pack(weights.data(), 4, 2, 6, packed.data());
  m->op(std::move(rows),
        {image, m->packed({4, 2, 2, 3}, fb::Packing::GEMM, packed), m->bias({1, 2, 3, 4})},
        {m->output({1, 3, 4, 4})});

  fb::DepthwiseConv2DOptionsT depthwise;
  depthwise.multiplier = 2;
  depthwise.weight_sum.assign(6, 0);
  const std::vector<int8_t> taps = pattern<int8_t>(2 * 2 * 6, -60, 60);
  for (size_t i = 0; i < taps.size(); ++i) depthwise.weight_sum[i % 6] += taps[i];
  depthwise.requant = requant_f32({0.01f}, 3);
  m->op(std::move(depthwise),
        {image, m->depthwise_weights({2, 2, 6}, taps), m->bias({1, 2, 3, 4, 5, 6})},
        {m->output({1, 3, 4, 6})});
}

inline void add_pools_and_resizes(ModelBuilder* m) {
  const uint32_t image = m->input({1, 4, 4, 3}), wide = m->input({1, 4, 4, 3}, DType::kInt16);
  const uint32_t volume = m->input({1, 2, 4, 4, 3});
  fb::AveragePool2DOptionsT average;
  average.kind = fb::AverageKind::INT_HALF_AWAY;
  average.kernel_h = average.kernel_w = 2;
  m->op(average, {image}, {m->output({1, 3, 3, 3})});
  average.lo = INT16_MIN;
  average.hi = INT16_MAX;
  m->op(average, {wide}, {m->output({1, 3, 3, 3}, DType::kInt16)});
  fb::MaxPool2DOptionsT most;
  most.kernel_h = most.kernel_w = 3;
  most.pad_top = most.pad_left = most.pad_bottom = most.pad_right = 1;
  m->op(most, {image}, {m->output({1, 4, 4, 3})});
  fb::MaxPool2DOptionsT global;
  global.kernel_h = global.kernel_w = 0;
  m->op(global, {wide}, {m->output({1, 1, 1, 3}, DType::kInt16)});

  const auto axis = [](const std::vector<int32_t>& weights) {
    auto result = std::make_unique<fb::ResizeAxisT>();
    result->low = {0, 1, 1};
    result->high = {1, 1, 0};
    result->low_weight = weights;
    result->high_weight = weights;
    return result;
  };
  const auto half = static_cast<int32_t>(float_bits(0.5f));
  const auto resize = [&](fb::ResizeKind kind, uint32_t x, const Shape& shape, DType dtype) {
    fb::ResizeLinearOptionsT o;
    const bool in_float = kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED;
    const std::vector<int32_t> weights(3, in_float ? half : 512);
    o.kind = kind;
    if (shape.rank() == 5) o.d = axis(weights);
    o.h = axis(weights);
    o.w = axis(weights);
    o.input_scale = o.output_scale = float_bits(0.25f);
    m->op(std::move(o), {x}, {m->output(shape, dtype)});
  };
  resize(fb::ResizeKind::F32, image, {1, 3, 3, 3}, DType::kUInt8);
  resize(fb::ResizeKind::F32, volume, {1, 3, 3, 3, 3}, DType::kUInt8);
  resize(fb::ResizeKind::F32_TRUNCATED, image, {1, 3, 3, 3}, DType::kUInt8);
  resize(fb::ResizeKind::INT_HALF_UP, wide, {1, 3, 3, 3}, DType::kInt16);
  resize(fb::ResizeKind::INT16_SUM, wide, {1, 3, 3, 3}, DType::kInt32);
}

inline void add_edges(ModelBuilder* m) {
  const uint32_t real = m->input({2, 4}, DType::kFloat32), sums = m->input({2, 4}, DType::kInt32);
  const uint32_t x = m->input({2, 4}), scale = m->input({}, DType::kFloat32), zero = m->input({});
  const uint32_t scales = m->input({4}, DType::kFloat32), zeros = m->input({4});
  const uint32_t factor = m->input({}, DType::kInt32);
  fb::QuantizeOptionsT away;
  away.scale = {float_bits(0.5f)};
  away.zero_point = {0};
  away.rounding = fb::Rounding::HALF_AWAY;
  m->op(away, {real}, {m->output({2, 4}, DType::kInt16)});
  m->op(away, {real}, {m->output({2, 4})});
  m->op(fb::QuantizeOptionsT(), {real, scale}, {m->output({2, 4})});
  m->op(fb::QuantizeOptionsT(), {real, scale, zero}, {m->output({2, 4})});
  fb::QuantizeOptionsT each;
  each.axis = 1;
  m->op(each, {real, scales, zeros}, {m->output({2, 4})});
  fb::QuantizeOptionsT ratio;
  ratio.division = fb::Division::F64;
  m->op(ratio, {sums, factor}, {m->output({2, 4}, DType::kInt16)});
  fb::DequantizeOptionsT back;
  m->op(back, {x, scale, zero}, {m->output({2, 4}, DType::kFloat32)});
  back.axis = 1;
  m->op(back, {x, scales, zeros}, {m->output({2, 4}, DType::kFloat32)});
}

inline void add_tables_and_floats(ModelBuilder* m) {
  const uint32_t x = m->input({2, 4}), wide = m->input({2, 4}, DType::kInt16);
  const uint32_t real = m->input({2, 4}, DType::kFloat32),
                 right = m->input({4, 3}, DType::kFloat32);
  fb::LutOptionsT lut;
  lut.table = m->buffer(std::vector<float>(256, 1.5f));
  lut.to_float = true;
  m->op(lut, {x}, {m->output({2, 4}, DType::kFloat32)});
  lut.to_float = false;
  lut.table = m->buffer(pattern<int16_t>(256, -300, 300));
  m->op(lut, {x}, {m->output({2, 4}, DType::kInt16)});
  lut.table = m->buffer(pattern<int16_t>(65536, -300, 300));
  m->op(lut, {wide}, {m->output({2, 4}, DType::kInt16)});
  lut.per_channel = true;
  lut.table = m->buffer(pattern<uint8_t>(4 * 256, 0, 255));
  m->op(lut, {x}, {m->output({2, 4})});

  const auto real_op = [&](fb::FloatFunction f, std::vector<uint32_t> inputs, const Shape& shape) {
    fb::FloatOptionsT o;
    o.function = f;
    m->op(o, std::move(inputs), {m->output(shape, DType::kFloat32)});
  };
  const uint32_t table = m->constant({256}, DType::kFloat32, std::vector<float>(256, 0.5f));
  real_op(fb::FloatFunction::TABLE, {x, table}, {2, 4});
  real_op(fb::FloatFunction::ADD, {m->input({1, 4}, DType::kFloat32), real}, {2, 4});
  real_op(fb::FloatFunction::MATMUL, {real, right}, {2, 3});
  real_op(fb::FloatFunction::FUSED_MATMUL, {real, right}, {2, 3});
  real_op(fb::FloatFunction::LANE_SOFTMAX, {real}, {2, 4});
  real_op(fb::FloatFunction::FUSED_GELU, {real}, {2, 4});
  fb::FloatOptionsT gemm;
  gemm.function = fb::FloatFunction::ORT_GEMM;
  gemm.block = 3;
  const uint32_t bias = m->constant({3}, DType::kFloat32, std::vector<float>(3, 0.5f));
  m->op(gemm, {real, right, bias}, {m->output({2, 3}, DType::kFloat32)});
  real_op(fb::FloatFunction::ORT_GEMM_FOURS, {real, right, bias}, {2, 3});
  real_op(fb::FloatFunction::REDUCE_MAX, {real}, {2, 1});
  real_op(fb::FloatFunction::NORMALIZE, {real}, {2, 4});
  const uint32_t line = m->constant({4}, DType::kFloat32, std::vector<float>(4, 0.5f));
  real_op(fb::FloatFunction::LAYER_NORM, {real, line, line}, {2, 4});

  const auto weights = [&](const Shape& shape) {
    return m->constant(shape, DType::kFloat32,
                       std::vector<float>(static_cast<size_t>(shape.elements()), 0.25f));
  };
  fb::FloatOptionsT conv;
  conv.function = fb::FloatFunction::ORT_CONV;
  conv.window = std::make_unique<fb::FloatWindowT>();
  conv.window->pad_left = 1;
  m->op(conv, {m->input({1, 2, 3, 3}, DType::kFloat32), weights({4, 2, 2, 2}), weights({4})},
        {m->output({1, 4, 2, 3}, DType::kFloat32)});
  const uint32_t steps = m->input({3, 2, 4}, DType::kFloat32);
  const uint32_t lengths = m->input({2}, DType::kInt32);
  fb::RecurrentOptionsT lstm;
  lstm.cell = fb::RecurrentCell::LSTM;
  lstm.direction = fb::RecurrentDirection::BIDIRECTIONAL;
  lstm.has_peepholes = lstm.has_lengths = lstm.has_hidden = lstm.has_content = true;
  lstm.w_zero_point = lstm.r_zero_point = {128, 120};
  const std::vector<uint32_t> lstm_outputs = {m->output({3, 2, 2, 2}, DType::kFloat32),
                                              m->output({2, 2, 2}, DType::kFloat32),
                                              m->output({2, 2, 2}, DType::kFloat32)};
  m->op(lstm,
        {steps, m->constant({2, 4, 8}, DType::kUInt8, pattern<uint8_t>(64, 0, 255)),
         m->constant({2, 2, 8}, DType::kUInt8, pattern<uint8_t>(32, 0, 255)), weights({2, 8}),
         weights({2}), weights({2, 8}), weights({2, 6}), lengths,
         m->input({2, 2, 2}, DType::kFloat32), m->input({2, 2, 2}, DType::kFloat32)},
        lstm_outputs);
  fb::RecurrentOptionsT gru;
  gru.cell = fb::RecurrentCell::GRU;
  gru.resets_after = true;
  m->op(gru, {steps, weights({1, 4, 6}), weights({1, 2, 6}), weights({1, 6}), weights({1, 2})},
        {m->output({3, 1, 2, 2}, DType::kFloat32), m->output({1, 2, 2}, DType::kFloat32)});

  fb::SoftmaxOptionsT softmax;
  softmax.kind = fb::SoftmaxKind::Q5_26;
  std::vector<int32_t> exponentials(256, 1 << 20);
  exponentials.back() = INT32_MAX;
  softmax.table = m->buffer(exponentials);
  m->op(fb::SoftmaxOptionsT(softmax), {x}, {m->output({2, 4})});
  {
    fb::SoftmaxOptionsT logarithm;
    logarithm.kind = fb::SoftmaxKind::Q5_26;
    std::vector<int32_t> tables = exponentials;
    tables.resize(512);
    logarithm.table = m->buffer(tables);
    logarithm.stages = std::move(requant_int(1 << 20, 30)->stages);
    m->op(std::move(logarithm), {x}, {m->output({2, 4})});
    fb::SoftmaxOptionsT shares;
    shares.table = m->buffer(std::vector<float>(65536, 1.0f));
    m->op(std::move(shares), {x}, {m->output({2, 4}, DType::kFloat32)});
  }
  softmax.kind = fb::SoftmaxKind::Q5_26_TO_INT16;
  m->op(fb::SoftmaxOptionsT(softmax), {x}, {m->output({2, 4}, DType::kInt16)});
  softmax.kind = fb::SoftmaxKind::LOG_F32;
  softmax.k = softmax.output_scale = float_bits(0.125f);
  softmax.table = m->buffer(std::vector<float>(256, 1.0f));
  m->op(fb::SoftmaxOptionsT(softmax), {x}, {m->output({2, 4})});
  softmax.table = m->buffer(std::vector<int32_t>(65536, 1 << 30));
  m->op(std::move(softmax), {wide}, {m->output({2, 4}, DType::kInt16)});
}

inline void add_formulas(ModelBuilder* m) {
  const uint32_t x = m->input({2, 4}), wide = m->input({2, 4}, DType::kInt16);
  const auto steps = [](std::vector<std::pair<fb::FormulaFunction, int32_t>> list) {
    std::vector<std::unique_ptr<fb::FormulaStepT>> result;
    for (const auto& [function, value] : list) {
      result.push_back(std::make_unique<fb::FormulaStepT>());
      result.back()->function = function;
      result.back()->value = value;
      result.back()->high = value + 9;
    }
    return result;
  };
  fb::FormulaOptionsT formula;
  formula.b_steps = steps({{fb::FormulaFunction::SHIFT_LEFT, 2}});
  formula.steps = steps({{fb::FormulaFunction::CLAMP, -4}, {fb::FormulaFunction::SHIFT_RIGHT, 1}});
  m->op(std::move(formula), {wide, x}, {m->output({2, 4}, DType::kInt16)});
  m->op(fb::FormulaOptionsT(), {x}, {m->output({2, 4})});

  fb::ReduceOptionsT reduce;
  reduce.zero_point = 7;
  m->op(reduce, {x}, {m->output({1, 4}, DType::kInt32)});
  m->op(reduce, {wide}, {m->output({1, 4}, DType::kInt32)});
}

// Adds the INT16 form of every_op_model()'s Lstm.
inline void add_lstm(ModelBuilder* m) {
  const DType wide = DType::kInt16;
  fb::LstmOptionsT lstm = lstm_options();
  lstm.requant = requant_16(1, 15);
  const auto bias = [&] {
    return m->constant({4, 3}, DType::kInt64, pattern<int64_t>(12, -9000, 9000));
  };
  m->op(std::move(lstm),
        {m->input({1, 2, 5}, wide),
         m->constant({4, 3, 5}, DType::kInt8, pattern<int8_t>(60, -60, 60)), bias(),
         m->constant({4, 3, 3}, DType::kInt8, pattern<int8_t>(36, -60, 60, 1)), bias(),
         m->input({1, 3}, wide), m->input({1, 3}, wide)},
        {m->output({1, 2, 3}, wide), m->output({1, 3}, wide), m->output({1, 3}, wide)});
}

// Makes a model of the operators' other forms; not for an integer build: it has layers in float.
inline ModelBuilder other_forms_model() {
  ModelBuilder m;
  add_dynamic_products(&m);
  add_dynamic_range(&m);
  add_convolutions(&m);
  add_pools_and_resizes(&m);
  add_edges(&m);
  add_tables_and_floats(&m);
  add_formulas(&m);
  add_lstm(&m);
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_OTHER_FORMS_MODEL_H_
