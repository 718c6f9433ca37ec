// SPDX-License-Identifier: Apache-2.0
// Recurrent: an RNN, GRU or LSTM over a sequence. The products of all steps of x come first, as rows of one product; the rows of a
// batch and the directions are independent from then on, the steps of one are not.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/float_fallback/float_fallback.h"
#include "kernels/integer_build.h"
#include "runtime/checked.h"
#include "runtime/ops/byte_product.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

using Cell = fb::RecurrentCell;
using Direction = fb::RecurrentDirection;

size_t gates_of(Cell cell) { return cell == Cell::LSTM ? 4 : cell == Cell::GRU ? 3 : 1; }

// The indices of the optional inputs behind x, w, r and b; 0 for one that is absent.
struct Slots {
  Slots(const fb::RecurrentOptions& o, bool has_bytes) {
    const auto next = [this](bool has) { return has ? count++ : 0; };
    w_scale = next(has_bytes);
    r_scale = next(has_bytes);
    reset_bias = next(o.resets_after());
    peepholes = next(o.has_peepholes());
    lengths = next(o.has_lengths());
    hidden = next(o.has_hidden());
    content = next(o.has_content());
  }
  size_t count = 4, w_scale, r_scale, reset_bias, peepholes, lengths, hidden, content;
};

// Returns whether the weights are bytes.
bool has_bytes(const InferContext& context) {
  return context.inputs.size() > 1 && context.inputs[1].type.dtype == DType::kUInt8;
}

struct Sizes {
  explicit Sizes(const InferContext& context) {
    const auto& o = *context.op->options_as<fb::RecurrentOptions>();
    const Shape& x = context.inputs[0].type.shape;
    steps = x[0], rows = x[1], in = x[2];
    cells = context.inputs[2].type.shape[1];
    directions = o.direction() == Direction::BIDIRECTIONAL ? 2 : 1;
    width = static_cast<int64_t>(gates_of(o.cell())) * cells;
  }
  int64_t steps, rows, in, cells, directions;
  int64_t width;  // all gates of all cells
};

Status check_options(const fb::RecurrentOptions& o) {
  QRT_TRY(check_range("cell", static_cast<int>(o.cell()), 0, static_cast<int>(Cell::MAX)));
  QRT_TRY(check_range("direction", static_cast<int>(o.direction()), 0,
                      static_cast<int>(Direction::MAX)));
  QRT_MODEL_CHECK(
      o.cell() == Cell::LSTM || !(o.has_peepholes() || o.has_content() || o.couples_forget()),
      "has_peepholes, has_content and couples_forget are of LSTM, the cell is %s",
      fb::EnumNameRecurrentCell(o.cell()));
  QRT_MODEL_CHECK(o.cell() == Cell::GRU || !o.resets_after(),
                  "resets_after is of GRU, the cell is %s", fb::EnumNameRecurrentCell(o.cell()));
  QRT_MODEL_CHECK(o.cell() == Cell::RNN || !o.is_relu(), "is_relu is of RNN, the cell is %s",
                  fb::EnumNameRecurrentCell(o.cell()));
  const float clip = float_of(o.clip());
  QRT_MODEL_CHECK(clip >= 0, "clip is %g, expected at least 0", static_cast<double>(clip));
  QRT_TRY(check_range("x_block", o.x_block(), 1, UINT32_MAX));
  return check_range("h_block", o.h_block(), 1, UINT32_MAX);
}

// Checks the scales and zero points of weights that are bytes.
Status check_bytes(const InferContext& context, const fb::RecurrentOptions& o, const Slots& slots,
                   const Sizes& s) {
  QRT_MODEL_CHECK(o.cell() == Cell::LSTM,
                  "the weights are uint8, which are of LSTM, the cell is %s",
                  fb::EnumNameRecurrentCell(o.cell()));
  QRT_TRY(check_range("the number of inputs", s.in, 1, ByteProduct::kMostIndices));
  QRT_TRY(check_range("the number of cells", s.cells, 1, ByteProduct::kMostIndices));
  for (const auto* zero_points : {o.w_zero_point(), o.r_zero_point()}) {
    const size_t count = zero_points == nullptr ? 0 : zero_points->size();
    QRT_MODEL_CHECK(count == static_cast<size_t>(s.directions),
                    "weights have %zu zero points, expected one for each direction", count);
  }
  for (const size_t i : {slots.w_scale, slots.r_scale}) {
    const bool by_column = context.inputs[i].type.shape.rank() == 2;
    QRT_TRY(check_plain_constant(context, i, "scales", DType::kFloat32,
                                 by_column ? Shape{s.directions, s.width} : Shape{s.directions}));
  }
  return Status();
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  if (is_integer_build())
    return error(Code::kUnsupported,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
  const auto& o = *context.op->options_as<fb::RecurrentOptions>();
  QRT_TRY(check_options(o));
  const bool of_bytes = has_bytes(context);
  const Slots slots(o, of_bytes);
  QRT_TRY(check_input_count(context, slots.count));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  QRT_TRY(check_rank(context, 0, "x", 3, "[time, n, in]"));
  QRT_TRY(check_rank(context, 2, "recurrent weights", 3, "[directions, cells, gates * cells]"));
  const Sizes s(context);
  const Shape state = {s.directions, s.rows, s.cells};
  const auto constant = [&](size_t i, const char* what, const Shape& shape) {
    return i == 0 ? Status() : check_plain_constant(context, i, what, DType::kFloat32, shape);
  };
  const DType weights = of_bytes ? DType::kUInt8 : DType::kFloat32;
  QRT_TRY(check_plain_constant(context, 1, "weights", weights, {s.directions, s.in, s.width}));
  QRT_TRY(check_plain_constant(context, 2, "recurrent weights", weights,
                               {s.directions, s.cells, s.width}));
  if (of_bytes) QRT_TRY(check_bytes(context, o, slots, s));
  QRT_TRY(constant(3, "bias", {s.directions, s.width}));
  QRT_TRY(constant(slots.reset_bias, "recurrent bias", {s.directions, s.cells}));
  QRT_TRY(constant(slots.peepholes, "peepholes", {s.directions, 3 * s.cells}));
  if (slots.lengths != 0)
    QRT_TRY(check_type(context, slots.lengths, "lengths", DType::kInt32, {s.rows}));
  if (slots.hidden != 0)
    QRT_TRY(check_type(context, slots.hidden, "hidden", DType::kFloat32, state));
  if (slots.content != 0)
    QRT_TRY(check_type(context, slots.content, "content", DType::kFloat32, state));
  QRT_TRY(add_output(DType::kFloat32, {s.steps, s.directions, s.rows, s.cells}, outputs));
  QRT_TRY(add_output(DType::kFloat32, state, outputs));
  return o.cell() == Cell::LSTM ? add_output(DType::kFloat32, state, outputs) : Status();
}

struct Params {
  Params(const fb::RecurrentOptions& o, bool of_bytes, const Sizes& s)
      : cell(o.cell()),
        is_reverse(o.direction() == Direction::REVERSE),
        slots(o, of_bytes),
        steps(static_cast<size_t>(s.steps)),
        rows(static_cast<size_t>(s.rows)),
        in(static_cast<size_t>(s.in)),
        cells(static_cast<size_t>(s.cells)),
        directions(static_cast<size_t>(s.directions)),
        width(static_cast<size_t>(s.width)) {
    gates.cells = cells;
    gates.clip = float_of(o.clip());
    gates.nan_is_clip = o.nan_is_clip();
    gates.couples_forget = o.couples_forget();
    gates.is_relu = o.is_relu();
    counts_ended = o.counts_ended();
  }

  bool goes_back(size_t direction) const { return is_reverse || direction == 1; }

  const FloatKernel* kernel;
  Cell cell;
  bool is_reverse;
  Slots slots;
  RecurrentGates gates{};  // but for bias and peepholes
  size_t steps, rows, in, cells, directions, width;
  OrtGemm x_product{}, h_product{};
  size_t x_tasks, tasks;
  struct Bytes {
    ByteProduct x, h;
    bool w_by_column, r_by_column;
    // Offsets in the scratch memory, in bytes: the quantised steps of x and their sums, and the hidden states of each
    // direction and theirs.
    size_t x_at, x_sums_at, h_at, h_sums_at;
    size_t h_bytes, h_sum_bytes;  // of a direction
  };
  std::unique_ptr<Bytes> bytes;  // for weights that are bytes; else null
  bool counts_ended;
  // Floats of the scratch memory, each part at a multiple of the alignment: zeros, then the products with x [directions][steps *
  // rows][width], and of each direction and row what its steps work in: width of x, as they follow each other, width of sums, and of
  // a GRU twice as many as cells.
  size_t products_at, lines_at, line;
};

const float* floats(const uint8_t* p) { return reinterpret_cast<const float*>(p); }
float* floats(uint8_t* p) { return reinterpret_cast<float*>(p); }

// The rows [begin, end) of one direction in a run.
class Rows {
 public:
  Rows(const Step& step, const RunContext& context, size_t direction, size_t begin, size_t end)
      : p_(step.as<Params>()),
        direction_(direction),
        begin_(begin),
        count_(end - begin),
        gates_(p_.gates),
        scratch_(context.scratch),
        products_(floats(context.scratch) + p_.products_at +
                  direction * p_.steps * p_.rows * p_.width),
        y_(floats(context.out(step, 0))) {
    gates_.bias = floats(context.in(step, 3)) + direction * p_.width;
    if (p_.slots.peepholes != 0)
      gates_.peepholes = floats(context.in(step, p_.slots.peepholes)) + direction * 3 * p_.cells;
    if (p_.slots.reset_bias != 0)
      reset_bias_ = floats(context.in(step, p_.slots.reset_bias)) + direction * p_.cells;
    if (p_.slots.lengths != 0)
      lengths_ = reinterpret_cast<const int32_t*>(context.in(step, p_.slots.lengths)) + begin;
    if (p_.bytes == nullptr)
      recurrent_ = floats(context.in(step, 2)) + direction * p_.cells * p_.width;
    else
      scales_ = floats(context.in(step, p_.slots.r_scale)) +
                direction * (p_.bytes->r_by_column ? p_.width : 1);
    const size_t row = direction * p_.rows + begin;
    float* const lines = floats(context.scratch) + p_.lines_at + row * p_.line;
    given_ = lines;
    sums_ = given_ + count_ * p_.width;
    reset_ = sums_ + count_ * p_.width;
    linear_ = reset_ + count_ * p_.cells;
    hidden_ = begin_state(step, context, p_.slots.hidden, 1, row);
    if (p_.cell == Cell::LSTM) content_ = begin_state(step, context, p_.slots.content, 2, row);
  }

  void run() {
    size_t most = 0;
    for (size_t r = 0; r < count_; ++r) {
      most = std::max(most, length(r));
      for (size_t t = length(r); t < p_.steps; ++t) memset(y(t, r), 0, p_.cells * sizeof(float));
    }
    for (size_t s = 0; s < most; ++s) {
      const float* const given = take_products(s);
      multiply_step(s, given);
      for (size_t r = 0; r < count_; ++r) {
        if (s >= length(r)) continue;
        float* const hidden = hidden_ + r * p_.cells;
        finish(r, given, hidden);
        memcpy(y(time(s, r), r), hidden, p_.cells * sizeof(float));
      }
    }
    for (size_t r = 0; r < count_; ++r) {
      if (length(r) > 0) continue;
      memset(hidden_ + r * p_.cells, 0, p_.cells * sizeof(float));
      if (content_ != nullptr) memset(content_ + r * p_.cells, 0, p_.cells * sizeof(float));
    }
  }

 private:
  size_t length(size_t r) const {
    return lengths_ == nullptr ? p_.steps : static_cast<size_t>(lengths_[r]);
  }
  // Returns which element of its sequence row r takes in step s.
  size_t time(size_t s, size_t r) const { return p_.goes_back(direction_) ? length(r) - 1 - s : s; }
  float* y(size_t t, size_t r) const {
    return y_ + ((t * p_.directions + direction_) * p_.rows + begin_ + r) * p_.cells;
  }

  // Returns the state that output `out` ends with, at what it begins with.
  float* begin_state(const Step& step, const RunContext& context, size_t in, size_t out,
                     size_t row) const {
    const size_t at = row * p_.cells, bytes = count_ * p_.cells * sizeof(float);
    float* const state = floats(context.out(step, out)) + at;
    if (in != 0)
      memcpy(state, floats(context.in(step, in)) + at, bytes);
    else
      memset(state, 0, bytes);
    return state;
  }

  // Returns the products with x of all rows in step s, one after the other.
  const float* take_products(size_t s) const {
    const auto at = [this](size_t t) { return products_ + (t * p_.rows + begin_) * p_.width; };
    if (lengths_ == nullptr) return at(time(s, 0));
    for (size_t r = 0; r < count_; ++r) {
      float* const to = given_ + r * p_.width;
      if (s < length(r))
        memcpy(to, at(time(s, r)) + r * p_.width, p_.width * sizeof(float));
      else
        memset(to, 0, p_.width * sizeof(float));
    }
    return given_;
  }

  // Multiplies `a`, as many values a row as there are cells, by n columns of the recurrent weights.
  void multiply(const float* a, size_t column, size_t n, const float* bias, size_t bias_step,
                float* sums, size_t stride) const {
    OrtGemm product = p_.h_product;
    product.n = n;
    product.b_stride = p_.width;
    product.y_stride = stride;
    p_.kernel->ort_gemm(product, a, count_, recurrent_ + column, bias, bias_step, sums);
  }

  // Makes the sums of all gates of a step.
  void multiply_step(size_t s, const float* given) const {
    if (p_.bytes != nullptr) return multiply_bytes(s, given);
    if (p_.cell == Cell::GRU) return multiply_gru(given);
    if (p_.cell == Cell::LSTM)
      return multiply(hidden_, 0, p_.width, given, p_.width, sums_, p_.width);
    multiply(hidden_, 0, p_.width, floats(scratch_), 0, sums_, p_.width);
  }

  // Quantises the hidden states by the range of all that count.
  void multiply_bytes(size_t s, const float* given) const {
    const Params::Bytes& bytes = *p_.bytes;
    Extremes all;
    for (size_t r = 0; r < count_; ++r) {
      if (s > length(r) && !(p_.counts_ended && length(r) > 0)) continue;
      bytes.h.edge().extremes(hidden_ + r * p_.cells, p_.cells, &all.least, &all.most);
    }
    const DynamicScale scale(all);
    const ByteRows rows = {
        scratch_ + bytes.h_at + direction_ * bytes.h_bytes,
        reinterpret_cast<uint32_t*>(scratch_ + bytes.h_sums_at + direction_ * bytes.h_sum_bytes)};
    bytes.h.quantize(hidden_, scale, 0, count_, rows);
    bytes.h.run(direction_, rows, scale, scales_, bytes.r_by_column, 0, count_, given, sums_);
  }

  void multiply_gru(const float* given) const {
    const size_t cells = p_.cells, width = p_.width;
    multiply(hidden_, 0, 2 * cells, given, width, sums_, width);
    if (reset_bias_ != nullptr) multiply(hidden_, 2 * cells, cells, reset_bias_, 0, linear_, cells);
    const float* const x = reset_bias_ != nullptr ? linear_ : hidden_;
    for (size_t r = 0; r < count_; ++r)
      p_.kernel->recurrent(RecurrentStage::kGruReset, gates_, sums_ + r * width, x + r * cells,
                           nullptr, reset_ + r * cells);
    if (reset_bias_ == nullptr)
      return multiply(reset_, 2 * cells, cells, given + 2 * cells, width, sums_ + 2 * cells, width);
    for (size_t r = 0; r < count_; ++r)
      p_.kernel->binary(FloatBinary::kAdd, given + r * width + 2 * cells, 1, reset_ + r * cells, 1,
                        sums_ + r * width + 2 * cells, cells);
  }

  // Makes the hidden state of row r from its sums.
  void finish(size_t r, const float* given, float* hidden) const {
    const float* const sums = sums_ + r * p_.width;
    switch (p_.cell) {
      case Cell::RNN:
        return p_.kernel->recurrent(RecurrentStage::kRnn, gates_, sums, given + r * p_.width,
                                    nullptr, hidden);
      case Cell::GRU:
        return p_.kernel->recurrent(RecurrentStage::kGruOutput, gates_, sums, hidden, nullptr,
                                    hidden);
      case Cell::LSTM:
        return p_.kernel->recurrent(RecurrentStage::kLstm, gates_, sums, nullptr,
                                    content_ + r * p_.cells, hidden);
    }
  }

  const Params& p_;
  const size_t direction_, begin_, count_;
  RecurrentGates gates_;
  uint8_t* const scratch_;
  const float* const products_;
  const float* recurrent_ = nullptr;
  const float* scales_ = nullptr;  // of recurrent weights that are bytes
  const float* reset_bias_ = nullptr;
  const int32_t* lengths_ = nullptr;
  float* const y_;
  float *given_, *sums_, *reset_, *linear_, *hidden_, *content_ = nullptr;
};

// Returns whether all lengths lie within the sequence. Tells the run of the first that does not.
bool are_lengths(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  if (p.slots.lengths == 0) return true;
  const auto* lengths = reinterpret_cast<const int32_t*>(context.in(step, p.slots.lengths));
  for (size_t r = 0; r < p.rows; ++r) {
    if (lengths[r] >= 0 && static_cast<size_t>(lengths[r]) <= p.steps) continue;
    RunFailure& failure = *context.failure;
    failure.step = &step;
    failure.index = lengths[r];
    failure.size = p.steps;
    failure.input = p.slots.lengths;
    failure.is_length = true;
    return false;
  }
  return true;
}

// Calls f(direction, begin, end) for parts of `count` rows of each direction.
template <class F>
void for_rows(const RunContext& context, size_t tasks, size_t directions, size_t count,
              const F& f) {
  for_chunks(*context.parallel, tasks, directions * count, 1,
             [&](size_t, size_t begin, size_t end) {
               while (begin < end) {
                 const size_t direction = begin / count, first = direction * count;
                 const size_t last = std::min(end, first + count);
                 f(direction, begin - first, last - first);
                 begin = last;
               }
             });
}

// Multiplies the rows of all steps of x by the weights.
void multiply_inputs(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  float* const scratch = floats(context.scratch);
  const size_t inputs = p.steps * p.rows;
  for_rows(context, p.x_tasks, p.directions, inputs,
           [&](size_t direction, size_t begin, size_t end) {
             // An RNN's products begin with the bias; the others add theirs to the whole sum.
             const float* const bias = floats(context.in(step, 3)) + direction * p.width;
             const float* const w = floats(context.in(step, 1)) + direction * p.in * p.width;
             p.kernel->ort_gemm(p.x_product, floats(context.in(step, 0)) + begin * p.in,
                                end - begin, w, p.cell == Cell::RNN ? bias : scratch, 0,
                                scratch + p.products_at + (direction * inputs + begin) * p.width);
           });
}

// Multiplies x by weights that are bytes. All steps up to the greatest length are quantised by one range.
void multiply_input_bytes(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Params::Bytes& bytes = *p.bytes;
  const size_t inputs = p.steps * p.rows;
  size_t counted = inputs;
  if (p.slots.lengths != 0) {
    const auto* lengths = reinterpret_cast<const int32_t*>(context.in(step, p.slots.lengths));
    counted = static_cast<size_t>(*std::max_element(lengths, lengths + p.rows)) * p.rows;
  }
  const float* const x = floats(context.in(step, 0));
  Extremes all;
  bytes.x.edge().extremes(x, counted * p.in, &all.least, &all.most);
  const DynamicScale scale(all);
  const ByteRows rows = {context.scratch + bytes.x_at,
                         reinterpret_cast<uint32_t*>(context.scratch + bytes.x_sums_at)};
  for_chunks(*context.parallel, p.x_tasks, inputs, 1, [&](size_t, size_t begin, size_t end) {
    bytes.x.quantize(x, scale, begin, end, rows);
  });
  for_rows(context, p.x_tasks, p.directions, inputs,
           [&](size_t direction, size_t begin, size_t end) {
             const float* const scales = floats(context.in(step, p.slots.w_scale)) +
                                         direction * (bytes.w_by_column ? p.width : 1);
             bytes.x.run(direction, rows, scale, scales, bytes.w_by_column, begin, end, nullptr,
                         floats(context.scratch) + p.products_at + direction * inputs * p.width);
           });
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  if (!are_lengths(step, context)) return;
  memset(context.scratch, 0, p.width * sizeof(float));
  if (p.bytes != nullptr)
    multiply_input_bytes(step, context);
  else
    multiply_inputs(step, context);
  for_rows(context, p.tasks, p.directions, p.rows, [&](size_t direction, size_t begin, size_t end) {
    Rows(step, context, direction, begin, end).run();
  });
}

// Lays out the scratch memory.
Status plan_scratch(Params* p, PlannedStep* step) {
  constexpr size_t kFloats = kAlignment / sizeof(float);
  size_t line = 0, lines = 0, products = 0, cells = 0, floats = 0;
  const bool fits = checked_align(p->width, kFloats, &p->products_at) &&
                    checked_mul(p->cells, 2, &cells) && checked_mul(p->width, 2, &line) &&
                    checked_add(line, cells, &line) &&
                    checked_align(product_or_most({p->directions, p->steps, p->rows, p->width}),
                                  kFloats, &products) &&
                    checked_add(p->products_at, products, &p->lines_at) &&
                    checked_mul(line, p->directions * p->rows, &lines) &&
                    checked_add(p->lines_at, lines, &floats) &&
                    checked_mul(floats, sizeof(float), &step->scratch_bytes);
  p->line = line;
  return fits ? Status()
              : error(Code::kOutOfMemory,
                      "the products of all steps take more memory than there is");
}

// Plans the products of weights that are bytes, and adds their part of the scratch memory.
Status prepare_bytes(const PrepareContext& context, Params* p, PlannedStep* step) {
  const auto& o = *context.op->options_as<fb::RecurrentOptions>();
  p->bytes = std::make_unique<Params::Bytes>();
  Params::Bytes& bytes = *p->bytes;
  QRT_TRY(bytes.x.prepare(context, 1, p->steps * p->rows, *o.w_zero_point()));
  QRT_TRY(bytes.h.prepare(context, 2, p->rows, *o.r_zero_point()));
  bytes.w_by_column = context.inputs[p->slots.w_scale].type.shape.rank() == 2;
  bytes.r_by_column = context.inputs[p->slots.r_scale].type.shape.rank() == 2;
  bool fits = true;
  const auto append = [&](size_t count, size_t each, size_t* at) {
    fits = fits && checked_align(step->scratch_bytes, kAlignment, at) &&
           checked_add(*at, product_or_most({count, each}), &step->scratch_bytes);
  };
  const auto aligned = [&](size_t size) {
    size_t bytes_of_it = 0;
    fits = fits && checked_align(size, kAlignment, &bytes_of_it);
    return bytes_of_it;
  };
  const size_t inputs = p->steps * p->rows;
  bytes.h_bytes = aligned(product_or_most({p->rows, p->cells}));
  bytes.h_sum_bytes = aligned(p->rows * sizeof(uint32_t));
  append(inputs, sizeof(uint32_t), &bytes.x_sums_at);
  append(p->directions, bytes.h_sum_bytes, &bytes.h_sums_at);
  append(p->directions, bytes.h_bytes, &bytes.h_at);
  append(inputs, p->in, &bytes.x_at);
  return fits ? Status()
              : error(Code::kOutOfMemory, "the quantised steps take more memory than there is");
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto& o = *context.op->options_as<fb::RecurrentOptions>();
  const bool of_bytes = has_bytes(context);
  auto params = make_planned<Params>(o, of_bytes, Sizes(context));
  Params& p = *params;
  p.kernel = select_float(context.isas);
  p.x_product = {OrtGemmOrder::kBlocks, p.in, p.width, o.x_block(), 1.0f};
  p.h_product = {OrtGemmOrder::kBlocks, p.cells, p.width, o.h_block(), 1.0f};
  QRT_TRY(plan_scratch(&p, step));
  if (of_bytes) QRT_TRY(prepare_bytes(context, &p, step));
  const double rows = static_cast<double>(p.directions) * static_cast<double>(p.steps) *
                      static_cast<double>(p.rows) * static_cast<double>(p.width);
  constexpr double kMacsPerNs = 8, kGatesPerNs = 1;
  p.x_tasks = task_count(rows * static_cast<double>(p.in) / kMacsPerNs,
                         p.directions * p.steps * p.rows, context.threads);
  p.tasks = task_count(rows * (static_cast<double>(p.cells) / kMacsPerNs + 1 / kGatesPerNs),
                       of_bytes ? p.directions : p.directions * p.rows, context.threads);
  step->macs = static_cast<uint64_t>(rows * static_cast<double>(p.in + p.cells));
  step->kernel = p.kernel->recurrent_name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

int float_level(const fb::Operator&) { return kFloatLevel; }

}  // namespace

std::string describe_recurrent(const fb::Operator& op) {
  const auto& o = *op.options_as_Recurrent();
  return std::string("float ") + fb::EnumNameRecurrentCell(o.cell()) + " " +
         fb::EnumNameRecurrentDirection(o.direction());
}

const OpDef kRecurrentOp = {"Recurrent",
                            fb::OpOptions::Recurrent,
                            infer,
                            prepare,
                            {Arithmetic::kFloat, float_level, no_requant, never_apart,
                             LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
