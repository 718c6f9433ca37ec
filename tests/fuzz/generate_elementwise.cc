// SPDX-License-Identifier: Apache-2.0
// Operators whose output has the shape of their input, and what a row of it decides.
#include <cmath>

#include "tests/fuzz/generator.h"
#include "tests/support/detection_options.h"

namespace qrt::fuzz {

void Generator::append_add() {
  const Live x = activation();
  const uint32_t b = operand(x);
  fb::AddOptionsT o;
  if (x.is_int16() || choose_.integer(0, 3) == 3) return append_add_int(x, b);
  o.kind = choose_.coin() ? fb::AddKind::F32_MUL_ADD : fb::AddKind::F32_FMA;
  o.a_scale = float_bits(choose_.scale(-8, 4) * (choose_.integer(0, 7) == 7 ? -1.0f : 1.0f));
  o.b_scale = float_bits(choose_.scale(-8, 4));
  o.constant = float_bits(static_cast<float>(choose_.integer(-32768, 32767)) / 64.0f);
  o.a_is_inner = choose_.coin();
  o.a_offset = choose_.coin() ? -128 : 0;
  o.b_offset = choose_.coin() ? -128 : 0;
  o.output_offset = choose_.coin() ? 128 : 0;
  o.lo = choose_.coin() ? 0 : choose_.integer(0, 255);
  o.hi = choose_.integer(o.lo, 255);
  if (choose_.coin()) o.hi = 255;
  emit(o, {x.tensor, b}, x.shape);
}

void Generator::append_add_int(const Live& x, uint32_t b) {
  fb::AddOptionsT o;
  o.kind = fb::AddKind::INT;
  o.left_shift = static_cast<uint8_t>(choose_.integer(0, x.is_int16() ? 15 : 20));
  o.a_zero_point = choose_.byte();
  o.b_zero_point = choose_.byte();
  o.a_zero_point_16 = static_cast<int16_t>(zero_point_16());
  o.b_zero_point_16 = static_cast<int16_t>(zero_point_16());
  o.subtract = choose_.coin();
  for (auto* stages : {&o.a_stages, &o.b_stages}) {
    const int count = choose_.integer(0, 2);  // the last one keeps the sum within int32
    for (int i = 1; i <= count; ++i) stages->push_back(stage(1, i == count));
  }
  o.requant = int_requant(1, x.dtype);
  emit(std::move(o), {x.tensor, b}, x.shape, x.dtype);
}

void Generator::append_mul() {
  const Live x = activation();
  const uint32_t b = operand(x);
  fb::MulOptionsT o;
  o.a_zero_point = choose_.byte();
  o.b_zero_point = choose_.byte();
  o.requant = requant(1, false, x.dtype);
  emit(std::move(o), {x.tensor, b}, x.shape, x.dtype);
}

namespace {

// The types of integers without quantisation.
constexpr DType kIntegers[] = {DType::kUInt8, DType::kInt8,  DType::kUInt16,
                               DType::kInt16, DType::kInt32, DType::kInt64};

}  // namespace

void Generator::append_integer() {
  const Live x = of_type(kIntegers[choose_.integer(0, 5)]);
  fb::IntegerOptionsT o;
  o.function = static_cast<fb::IntegerFunction>(
      choose_.integer(0, static_cast<int>(fb::IntegerFunction::MAX)));
  const bool compares = o.function >= fb::IntegerFunction::EQUAL;
  emit(o, {x.tensor, operand(x)}, x.shape, compares ? DType::kUInt8 : x.dtype);
}

namespace {

constexpr DType kFormulaTypes[] = {DType::kUInt8, DType::kInt16, DType::kInt32};

std::vector<std::unique_ptr<fb::FormulaStepT>> formula_steps(Choices* choose) {
  using F = fb::FormulaFunction;
  std::vector<std::unique_ptr<fb::FormulaStepT>> steps(static_cast<size_t>(choose->integer(0, 4)));
  for (auto& s : steps) {
    s = std::make_unique<fb::FormulaStepT>();
    s->function = static_cast<F>(choose->integer(0, static_cast<int>(F::MAX)));
    s->value = choose->integer(-70000, 70000);
    if (s->function == F::SHIFT_RIGHT) s->value = choose->integer(1, 32);
    if (s->function == F::SHIFT_LEFT) s->value = choose->integer(0, 31);
    s->high = s->value + choose->integer(0, 70000);
  }
  return steps;
}

int zero_point_of(DType dtype, Choices* choose) {
  if (dtype == DType::kUInt8) return choose->byte();
  return choose->integer(-32768, 32767);
}

}  // namespace

void Generator::append_formula() {
  const Live x = of_type(kFormulaTypes[choose_.integer(0, 2)]);
  const DType to = kFormulaTypes[choose_.integer(0, 2)];
  fb::FormulaOptionsT o;
  o.a_zero_point = zero_point_of(x.dtype, &choose_);
  o.a_steps = formula_steps(&choose_);
  o.zero_point = zero_point_of(to, &choose_);
  if (choose_.coin()) return emit(std::move(o), {x.tensor}, x.shape, to);
  o.pair = static_cast<fb::FormulaPair>(choose_.integer(0, static_cast<int>(fb::FormulaPair::MAX)));
  const uint32_t b = operand(x);
  o.b_zero_point = zero_point_of(x.dtype, &choose_);
  o.b_steps = formula_steps(&choose_);
  o.steps = formula_steps(&choose_);
  emit(std::move(o), {x.tensor, b}, x.shape, to);
}

void Generator::append_reduce() {
  const Live x = of_type(kFormulaTypes[choose_.integer(0, 2)]);
  if (x.shape.rank() < 2) return;  // the batch is not reduced
  fb::ReduceOptionsT o;
  o.axis = static_cast<uint32_t>(choose_.integer(1, x.shape.rank() - 1));
  o.zero_point = zero_point_of(x.dtype, &choose_);
  o.maximum = choose_.coin();
  Shape shape = x.shape;
  shape[static_cast<int>(o.axis)] = 1;
  emit(o, {x.tensor}, shape, DType::kInt32);
}

void Generator::append_cast() {
  constexpr DType kTypes[] = {DType::kUInt8, DType::kInt32, DType::kInt64, DType::kFloat32};
  const Live x = of_type(kTypes[choose_.integer(0, 3)]);
  const DType to = kTypes[choose_.integer(0, 3)];
  fb::CastOptionsT o;
  o.is_truth = to == DType::kUInt8 && choose_.coin();
  o.is_float = x.dtype == DType::kFloat32 || to == DType::kFloat32;
  emit(o, {x.tensor}, x.shape, to);
}

void Generator::append_cum_sum() {
  constexpr DType kTypes[] = {DType::kInt32, DType::kInt64, DType::kFloat32};
  const Live x = of_type(kTypes[choose_.integer(0, 2)]);
  if (x.shape.rank() < 2) return;  // images are not summed
  fb::CumSumOptionsT o;
  o.is_float = x.dtype == DType::kFloat32;
  o.axis = static_cast<uint32_t>(choose_.integer(1, x.shape.rank() - 1));
  o.exclusive = choose_.coin();
  o.reverse = choose_.coin();
  emit(o, {x.tensor}, x.shape, x.dtype);
}

void Generator::append_select_boxes() {
  const int64_t rows = choose_.integer(1, 9), classes = choose_.integer(1, 3);
  fb::SelectBoxesOptionsT o;
  o.most = static_cast<uint32_t>(choose_.integer(1, 9));
  o.max_overlap = float_bits(static_cast<float>(choose_.integer(0, 4)) * 0.25f);
  o.has_least_score = choose_.coin();
  o.least_score = float_bits(choose_.scale(-4, 0));
  o.is_centered = choose_.coin();
  const int64_t room = classes * std::min<int64_t>(o.most, rows);
  const uint32_t boxes = random_constant({1, rows, 4}, DType::kFloat32);
  const uint32_t scores = random_constant({1, classes, rows}, DType::kFloat32);
  m_.op(o, {boxes, scores}, {add_output({room, 3}, DType::kInt64)});
}

void Generator::append_non_zero() {
  const int64_t rows = choose_.integer(1, 9);
  const uint32_t x = random_constant({rows, 3}, choose_.coin() ? DType::kFloat32 : DType::kUInt8);
  m_.op(fb::NonZeroOptionsT(), {x}, {add_output({2, 3 * rows}, DType::kInt64)});
}

void Generator::append_valid_boxes() {
  const int64_t rows = choose_.integer(1, 9);
  const uint32_t x = m_.input({-1, rows, 6}, DType::kInt32);
  fb::ValidBoxesOptionsT o;
  o.threshold = choose_.integer(-70000, 70000);
  const uint32_t count = add_output({-1}, DType::kInt32);
  const uint32_t y = add_output({-1, rows, 6}, DType::kInt32);
  m_.op(o, {x}, {count, y});
}

void Generator::append_suppress_boxes() {
  const int64_t rows = choose_.integer(1, 9);
  fb::SuppressBoxesOptionsT o;
  o.iou_threshold = choose_.integer(1, 100);
  o.max_outputs = choose_.integer(-1, 9);
  o.top_k = choose_.integer(-1, 9);
  o.any_class = choose_.coin();
  const uint32_t x = m_.input({-1, rows, 6}, DType::kInt32), count = m_.input({-1}, DType::kInt32);
  emit(o, {x, count}, {-1, rows, 6}, DType::kInt32);
}

void Generator::append_detection_post_process() {
  const int64_t rows = choose_.integer(1, 9), classes = choose_.integer(1, 4);
  fb::DetectionPostProcessOptionsT o = testing::detection_options(
      static_cast<uint32_t>(classes), static_cast<uint32_t>(choose_.integer(1, 9)));
  o.classes_per_detection = static_cast<uint32_t>(choose_.integer(1, 3));
  o.detections_per_class =
      static_cast<uint32_t>(choose_.integer(1, static_cast<int>(o.max_detections)));
  o.least_score = static_cast<uint32_t>(choose_.integer(0, 256));
  o.max_overlap = float_bits(0.125f * static_cast<float>(choose_.integer(1, 8)));
  o.per_class = choose_.coin();
  const uint32_t boxes = m_.input({-1, rows, choose_.integer(4, 6)});
  const uint32_t scores = m_.input({-1, rows, classes + choose_.integer(0, 1)});
  std::vector<float> anchors;
  for (int64_t i = 0; i < 4 * rows; ++i) anchors.push_back(choose_.scale(-3, 1));
  const uint32_t prior = m_.constant({rows, 4}, DType::kFloat32, anchors);
  const int64_t results = int64_t{o.max_detections} * o.classes_per_detection;
  const std::vector<uint32_t> y = {
      add_output({-1, results, 4}, DType::kFloat32), add_output({-1, results}, DType::kFloat32),
      add_output({-1, results}, DType::kFloat32), add_output({-1}, DType::kFloat32)};
  m_.op(std::move(o), {boxes, scores, prior}, y);
}

void Generator::append_min_max() {
  const Live x = of_type(kIntegers[choose_.integer(0, 5)]);
  fb::MinMaxOptionsT o;
  o.maximum = choose_.coin();
  emit(o, {x.tensor, operand(x)}, x.shape, x.dtype);
}

uint32_t Generator::table_of_pairs(bool to_float) {
  const auto v = choose_.values<uint8_t>(256, 0, 255);
  if (to_float) {
    std::vector<float> table(65536);
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(v[i % 256] * (i / 256));
    return m_.buffer(table);
  }
  std::vector<uint8_t> table(65536);
  for (size_t i = 0; i < table.size(); ++i) table[i] = v[(i % 256) ^ v[i / 256]];
  return m_.buffer(table);
}

void Generator::append_pair_lut() {
  const Live x = bytes();
  const uint32_t b = operand(x);
  fb::PairLutOptionsT o;
  o.to_float = choose_.coin();
  o.table = table_of_pairs(o.to_float);
  emit(o, {x.tensor, b}, x.shape, o.to_float ? DType::kFloat32 : DType::kUInt8);
}

void Generator::append_lut() {
  fb::LutOptionsT o;
  if (choose_.integer(0, 7) == 7) {
    const Live x = of_type(DType::kInt16);
    o.table = m_.buffer(choose_.values<int16_t>(65536, -32768, 32767));
    return emit(o, {x.tensor}, x.shape, DType::kInt16);
  }
  const Live x = pick(
      [](const Live& t) { return t.dtype == DType::kUInt8 || t.dtype == DType::kInt8; },
      [&] { return std::make_pair(choose_.coin() ? DType::kInt8 : DType::kUInt8, any_shape()); });
  o.per_channel = x.shape.rank() >= 2 && choose_.coin();
  o.to_float = choose_.integer(0, 3) == 3;
  const auto tables = static_cast<size_t>(o.per_channel ? x.shape[x.shape.rank() - 1] : 1);
  if (o.to_float) {
    std::vector<float> table;
    for (int32_t v : choose_.values<int32_t>(256 * tables, -4096, 4095))
      table.push_back(static_cast<float>(v) / 64.0f);
    o.table = m_.buffer(table);
    return emit(o, {x.tensor}, x.shape, DType::kFloat32);
  }
  o.table = m_.buffer(choose_.values<uint8_t>(256 * tables, 0, 255));
  emit(o, {x.tensor}, x.shape, choose_.integer(0, 3) == 3 ? DType::kInt8 : DType::kUInt8);
}

void Generator::append_requantize() {
  static constexpr DType kTypes[] = {DType::kUInt8, DType::kInt16, DType::kInt32};
  const Live x = of_type(kTypes[choose_.integer(0, 2)]);
  const DType to = kTypes[choose_.integer(0, 2)];
  fb::RequantizeOptionsT o;
  if (x.dtype == DType::kUInt8) o.input_zero_point = choose_.byte();
  if (x.is_int16()) o.input_zero_point = zero_point_16();
  o.requant = int_requant(1, to);
  std::vector<uint32_t> inputs = {x.tensor};
  if (choose_.coin()) {
    o.negative = stages();
    o.negate_negative = choose_.coin();
    if (x.dtype != DType::kInt32 && choose_.coin()) {
      const int64_t last = x.shape[x.shape.rank() - 1];
      inputs.push_back(random_constant({last > 0 && choose_.coin() ? last : 1}, DType::kInt16));
    }
  }
  emit(std::move(o), std::move(inputs), x.shape, to);
}

void Generator::append_softmax() {
  const Live x = bytes();
  std::vector<float> table(256);
  const float step = choose_.scale(-8, 0);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = std::exp((static_cast<float>(i) - 255.0f) * step);
  fb::SoftmaxOptionsT o;
  if (choose_.integer(0, 3) == 3) {
    o.kind = fb::SoftmaxKind::Q5_26;
    std::vector<int32_t> integers(256);
    for (size_t i = 0; i < table.size(); ++i)
      integers[i] = i == 255 ? INT32_MAX : static_cast<int32_t>(table[i] * 2e9f);
    if (choose_.integer(0, 1) == 1) {  // the logarithm
      for (int d = -255; d <= 0; ++d) integers.push_back(d * (1 << choose_.integer(10, 22)));
      o.stages = stages();
    }
    o.table = m_.buffer(integers);
    return emit(o, {x.tensor}, x.shape);
  }
  if (choose_.integer(0, 3) == 3) {
    std::vector<float> pairs(65536, 1);
    for (size_t m = 0; m < 256; ++m)
      for (size_t q = 0; q < m; ++q) pairs[256 * m + q] = table[255 - m + q];
    o.table = m_.buffer(pairs);
    return emit(o, {x.tensor}, x.shape, DType::kFloat32);
  }
  o.table = m_.buffer(table);
  o.k = float_bits(choose_.scale(4, 9));
  o.zero_point = choose_.byte();
  emit(o, {x.tensor}, x.shape);
}

void Generator::append_l2_normalization() {
  const Live x = bytes();
  fb::L2NormalizationOptionsT o;
  o.zero_point = static_cast<uint8_t>(choose_.byte());
  if (choose_.integer(0, 1) == 1) o.kind = fb::L2NormalizationKind::ONE_ROUNDING;
  emit(o, {x.tensor}, x.shape);
}

void Generator::append_float() {
  using F = fb::FloatFunction;
  fb::FloatOptionsT o;
  const auto& functions = fb::EnumValuesFloatFunction();
  o.function = functions[choose_.integer(0, static_cast<int>(std::size(functions)) - 1)];
  if (o.function == F::TABLE) {
    const Live x = bytes();
    return emit(o, {x.tensor, random_constant({256}, DType::kFloat32)}, x.shape, DType::kFloat32);
  }
  const Live x = of_type(DType::kFloat32);
  Shape shape = x.shape;
  const int last = shape.rank() - 1;
  std::vector<uint32_t> inputs = {x.tensor};
  if ((o.function >= F::ADD && o.function <= F::MAXIMUM) || o.function == F::POW ||
      o.function == F::FMOD || o.function == F::NAN_MINIMUM || o.function == F::NAN_MAXIMUM ||
      o.function == F::KEEP_NONZERO || o.function == F::KEEP_ZERO)
    inputs.push_back(operand(x));
  if ((o.function >= F::REDUCE_SUM && o.function <= F::REDUCE_MIN) ||
      o.function == F::REDUCE_PROD || o.function == F::REDUCE_NAN_MAX ||
      o.function == F::REDUCE_NAN_MIN) {
    if (last == 0) return;  // the batch is no row
    shape[last] = 1;
  }
  if (o.function == F::MATMUL || o.function == F::FUSED_MATMUL) {
    if (last == 0) return;
    const Shape b = {shape[last], choose_.dimension(40)};
    inputs.push_back(random_constant(b, DType::kFloat32));
    shape[last] = b[1];
  }
  if (o.function == F::ORT_CONV) {
    if (last != 3) return;
    o.window = std::make_unique<fb::FloatWindowT>();
    o.window->pad_top = static_cast<uint16_t>(choose_.integer(0, 2));
    o.window->pad_right = static_cast<uint16_t>(choose_.integer(0, 2));
    const int64_t kernel = choose_.integer(1, 2);
    if (shape[2] + o.window->pad_top < kernel || shape[3] + o.window->pad_right < kernel) return;
    const bool is_depthwise = choose_.integer(0, 1) == 1;
    if (is_depthwise) o.window->groups = static_cast<uint32_t>(shape[1]);
    const int64_t out = is_depthwise ? shape[1] : choose_.dimension(20);
    inputs.push_back(
        random_constant({out, is_depthwise ? 1 : shape[1], kernel, kernel}, DType::kFloat32));
    inputs.push_back(random_constant({out}, DType::kFloat32));
    shape = {shape[0], out, shape[2] + o.window->pad_top - kernel + 1,
             shape[3] + o.window->pad_right - kernel + 1};
  }
  if (o.function == F::GRID_SAMPLE) {
    if (last != 3 || shape[3] != 2) return;
    o.grid = std::make_unique<fb::FloatGridT>();
    o.grid->mode = static_cast<fb::GridMode>(choose_.integer(0, 2));
    o.grid->padding = static_cast<fb::GridPadding>(choose_.integer(0, 2));
    o.grid->align_corners = choose_.integer(0, 1) == 1;
    inputs.push_back(x.tensor);  // is a grid of as many places as it has values
    shape = {shape[0], shape[1], shape[1], shape[2]};
  }
  if (o.function == F::WEIGHTED_SUM) {
    if (last == 0) return;
    o.axis = static_cast<uint32_t>(choose_.integer(1, last));
    int64_t& size = shape[static_cast<int>(o.axis)];
    const Shape terms = {choose_.dimension(20), choose_.integer(1, 5)};
    const auto n = static_cast<size_t>(terms.elements());
    inputs.push_back(m_.constant(terms, DType::kInt32,
                                 choose_.values<int32_t>(n, -1, static_cast<int32_t>(size) - 1)));
    inputs.push_back(random_constant(terms, DType::kFloat32));
    size = terms[0];
  }
  if (o.function == F::LAYER_NORM) {
    if (last == 0) return;
    for (int i = choose_.integer(1, 2); i > 0; --i)
      inputs.push_back(random_constant({shape[last]}, DType::kFloat32));
  }
  o.epsilon = float_bits(choose_.scale(-20, 0));
  emit(o, std::move(inputs), shape, DType::kFloat32);
}

}  // namespace qrt::fuzz
