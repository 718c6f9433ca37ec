// SPDX-License-Identifier: Apache-2.0
// A model with open dimensions that has every kind of rule, and the same model with these dimensions fixed.
#ifndef QRT_TESTS_SUPPORT_SIZED_MODEL_H_
#define QRT_TESTS_SUPPORT_SIZED_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/resize_tables.h"
#include "tests/support/model_builder.h"

namespace qrt::testing {

// An expression over sizes, in the order in which a file has it.
struct SizeOf {
  std::vector<fb::SizeFunction> functions;
  std::vector<int32_t> values;

  std::unique_ptr<fb::SizeT> stored() const {
    auto size = std::make_unique<fb::SizeT>();
    size->functions = functions;
    size->values = values;
    return size;
  }
};
inline SizeOf constant_size(int32_t value) { return {{fb::SizeFunction::CONSTANT}, {value}}; }
inline SizeOf symbol_size(int32_t symbol) { return {{fb::SizeFunction::SYMBOL}, {symbol}}; }
inline SizeOf dimension(int32_t input, int32_t d) {
  return {{fb::SizeFunction::DIMENSION}, {8 * input + d}};
}
inline SizeOf applied(fb::SizeFunction function, SizeOf a, const SizeOf& b) {
  a.functions.insert(a.functions.end(), b.functions.begin(), b.functions.end());
  a.values.insert(a.values.end(), b.values.begin(), b.values.end());
  a.functions.push_back(function);
  a.values.push_back(0);
  return a;
}
inline SizeOf operator+(SizeOf a, const SizeOf& b) {
  return applied(fb::SizeFunction::ADD, std::move(a), b);
}
inline SizeOf operator-(SizeOf a, const SizeOf& b) {
  return applied(fb::SizeFunction::SUBTRACT, std::move(a), b);
}
inline SizeOf operator*(SizeOf a, const SizeOf& b) {
  return applied(fb::SizeFunction::MULTIPLY, std::move(a), b);
}
inline SizeOf operator/(SizeOf a, const SizeOf& b) {
  return applied(fb::SizeFunction::DIVIDE, std::move(a), b);
}
inline SizeOf operator+(SizeOf a, int32_t b) { return std::move(a) + constant_size(b); }
inline SizeOf operator-(SizeOf a, int32_t b) { return std::move(a) - constant_size(b); }
inline SizeOf operator*(SizeOf a, int32_t b) { return std::move(a) * constant_size(b); }
inline SizeOf operator/(SizeOf a, int32_t b) { return std::move(a) / constant_size(b); }

inline std::unique_ptr<fb::SizeRuleT> rule(fb::SizeField field, uint32_t index,
                                           const SizeOf& size) {
  auto r = std::make_unique<fb::SizeRuleT>();
  r->field = field;
  r->index = index;
  r->size = size.stored();
  return r;
}

inline void add_symbol(ModelBuilder* m, const std::string& name, uint32_t value, uint32_t least = 1,
                       uint32_t most = 64, uint32_t step = 1) {
  auto s = std::make_unique<fb::SymbolT>();
  s->name = name;
  s->value = value;
  s->least = least;
  s->most = most;
  s->step = step;
  m->model().symbols.push_back(std::move(s));
  m->model().version = 2;
}

// Gives a tensor its sizes, one for each dimension.
inline void set_sizes(ModelBuilder* m, uint32_t tensor, const std::vector<SizeOf>& sizes) {
  for (const SizeOf& size : sizes) m->at(tensor).sizes.push_back(size.stored());
}

// Numbers that repeat after a while.
template <class T>
std::vector<T> some_numbers(size_t count, int least, int most, size_t seed = 0) {
  std::vector<T> numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<T>(least + static_cast<int>((i * 7919 + seed * 104729) %
                                                         static_cast<size_t>(most - least + 1)));
  return numbers;
}

// Images [batch, h, w, 4] through layers whose pads, kernels, tables, maps, scales and shapes all follow from the
// size. `is_open`: h and w are symbols 0 and 1, of which the file has the values given.
class SizedModel {
 public:
  SizedModel(int64_t h, int64_t w, bool is_open) : is_open_(is_open) {
    if (is_open) {
      add_symbol(&m_, "h", static_cast<uint32_t>(h), 2);
      add_symbol(&m_, "w", static_cast<uint32_t>(w), 3);
    }
    const uint32_t x = m_.input({-1, h, w, 4}, DType::kUInt8, "x");
    if (is_open)
      set_sizes(&m_, x, {constant_size(-1), symbol_size(0), symbol_size(1), constant_size(4)});
    const int64_t oh = (h + 1) / 2, ow = (w + 1) / 2;
    const uint32_t strided = conv(x, h, w, m_.tensor({-1, oh, ow, 8}));
    const uint32_t pooled = max_pool(strided, oh, ow);
    const uint32_t resized = resize(pooled, (oh + 1) / 2, (ow + 1) / 2, oh, ow);
    const uint32_t sum = m_.tensor({-1, oh, ow, 8});
    fb::AddOptionsT add;
    add.a_scale = float_bits(0.5f);
    add.b_scale = float_bits(0.5f);
    m_.op(add, {strided, resized}, {sum});
    const int64_t gw = 1 + ow + ow / 2;
    const uint32_t gathered = gather(sum, oh, ow, m_.tensor({-1, 2 * oh, gw, 8}));
    mean(gathered, 2 * oh, gw);
    columns(gathered, 2 * oh, gw);
    depthwise(sum, oh, ow);
  }

  ModelBuilder& builder() { return m_; }
  std::vector<uint8_t> build() const { return m_.build(); }

 private:
  void add_rule(fb::OperatorT& op, std::unique_ptr<fb::SizeRuleT> rule) {
    if (is_open_) op.sizes.push_back(std::move(rule));
  }

  // Pads of a 3 x 3 window with stride 2 so that ceil(size / 2) windows fit, the greater half behind.
  static int64_t pads(int64_t size) { return ((size + 1) / 2 - 1) * 2 + 3 - size; }
  static SizeOf pads(const SizeOf& size) { return ((size + 1) / 2 - 1) * 2 + 3 - size; }
  template <class Options>
  static void set_pads(Options* o, int64_t h, int64_t w) {
    o->stride_h = o->stride_w = 2;
    o->pad_top = static_cast<uint16_t>(pads(h) / 2);
    o->pad_bottom = static_cast<uint16_t>(pads(h) - pads(h) / 2);
    o->pad_left = static_cast<uint16_t>(pads(w) / 2);
    o->pad_right = static_cast<uint16_t>(pads(w) - pads(w) / 2);
  }
  void add_pad_rules(fb::OperatorT& op) {
    const SizeOf h = pads(dimension(0, 1)), w = pads(dimension(0, 2));
    add_rule(op, rule(fb::SizeField::PAD_TOP, 0, h / 2));
    add_rule(op, rule(fb::SizeField::PAD_LEFT, 0, w / 2));
    add_rule(op, rule(fb::SizeField::PAD_BOTTOM, 0, h - h / 2));
    add_rule(op, rule(fb::SizeField::PAD_RIGHT, 0, w - w / 2));
  }

  uint32_t conv(uint32_t x, int64_t h, int64_t w, uint32_t y) {
    fb::Conv2DOptionsT o;
    set_pads(&o, h, w);
    o.input_zero_point = 128;
    const std::vector<int8_t> weights = some_numbers<int8_t>(8 * 9 * 4, -20, 20);
    for (size_t c = 0; c < 8; ++c) {
      int32_t sum = 0;
      for (size_t i = 0; i < 36; ++i) sum += weights[c * 36 + i];
      o.weight_sum.push_back(sum);
    }
    std::vector<int32_t> bias;
    for (int32_t sum : o.weight_sum) bias.push_back(64 - 128 * sum);
    o.requant = requant_f32({0.004f, 0.005f, 0.006f, 0.007f, 0.008f, 0.009f, 0.01f, 0.011f}, 100);
    add_pad_rules(
        m_.op(std::move(o), {x, m_.gemm_weights({8, 3, 3, 4}, weights), m_.bias(bias)}, {y}));
    return y;
  }

  void depthwise(uint32_t x, int64_t h, int64_t w) {
    fb::DepthwiseConv2DOptionsT o;
    set_pads(&o, h, w);
    o.input_zero_point = 100;
    const std::vector<int8_t> weights = some_numbers<int8_t>(9 * 8, -60, 60, 1);
    for (size_t c = 0; c < 8; ++c) {
      int32_t sum = 0;
      for (size_t i = 0; i < 9; ++i) sum += weights[i * 8 + c];
      o.weight_sum.push_back(sum);
    }
    o.requant = requant_int(1 << 20, 28, 90);
    const uint32_t y = output({-1, (h + 1) / 2, (w + 1) / 2, 8}, "depthwise",
                              {constant_size(-1), halved(halved(symbol_size(0))),
                               halved(halved(symbol_size(1))), constant_size(8)});
    add_pad_rules(m_.op(
        std::move(o),
        {x, m_.depthwise_weights({3, 3, 8}, weights), m_.bias(some_numbers<int32_t>(8, -50, 50))},
        {y}));
  }

  // Adds a pool of 2 x 2 with stride 2, whose last window reaches beyond the image where its size is odd.
  uint32_t max_pool(uint32_t x, int64_t h, int64_t w) {
    fb::MaxPool2DOptionsT o;
    o.kernel_h = o.kernel_w = o.stride_h = o.stride_w = 2;
    o.pad_bottom = static_cast<uint16_t>(h % 2);
    o.pad_right = static_cast<uint16_t>(w % 2);
    const uint32_t y = m_.tensor({-1, (h + 1) / 2, (w + 1) / 2, 8});
    fb::OperatorT& op = m_.op(o, {x}, {y});
    const SizeOf dh = dimension(0, 1), dw = dimension(0, 2);
    add_rule(op, rule(fb::SizeField::PAD_BOTTOM, 0, dh - dh / 2 * 2));
    add_rule(op, rule(fb::SizeField::PAD_RIGHT, 0, dw - dw / 2 * 2));
    return y;
  }

  static std::unique_ptr<fb::ResizeAxisT> table(int64_t in, int64_t out) {
    auto axis = std::make_unique<fb::ResizeAxisT>();
    const ResizedAxis a = {in, out, resize_scale(in, out)};
    for (int64_t i = 0; i < out; ++i) {
      const LinearTap tap = linear_tap(fb::ResizeKind::F32_TRUNCATED, a,
                                       resize_coordinate(fb::ResizeCoordinates::HALF_PIXEL, a, i));
      axis->low.push_back(tap.low);
      axis->high.push_back(tap.high);
      axis->low_weight.push_back(tap.low_weight);
      axis->high_weight.push_back(tap.high_weight);
    }
    return axis;
  }

  uint32_t resize(uint32_t x, int64_t in_h, int64_t in_w, int64_t h, int64_t w) {
    fb::ResizeLinearOptionsT o;
    o.kind = fb::ResizeKind::F32_TRUNCATED;
    o.h = table(in_h, h);
    o.w = table(in_w, w);
    const uint32_t y = m_.tensor({-1, h, w, 8});
    fb::OperatorT& op = m_.op(std::move(o), {x}, {y});
    for (uint32_t axis = 0; axis < 2; ++axis) {
      // The size in front of the pool.
      auto r = rule(fb::SizeField::RESIZE, axis, (symbol_size(static_cast<int32_t>(axis)) + 1) / 2);
      r->resize = std::make_unique<fb::ResizeRuleT>();
      add_rule(op, std::move(r));
    }
    return y;
  }

  // Rows twice; one column of the fill value, all columns, and the first half of them from the end.
  uint32_t gather(uint32_t x, int64_t h, int64_t w, uint32_t y) {
    fb::GatherOptionsT o;
    o.fill = 7;
    for (uint8_t axis : {1, 2}) {
      o.axes.push_back(std::make_unique<fb::GatherAxisT>());
      o.axes.back()->axis = axis;
    }
    for (int64_t i = 0; i < 2 * h; ++i) o.axes[0]->index.push_back(static_cast<int32_t>(i / 2));
    o.axes[1]->index.push_back(-1);
    for (int64_t i = 0; i < w; ++i) o.axes[1]->index.push_back(static_cast<int32_t>(i));
    for (int64_t i = 0; i < w / 2; ++i) o.axes[1]->index.push_back(static_cast<int32_t>(w - 1 - i));
    fb::OperatorT& op = m_.op(std::move(o), {x}, {y});
    auto rows = rule(fb::SizeField::MAP, 0, dimension(0, 1) * 2);
    rows->resize = std::make_unique<fb::ResizeRuleT>();
    rows->resize->coordinates = fb::ResizeCoordinates::ASYMMETRIC;
    rows->resize->rounding = fb::ResizeRounding::FLOOR;
    rows->resize->scale = float_bits(2.0f);
    add_rule(op, std::move(rows));
    auto columns = std::make_unique<fb::SizeRuleT>();
    columns->field = fb::SizeField::MAP;
    columns->index = 1;
    const SizeOf dw = dimension(0, 2);
    columns->pieces.push_back(index_piece(constant_size(1), nullptr, 1));
    columns->pieces.back()->is_fill = true;
    const SizeOf zero = constant_size(0), last = dw - 1;
    columns->pieces.push_back(index_piece(dw, &zero, 1));
    columns->pieces.push_back(index_piece(dw / 2, &last, -1));
    add_rule(op, std::move(columns));
    return y;
  }
  static std::unique_ptr<fb::IndexPieceT> index_piece(const SizeOf& count, const SizeOf* begin,
                                                      int32_t step) {
    auto p = std::make_unique<fb::IndexPieceT>();
    p->count = count.stored();
    if (begin != nullptr) p->begin = begin->stored();
    p->step = step;
    return p;
  }

  void mean(uint32_t x, int64_t h, int64_t w) {
    fb::GlobalAveragePool2DOptionsT o;
    o.input_zero_point = 5;
    const float numerator = 0.3f, denominator = 0.11f;
    const float divisor = denominator * static_cast<float>(h * w);
    o.requant = requant_f32({numerator / divisor}, 5);
    const uint32_t y = output({-1, 1, 1, 8}, "mean", {});
    fb::OperatorT& op = m_.op(std::move(o), {x}, {y});
    auto r = rule(fb::SizeField::MEAN, 0, dimension(0, 1) * dimension(0, 2));
    r->numerator = float_bits(numerator);
    r->denominator = float_bits(denominator);
    add_rule(op, std::move(r));
  }

  // Adds the mean over h of every column, [1, w, 8], and reshapes it to [w * 8].
  void columns(uint32_t x, int64_t h, int64_t w) {
    fb::AveragePool2DOptionsT o;
    o.kernel_h = static_cast<uint32_t>(h);
    o.input_scale = float_bits(0.02f);
    o.input_zero_point = 7;
    o.output_scale = float_bits(0.03f);
    o.output_zero_point = 11;
    const uint32_t mean = m_.tensor({-1, 1, w, 8});
    add_rule(m_.op(o, {x}, {mean}), rule(fb::SizeField::KERNEL_H, 0, dimension(0, 1)));
    fb::ReshapeOptionsT reshape;
    reshape.shape = {-1, static_cast<int32_t>(w * 8)};
    const SizeOf half = halved(symbol_size(1));
    const uint32_t y =
        output({-1, w * 8}, "columns", {constant_size(-1), (half + 1 + half / 2) * 8});
    add_rule(m_.op(reshape, {mean}, {y}),
             rule(fb::SizeField::SHAPE, 1, dimension(0, 2) * dimension(0, 3)));
  }

  static SizeOf halved(SizeOf size) { return (std::move(size) + 1) / 2; }

  uint32_t output(const Shape& shape, const std::string& name, const std::vector<SizeOf>& sizes) {
    const uint32_t y = m_.output(shape, DType::kUInt8, name);
    if (is_open_) set_sizes(&m_, y, sizes);
    return y;
  }

  ModelBuilder m_;
  const bool is_open_;
};

// Returns a model that adds x [batch, n] UINT8 to a running total; n is the symbol. `is_sized`: the
// total has n elements, too; otherwise its size is constant and the first n elements change.
inline ModelBuilder sized_counter(uint32_t n) {
  ModelBuilder m;
  add_symbol(&m, "n", n, 1, 1000);
  const uint32_t x = m.input({1, n}, DType::kUInt8, "x");
  const uint32_t total = m.tensor({1, n}, DType::kUInt8, "total");
  const uint32_t calls = m.tensor({1, 4}, DType::kUInt8, "calls");
  const uint32_t one = m.input({1, 4}, DType::kUInt8, "one");
  for (const uint32_t t : {x, total}) set_sizes(&m, t, {constant_size(1), symbol_size(0)});
  const uint32_t y = m.output({1, n}, DType::kUInt8, "y");
  const uint32_t next = m.output({1, 4}, DType::kUInt8, "called");
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = float_bits(1.0f);
  m.op(add, {x, total}, {y});
  m.op(add, {one, calls}, {next});
  m.variable(total, y, 3);
  m.variable(calls, next, 0);
  return m;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_SIZED_MODEL_H_
