// SPDX-License-Identifier: Apache-2.0
// A small model with every operator of schema/ops.inc, open batch, two inputs and two outputs:
// what tests of whole files start from.
#ifndef QRT_TESTS_SUPPORT_EVERY_OP_MODEL_H_
#define QRT_TESTS_SUPPORT_EVERY_OP_MODEL_H_

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/integer_build.h"
#include "tests/support/detection_options.h"
#include "tests/support/loop_model.h"
#include "tests/support/model_builder.h"

namespace qrt::testing {

// Deterministic values in lo..hi.
template <class T>
std::vector<T> pattern(size_t n, int lo, int hi, int seed = 0) {
  std::vector<T> v(n);
  for (size_t i = 0; i < n; ++i) {
    v[i] = static_cast<T>(lo + static_cast<int>((i * 37 + static_cast<size_t>(seed) * 11) %
                                                static_cast<size_t>(hi - lo + 1)));
  }
  return v;
}

// image FLOAT32 [batch, 8, 8, 4] and gate UINT8 [batch, 16] -> probabilities FLOAT32 [batch, 10]
// and flat UINT8 [batch, 16, 16]. Indices and values beside them are computed and not read.
inline ModelBuilder every_op_model() {
  ModelBuilder m;
  const uint32_t image = m.input({-1, 8, 8, 4}, DType::kFloat32, "image");
  const uint32_t gate = m.input({-1, 16}, DType::kUInt8, "gate");

  const uint32_t x = m.tensor({-1, 8, 8, 4}, DType::kUInt8, "x");
  fb::QuantizeOptionsT quantize;
  quantize.scale = float_bits(std::vector<float>{0.05f});
  quantize.zero_point = {128};
  m.op(quantize, {image}, {x});

  const uint32_t conv = m.tensor({-1, 8, 8, 8}, DType::kUInt8, "conv");
  fb::Conv2DOptionsT conv_options;
  conv_options.pad_top = conv_options.pad_left = 1;
  conv_options.pad_bottom = conv_options.pad_right = 1;
  conv_options.input_zero_point = 128;
  const std::vector<int8_t> conv_weights = pattern<int8_t>(8 * 9 * 4, -20, 20);
  for (size_t o = 0; o < 8; ++o) {
    int32_t sum = 0;
    for (size_t i = 0; i < 36; ++i) sum += conv_weights[o * 36 + i];
    conv_options.weight_sum.push_back(sum);
  }
  std::vector<int32_t> conv_bias;
  for (int32_t sum : conv_options.weight_sum) conv_bias.push_back(64 - 128 * sum);
  conv_options.requant =
      requant_f32({0.004f, 0.005f, 0.006f, 0.007f, 0.008f, 0.009f, 0.01f, 0.011f}, 100);
  m.op(std::move(conv_options), {x, m.gemm_weights({8, 3, 3, 4}, conv_weights), m.bias(conv_bias)},
       {conv});

  const uint32_t depthwise = m.tensor({-1, 8, 8, 8}, DType::kUInt8, "depthwise");
  fb::DepthwiseConv2DOptionsT depthwise_options;
  depthwise_options.pad_top = depthwise_options.pad_left = 1;
  depthwise_options.pad_bottom = depthwise_options.pad_right = 1;
  depthwise_options.input_zero_point = 100;
  const std::vector<int8_t> depthwise_weights = pattern<int8_t>(9 * 8, -60, 60, 1);
  for (size_t c = 0; c < 8; ++c) {
    int32_t sum = 0;
    for (size_t i = 0; i < 9; ++i) sum += depthwise_weights[i * 8 + c];
    depthwise_options.weight_sum.push_back(sum);
  }
  depthwise_options.requant = requant_int(1 << 20, 28, 90);
  m.op(std::move(depthwise_options),
       {conv, m.depthwise_weights({3, 3, 8}, depthwise_weights),
        m.bias(pattern<int32_t>(8, -50, 50))},
       {depthwise});

  const uint32_t sum = m.tensor({-1, 8, 8, 8}, DType::kUInt8, "sum");
  fb::AddOptionsT add;
  add.a_scale = float_bits(0.5f);
  add.b_scale = float_bits(0.625f);
  add.constant = float_bits(-7.25f);
  m.op(add, {conv, depthwise}, {sum});

  const uint32_t mapped = m.tensor({-1, 8, 8, 8}, DType::kUInt8, "mapped");
  fb::LutOptionsT lut;
  lut.table = m.buffer(pattern<uint8_t>(256, 0, 255, 3));
  m.op(lut, {sum}, {mapped});

  const uint32_t most = m.tensor({-1, 4, 4, 8}, DType::kUInt8, "most");
  fb::MaxPool2DOptionsT max_pool;
  max_pool.kernel_h = max_pool.kernel_w = 2;
  max_pool.stride_h = max_pool.stride_w = 2;
  m.op(max_pool, {mapped}, {most});

  const uint32_t mean = m.tensor({-1, 4, 4, 8}, DType::kUInt8, "mean");
  fb::AveragePool2DOptionsT average;
  average.kernel_h = average.kernel_w = 3;
  average.stride_h = average.stride_w = 2;
  average.pad_top = average.pad_left = 1;
  average.input_scale = float_bits(0.02f);
  average.input_zero_point = 7;
  average.output_scale = float_bits(0.03f);
  average.output_zero_point = 11;
  m.op(average, {mapped}, {mean});

  const uint32_t both = m.tensor({-1, 4, 4, 16}, DType::kUInt8, "both");
  fb::ConcatOptionsT concat;
  concat.axis = 3;
  m.op(concat, {most, mean}, {both});

  const uint32_t mirrored = m.tensor({-1, 4, 4, 16}, DType::kUInt8, "mirrored");
  fb::GatherOptionsT gather;
  gather.fill = 9;
  for (uint8_t axis = 1; axis <= 2; ++axis) {
    gather.axes.push_back(std::make_unique<fb::GatherAxisT>());
    gather.axes.back()->axis = axis;
    gather.axes.back()->index = {-1, 2, 1, 0};
  }
  m.op(std::move(gather), {both}, {mirrored});

  const uint32_t resized = m.tensor({-1, 4, 4, 16}, DType::kUInt8, "resized");
  fb::ResizeLinearOptionsT resize;
  resize.kind = fb::ResizeKind::INT_HALF_AWAY;
  resize.h = std::make_unique<fb::ResizeAxisT>();
  resize.h->low = {0, 1, 1, 2};
  resize.h->high = {1, 2, 2, 3};
  resize.h->low_weight = {1024, 512, 256, 0};
  resize.h->high_weight = {0, 512, 768, 1024};
  resize.w = std::make_unique<fb::ResizeAxisT>(*resize.h);
  m.op(std::move(resize), {mirrored}, {resized});

  const uint32_t taken = m.tensor({-1, 4, 4, 16}, DType::kUInt8, "taken");
  fb::TakeOptionsT take;
  take.axis = 2;
  m.op(take, {resized, m.constant<int32_t>({4}, DType::kInt32, {3, -1, 0, 9})}, {taken});

  const uint32_t pixels = m.tensor({-1, 16, 16}, DType::kUInt8, "pixels");
  fb::ReshapeOptionsT to_pixels;
  to_pixels.shape = {-1, 16, 16};
  m.op(to_pixels, {taken}, {pixels});

  const uint32_t flat = m.output({-1, 16, 16}, DType::kUInt8, "flat");
  fb::TransposeOptionsT transpose;
  transpose.perm = {0, 2, 1};
  m.op(transpose, {pixels}, {flat});

  const uint32_t pooled = m.tensor({-1, 1, 1, 16}, DType::kUInt8, "pooled");
  fb::GlobalAveragePool2DOptionsT global;
  global.input_zero_point = 5;
  global.requant = requant_f32({1.0f / 16}, 5);
  m.op(std::move(global), {both}, {pooled});

  const uint32_t features = m.tensor({-1, 16}, DType::kUInt8, "features");
  fb::ReshapeOptionsT to_features;
  to_features.shape = {-1, 16};
  m.op(to_features, {pooled}, {features});

  const uint32_t gated = m.tensor({-1, 16}, DType::kUInt8, "gated");
  fb::MulOptionsT mul;
  mul.a_zero_point = 5;
  mul.requant = requant_f32({0.005f}, 20);
  m.op(std::move(mul), {features, gate}, {gated});

  const uint32_t fine = m.tensor({-1, 16}, DType::kInt16, "fine");
  fb::RequantizeOptionsT refine;
  refine.input_zero_point = 20;
  refine.requant = requant_int(1 << 20, 14);
  refine.requant->lo = INT16_MIN;
  refine.requant->hi = INT16_MAX;
  refine.negative.push_back(std::make_unique<fb::RequantStageT>(*refine.requant->stages[0]));
  const std::vector<int16_t> slopes = pattern<int16_t>(16, -3, 3);
  m.op(std::move(refine), {gated, m.constant({16}, DType::kInt16, slopes)}, {fine});

  const uint32_t mixed = m.tensor({-1, 16}, DType::kInt16, "mixed");
  fb::FullyConnectedOptionsT mix;
  const std::vector<int8_t> mix_weights = pattern<int8_t>(16 * 16, -90, 90, 4);
  for (size_t o = 0; o < 16; ++o) {
    int32_t total = 0;
    for (size_t i = 0; i < 16; ++i) total += mix_weights[o * 16 + i];
    mix.weight_sum.push_back(total);
  }
  mix.requant = requant_int(20000, 22);
  mix.requant->lo = INT16_MIN;
  mix.requant->hi = INT16_MAX;
  m.op(std::move(mix),
       {fine, m.gemm_weights({16, 16}, mix_weights),
        m.constant({16}, DType::kInt64, pattern<int64_t>(16, -5000, 5000))},
       {mixed});

  const uint32_t coarse = m.tensor({-1, 16}, DType::kUInt8, "coarse");
  fb::RequantizeOptionsT coarsen;
  coarsen.requant = requant_int(1, 8, 20);
  m.op(std::move(coarsen), {mixed}, {coarse});

  // Sums, and a bias in 256ths of their unit.
  const uint32_t sums = m.tensor({-1, 16}, DType::kInt32, "sums");
  const uint32_t biased = m.tensor({-1, 16}, DType::kUInt8, "biased");
  fb::FullyConnectedOptionsT add_up;
  const std::vector<int8_t> add_up_weights = pattern<int8_t>(16 * 16, -3, 4, 3);
  for (size_t o = 0; o < 16; ++o) {
    int32_t total = 0;
    for (size_t i = 0; i < 16; ++i) total += add_up_weights[o * 16 + i];
    add_up.weight_sum.push_back(total);
  }
  add_up.requant = std::make_unique<fb::RequantT>();  // ACC
  m.op(std::move(add_up),
       {coarse, m.gemm_weights({16, 16}, add_up_weights), m.bias(pattern<int32_t>(16, -900, 90))},
       {sums});
  fb::RequantizeOptionsT add_bias;
  add_bias.requant = requant_int(1, 0, 100);
  add_bias.requant->stages[0]->clip_lo = -20000;
  add_bias.requant->stages[0]->clip_hi = 20000;
  add_bias.requant->stages.push_back(
      std::make_unique<fb::RequantStageT>(*requant_int(3, 13)->stages[0]));
  m.op(std::move(add_bias),
       {sums, m.constant({16}, DType::kInt64, pattern<int64_t>(16, -30000, 30000))}, {biased});

  const uint32_t logits = m.tensor({-1, 10}, DType::kUInt8, "logits");
  fb::FullyConnectedOptionsT dense;
  // Codes of 4 bits, each channel with an offset of its own.
  const std::vector<int8_t> dense_codes = pattern<int8_t>(10 * 16, -8, 7, 2);
  const std::vector<int8_t> dense_offsets = pattern<int8_t>(16, -20, 20, 5);
  std::vector<int8_t> dense_weights(gemm_packed_bytes(10, 1, 16));
  gemm_pack(dense_codes.data(), 10, 1, 16, dense_weights.data());
  for (size_t o = 0; o < 10; ++o) {
    int32_t total = 0;
    for (size_t i = 0; i < 16; ++i) total += dense_codes[o * 16 + i] + dense_offsets[o];
    dense.weight_sum.push_back(total);
  }
  dense.requant = requant_f32({0.02f}, 110);
  m.op(std::move(dense),
       {biased, m.narrow({10, 16}, fb::Packing::GEMM, 4, dense_weights, dense_offsets),
        m.bias(pattern<int32_t>(10, -500, 500))},
       {logits});

  // The layers with state read the graph's tensors and are read by nothing: the outputs of a run do
  // not depend on those before it.
  const uint32_t delayed = m.tensor({-1, 5}, DType::kUInt8, "delayed");
  const uint32_t past = m.tensor({-1, 10, 3}, DType::kInt16, "past");
  const uint32_t next_past = m.tensor({-1, 10, 3}, DType::kInt16, "next_past");
  fb::SvdfOptionsT svdf;
  svdf.rank = 2;
  svdf.input_zero_point = 110;
  svdf.feature_stages = double_rounding(1 << 30, 2);
  svdf.requant = requant_int(1 << 20, 28, 128);
  m.op(std::move(svdf),
       {logits, m.constant({10, 10}, DType::kInt8, pattern<int8_t>(100, -90, 90)),
        m.constant({10, 3}, DType::kInt16, pattern<int16_t>(30, -3000, 3000)),
        m.bias(pattern<int32_t>(5, -500, 500)), past},
       {delayed, next_past});
  m.variable(past, next_past);

  const uint32_t sequence = m.tensor({-1, 16, 6}, DType::kUInt8, "sequence");
  const uint32_t hidden = m.tensor({-1, 6}, DType::kUInt8, "hidden");
  const uint32_t cell = m.tensor({-1, 6}, DType::kInt16, "cell");
  const uint32_t next_hidden = m.tensor({-1, 6}, DType::kUInt8, "next_hidden");
  const uint32_t next_cell = m.tensor({-1, 6}, DType::kInt16, "next_cell");
  fb::LstmOptionsT lstm = lstm_options();
  lstm.requant = requant_int(1, 23, 128);
  m.op(std::move(lstm),
       {flat, m.constant({4, 6, 16}, DType::kInt8, pattern<int8_t>(384, -60, 60)),
        m.constant({4, 6}, DType::kInt32, pattern<int32_t>(24, -9000, 9000)),
        m.constant({4, 6, 6}, DType::kInt8, pattern<int8_t>(144, -60, 60, 1)),
        m.constant({4, 6}, DType::kInt32, pattern<int32_t>(24, -900, 900)), hidden, cell},
       {sequence, next_hidden, next_cell});
  m.variable(hidden, next_hidden, 128);
  m.variable(cell, next_cell);

  const uint32_t floor = m.tensor({-1, 10}, DType::kUInt8, "floor");
  fb::MinMaxOptionsT min_max;
  min_max.maximum = true;
  m.op(min_max, {logits, m.constant({10}, DType::kUInt8, pattern<uint8_t>(10, 0, 90))}, {floor});

  fb::IntegerOptionsT integer;
  integer.function = fb::IntegerFunction::XOR;
  m.op(integer, {logits, floor}, {m.tensor({-1, 10}, DType::kUInt8, "mixed")});

  fb::FormulaOptionsT formula;
  formula.a_zero_point = 128;
  for (const auto& [function, value] : {std::pair(fb::FormulaFunction::MULTIPLY, 300),
                                        std::pair(fb::FormulaFunction::SHIFT_RIGHT, 4)}) {
    formula.a_steps.push_back(std::make_unique<fb::FormulaStepT>());
    formula.a_steps.back()->function = function;
    formula.a_steps.back()->value = value;
  }
  formula.pair = fb::FormulaPair::SUBTRACT;
  const uint32_t differences = m.tensor({-1, 10}, DType::kInt32, "differences");
  m.op(std::move(formula), {logits, floor}, {differences});

  fb::ReduceOptionsT reduce;
  reduce.axis = 1;
  m.op(reduce, {differences}, {m.tensor({-1, 1}, DType::kInt32, "total")});

  const uint32_t rows = m.tensor({-1, 2, 6}, DType::kInt32, "rows");
  fb::TakeOptionsT take_rows;
  take_rows.axis = 1;
  m.op(take_rows, {differences, m.constant({2, 6}, DType::kInt32, pattern<int32_t>(12, 0, 9))},
       {rows});
  const uint32_t count = m.tensor({-1}, DType::kInt32, "count");
  const uint32_t valid = m.tensor({-1, 2, 6}, DType::kInt32, "valid");
  m.op(fb::ValidBoxesOptionsT(), {rows}, {count, valid});
  m.op(fb::SuppressBoxesOptionsT(), {valid, count}, {m.tensor({-1, 2, 6}, DType::kInt32, "boxes")});

  fb::PairLutOptionsT pair_lut;
  pair_lut.table = m.buffer(pattern<uint8_t>(65536, 0, 255, 4));
  const uint32_t pairs = m.tensor({-1, 10}, DType::kUInt8, "pairs");
  m.op(pair_lut, {floor, logits}, {pairs});

  fb::ArgMaxOptionsT arg_max;
  arg_max.axis = 1;
  const uint32_t best_class = m.tensor({-1, 1}, DType::kInt64, "class");
  m.op(arg_max, {logits}, {best_class});

  fb::TakeOptionsT embed;
  embed.is_checked = true;
  const uint32_t embedded = m.tensor({-1, 1, 3}, DType::kInt32, "embedded");
  m.op(embed, {m.constant({10, 3}, DType::kInt32, pattern<int32_t>(30, -9, 9, 2)), best_class},
       {embedded});
  fb::ScatterOptionsT scatter;
  scatter.batch_dims = 1;
  const uint32_t last_difference = m.tensor({-1, 1}, DType::kInt32, "one_difference");
  fb::GatherOptionsT last;
  last.axes.push_back(std::make_unique<fb::GatherAxisT>());
  last.axes[0]->axis = 1;
  last.axes[0]->index = {9};
  m.op(std::move(last), {differences}, {last_difference});
  m.op(scatter, {differences, best_class, last_difference},
       {m.tensor({-1, 10}, DType::kInt32, "scattered")});
  fb::ScatterAddOptionsT scatter_add;
  scatter_add.batch_dims = 1;
  m.op(scatter_add, {differences, best_class, last_difference},
       {m.tensor({-1, 10}, DType::kInt32, "added_to")});
  const uint32_t codes =
      m.constant<uint8_t>({2, 2, 128}, DType::kUInt8, pattern<uint8_t>(512, 0, 255, 3));
  const uint32_t block_scales =
      m.constant<float>({2, 2, 16}, DType::kFloat32, std::vector<float>(64, 0.25f));
  const uint32_t block_zeros =
      m.constant<uint8_t>({2, 2, 16}, DType::kUInt8, pattern<uint8_t>(64, 0, 15, 2));
  fb::GatherNBitsOptionsT rows_of_blocks;
  rows_of_blocks.block = 16;
  rows_of_blocks.n = 17;
  rows_of_blocks.k = 20;
  rows_of_blocks.has_zero_points = true;
  const uint32_t row_of_blocks = m.tensor({-1, 1, 20}, DType::kFloat32, "row_of_blocks");
  m.op(rows_of_blocks, {codes, block_scales, best_class, block_zeros}, {row_of_blocks});
  fb::MatMulNBitsOptionsT blocks;
  blocks.block = 16;
  blocks.n = 17;
  blocks.has_bias = true;
  m.op(blocks,
       {row_of_blocks, codes, block_scales,
        m.constant<float>({17}, DType::kFloat32, std::vector<float>(17, 0.5f))},
       {m.tensor({-1, 1, 17}, DType::kFloat32, "product_of_blocks")});
  fb::CumSumOptionsT cum_sum;
  cum_sum.axis = 1;
  const uint32_t running = m.tensor({-1, 10}, DType::kInt32, "running_sums");
  m.op(cum_sum, {differences}, {running});
  fb::CastOptionsT cast;
  cast.is_float = true;
  m.op(cast, {running}, {m.tensor({-1, 10}, DType::kFloat32, "float_sums")});

  // The images are the steps of one sequence.
  const uint32_t steps = m.tensor({-1, 1, 3}, DType::kFloat32, "steps");
  m.op(cast, {embedded}, {steps});
  fb::RecurrentOptionsT recurrent;
  recurrent.cell = fb::RecurrentCell::GRU;
  const auto weights = [&m](const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 7) * 0.25f - 0.75f;
    return m.constant(shape, DType::kFloat32, values);
  };
  m.op(recurrent, {steps, weights({1, 3, 6}), weights({1, 2, 6}), weights({1, 6})},
       {m.tensor({-1, 1, 1, 2}, DType::kFloat32, "states"),
        m.tensor({1, 1, 2}, DType::kFloat32, "last_state")});

  const uint32_t best = m.tensor({-1, 3}, DType::kUInt8, "best");
  fb::TopKOptionsT top_k;
  top_k.k = 3;
  m.op(top_k, {logits}, {best, m.tensor({-1, 3}, DType::kInt32, "best_classes")});

  fb::BatchMatMulOptionsT batch_mat_mul;
  batch_mat_mul.a_zero_point = 100;
  batch_mat_mul.b_zero_point = 90;
  batch_mat_mul.transpose_b = true;
  batch_mat_mul.requant = requant_f32({0.002f}, 128);
  m.op(std::move(batch_mat_mul), {pixels, flat},
       {m.tensor({-1, 16, 16}, DType::kUInt8, "affinity")});

  const uint32_t softmax = m.tensor({-1, 10}, DType::kUInt8, "softmax");
  std::vector<float> table(256);
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = std::exp((static_cast<float>(i) - 255.0f) * 0.1f);
  }
  fb::SoftmaxOptionsT softmax_options;
  softmax_options.table = m.buffer(table);
  softmax_options.k = float_bits(256.0f);
  m.op(softmax_options, {pairs}, {softmax});

  const uint32_t real_boxes = m.tensor({1, 16, 4}, DType::kFloat32, "real_boxes");
  fb::DequantizeOptionsT dequantize_boxes;
  dequantize_boxes.scale = float_bits(std::vector<float>{0.5f});
  dequantize_boxes.zero_point = {90};
  m.op(dequantize_boxes, {m.constant({1, 16, 4}, DType::kUInt8, pattern<uint8_t>(64, 0, 255, 6))},
       {real_boxes});
  fb::SelectBoxesOptionsT select;
  select.most = 3;
  select.max_overlap = float_bits(0.5f);
  m.op(select, {real_boxes, m.constant({1, 2, 16}, DType::kFloat32, pattern<float>(32, 0, 1))},
       {m.tensor({6, 3}, DType::kInt64, "selected_boxes")});
  m.op(fb::NonZeroOptionsT(), {real_boxes}, {m.tensor({3, 64}, DType::kInt64, "other_than_zero")});

  m.op(detection_options(15, 2),
       {pixels, flat, m.constant({16, 4}, DType::kFloat32, pattern<float>(64, 0, 1))},
       {m.tensor({-1, 2, 4}, DType::kFloat32, "detected"),
        m.tensor({-1, 2}, DType::kFloat32, "detected_classes"),
        m.tensor({-1, 2}, DType::kFloat32, "detected_scores"),
        m.tensor({-1}, DType::kFloat32, "detected_count")});

  const uint32_t requantized = m.tensor({-1, 8, 8, 4}, DType::kUInt8, "requantized");
  const uint32_t dynamic_zero_point = m.tensor({}, DType::kUInt8, "dynamic_zero_point");
  m.op(fb::DynamicQuantizeOptionsT(), {image},
       {requantized, m.tensor({}, DType::kFloat32, "dynamic_scale"), dynamic_zero_point});

  // Needed only where the zero point is not 0.
  const uint32_t direction = m.tensor({-1, 10}, DType::kUInt8, "direction");
  fb::L2NormalizationOptionsT l2;
  l2.zero_point = 90;
  m.op(l2, {pairs}, {direction});
  m.op(fb::ChooseOptionsT(), {dynamic_zero_point, direction, pairs},
       {m.tensor({-1, 10}, DType::kUInt8, "chosen")});

  const uint32_t iteration = m.tensor({1}, DType::kInt64, "iteration");
  const uint32_t state = m.tensor({-1, 10}, DType::kUInt8, "state"),
                 slice = m.tensor({-1}, DType::kUInt8, "slice"),
                 next = m.tensor({-1, 10}, DType::kUInt8, "next");
  m.op(loop_options<fb::LoopBeginOptionsT>(1, {{1}}), {pairs, pairs}, {iteration, state, slice});
  fb::MinMaxOptionsT most_so_far;
  most_so_far.maximum = true;
  m.op(most_so_far, {state, pairs}, {next});
  m.op(loop_options<fb::LoopEndOptionsT>(1, {{1, true}}, 10), {iteration, next, slice},
       {m.tensor({-1, 10}, DType::kUInt8, "last"), m.tensor({-1, 10}, DType::kUInt8, "turned")});

  const uint32_t byte = m.constant({}, DType::kUInt8, std::vector<uint8_t>{7});
  const uint32_t products = m.tensor({-1, 16, 16}, DType::kInt32, "products");
  m.op(fb::DynamicProductOptionsT(), {flat, pixels, byte, byte}, {products});

  const uint32_t probabilities = m.output({-1, 10}, DType::kFloat32, "probabilities");
  fb::DequantizeOptionsT dequantize;
  dequantize.scale = float_bits(std::vector<float>{1.0f / 256});
  dequantize.zero_point = {0};
  if (is_integer_build()) {  // it leaves no layer in float
    m.op(dequantize, {softmax}, {probabilities});
  } else {
    const uint32_t real = m.tensor({-1, 10}, DType::kFloat32, "real");
    m.op(dequantize, {softmax}, {real});
    fb::FloatOptionsT real_softmax;
    real_softmax.function = fb::FloatFunction::SOFTMAX;
    m.op(real_softmax, {real}, {probabilities});
  }
  m.at(softmax).quantization = std::make_unique<fb::QuantizationT>();
  m.at(softmax).quantization->scale = {1.0f / 256};
  m.at(softmax).quantization->zero_point = {0};
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_EVERY_OP_MODEL_H_
