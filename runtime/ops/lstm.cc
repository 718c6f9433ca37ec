// SPDX-License-Identifier: Apache-2.0
// Lstm: a sequence through long short-term memory cells. The rows of a batch are independent; the
// steps of one are not.
#include <string.h>

#include <cinttypes>

#include "kernels/recurrent/recurrent.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

constexpr int kGates = 4;

// x is [n, time, in], or time-major [time, n, in].
struct Sizes {
  Sizes(const InferContext& context, bool time_major) {
    const Shape& x = context.inputs[0].type.shape;
    rows = x[time_major ? 1 : 0];
    steps = x[time_major ? 0 : 1];
    in = x[2];
    cells = context.inputs[1].type.shape[1];
  }
  int64_t rows, steps, in, cells;
};

Status check_gates(const fb::LstmOptions& o, DType activation) {
  const unsigned gates = o.gates() != nullptr ? o.gates()->size() : 0;
  QRT_MODEL_CHECK(gates == kGates, "has %u gates, expected %d", gates, kGates);
  for (const fb::LstmGate* gate : *o.gates()) {
    QRT_TRY(check_tensor_stages("gates.input_stages", gate->input_stages()));
    QRT_TRY(check_tensor_stages("gates.recurrent_stages", gate->recurrent_stages()));
  }
  QRT_TRY(check_tensor_stages("keep_stages", o.keep_stages()));
  QRT_TRY(check_tensor_stages("add_stages", o.add_stages()));
  QRT_TRY(check_range("cell_clip", o.cell_clip(), 0, 32768));
  QRT_TRY(check_range("tanh_multiplier", o.tanh_multiplier(), 1, 3 << 15));
  QRT_TRY(check_range("tanh_shift", o.tanh_shift(), 0, 31));
  return check_int_requant(o.requant(), activation);
}

// Checks, for INT16 activations, that no sum of `columns` products and a bias of input `bias`
// exceeds what the first stage of its gate can multiply.
Status check_sums(const InferContext& context, size_t bias, int64_t columns,
                  const StageVector* (*stages)(const fb::LstmGate&)) {
  constexpr int64_t kLimit = int64_t{1} << 62, kMaxBias = int64_t{1} << 61;
  const auto* o = context.op->options_as<fb::LstmOptions>();
  const OpInput& input = context.inputs[bias];
  const auto cells = static_cast<size_t>(input.type.shape[1]);
  for (size_t i = 0; i < kGates * cells; ++i) {
    int64_t b;
    memcpy(&b, input.data + i * sizeof b, sizeof b);
    QRT_MODEL_CHECK(-kMaxBias <= b && b <= kMaxBias,
                    "input %zu, element %zu is %" PRId64 ", expected at most 2^61 in size", bias, i,
                    b);
    const int64_t bound = columns * (1 << 22) + (b < 0 ? -b : b);
    const int64_t multiplier =
        stages(*o->gates()->Get(static_cast<uint32_t>(i / cells)))->Get(0)->multiplier()->Get(0);
    QRT_MODEL_CHECK(multiplier == 0 || bound <= (kLimit - 1) / multiplier,
                    "sums with element %zu of input %zu may reach %" PRId64
                    ", times the multiplier %" PRId64 " 2^62 or more",
                    i, bias, bound, multiplier);
  }
  return Status();
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::LstmOptions>();
  QRT_TRY(check_input_count(context, 7));
  QRT_TRY(check_activation(context, 0, "x"));
  const DType activation = context.inputs[0].type.dtype;
  const bool is_int16 = activation == DType::kInt16;
  const DType sum = is_int16 ? DType::kInt64 : DType::kInt32;
  QRT_TRY(check_rank(context, 0, "x", 3, "[n, time, in]"));
  QRT_TRY(check_rank(context, 1, "weights", 3, "[4, cells, in]"));
  const Sizes s(context, o->time_major());
  QRT_TRY(check_plain_constant(context, 1, "weights", DType::kInt8, {kGates, s.cells, s.in}));
  QRT_TRY(check_plain_constant(context, 2, "bias", sum, {kGates, s.cells}));
  QRT_TRY(check_plain_constant(context, 3, "recurrent weights", DType::kInt8,
                               {kGates, s.cells, s.cells}));
  QRT_TRY(check_plain_constant(context, 4, "recurrent bias", sum, {kGates, s.cells}));
  QRT_TRY(check_type(context, 5, "hidden", activation, {s.rows, s.cells}));
  QRT_TRY(check_type(context, 6, "cell", DType::kInt16, {s.rows, s.cells}));
  QRT_TRY(check_gates(*o, activation));
  if (is_int16) {
    QRT_TRY(
        check_sums(context, 2, s.in, [](const fb::LstmGate& gate) { return gate.input_stages(); }));
    QRT_TRY(check_sums(context, 4, s.cells,
                       [](const fb::LstmGate& gate) { return gate.recurrent_stages(); }));
  }
  Shape y = context.inputs[0].type.shape;
  y[2] = s.cells;
  QRT_TRY(add_output(activation, y, outputs));
  outputs->push_back(context.inputs[5].type);
  outputs->push_back(context.inputs[6].type);
  return Status();
}

struct Params {
  explicit Params(const fb::LstmOptions& o)
      : input_stages{StageParams(o.gates()->Get(0)->input_stages()),
                     StageParams(o.gates()->Get(1)->input_stages()),
                     StageParams(o.gates()->Get(2)->input_stages()),
                     StageParams(o.gates()->Get(3)->input_stages())},
        recurrent_stages{StageParams(o.gates()->Get(0)->recurrent_stages()),
                         StageParams(o.gates()->Get(1)->recurrent_stages()),
                         StageParams(o.gates()->Get(2)->recurrent_stages()),
                         StageParams(o.gates()->Get(3)->recurrent_stages())},
        keep_stages(o.keep_stages()),
        add_stages(o.add_stages()),
        requant(make_requant(*o.requant(), 1)) {}

  StageParams input_stages[kGates], recurrent_stages[kGates], keep_stages, add_stages;
  RequantParams requant;
  LstmParams lstm{};
  size_t rows, steps, row_stride, step_stride;  // strides in pieces of one row and step of x and y
  size_t tasks;
};

// T: uint8_t or int16_t.
template <class T>
void run_row(const Params& p, const LstmParams& lstm, const Step& step, const RunContext& context,
             size_t row) {
  const T* x = reinterpret_cast<const T*>(context.in(step, 0)) + row * p.row_stride * lstm.in;
  const T* hidden = reinterpret_cast<const T*>(context.in(step, 5)) + row * lstm.cells;
  T* y = reinterpret_cast<T*>(context.out(step, 0)) + row * p.row_stride * lstm.cells;
  auto* cell = reinterpret_cast<int16_t*>(context.out(step, 2)) + row * lstm.cells;
  memcpy(cell, reinterpret_cast<const int16_t*>(context.in(step, 6)) + row * lstm.cells,
         lstm.cells * sizeof *cell);
  for (size_t t = 0; t < p.steps; ++t) {
    lstm_cells(lstm, x, hidden, cell, y, 0, lstm.cells);
    hidden = y;
    x += p.step_stride * lstm.in;
    y += p.step_stride * lstm.cells;
  }
  memcpy(reinterpret_cast<T*>(context.out(step, 1)) + row * lstm.cells, hidden,
         lstm.cells * sizeof *hidden);
}

template <class T>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  LstmParams lstm = p.lstm;
  lstm.weights = reinterpret_cast<const int8_t*>(context.in(step, 1));
  lstm.bias = context.in(step, 2);
  lstm.recurrent_weights = reinterpret_cast<const int8_t*>(context.in(step, 3));
  lstm.recurrent_bias = context.in(step, 4);
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) run_row<T>(p, lstm, step, context, row);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::LstmOptions>();
  const Sizes s(context, o->time_major());
  QRT_TRY(context.take(sizeof(Params)));
  auto params = make_planned<Params>(*o);
  LstmParams& p = params->lstm;
  p.in = static_cast<size_t>(s.in);
  p.cells = static_cast<size_t>(s.cells);
  for (int g = 0; g < kGates; ++g) {
    p.input_stages[g] = {params->input_stages[g].stages, params->input_stages[g].count};
    p.recurrent_stages[g] = {params->recurrent_stages[g].stages, params->recurrent_stages[g].count};
  }
  p.keep_stages = {params->keep_stages.stages, params->keep_stages.count};
  p.add_stages = {params->add_stages.stages, params->add_stages.count};
  p.cell_clip = o->cell_clip();
  p.tanh_multiplier = o->tanh_multiplier();
  p.tanh_shift = o->tanh_shift();
  p.requant = params->requant.requant;
  params->rows = static_cast<size_t>(s.rows);
  params->steps = static_cast<size_t>(s.steps);
  params->row_stride = o->time_major() ? 1 : params->steps;
  params->step_stride = o->time_major() ? params->rows : 1;
  step->macs = static_cast<uint64_t>(s.rows * s.steps) * kGates * p.cells * (p.in + p.cells);
  params->tasks = task_count(static_cast<double>(step->macs) / speed_of(Isa::kScalar).macs,
                             params->rows, context.threads);
  const bool is_int16 = runs_int16(context.inputs[0].type.dtype);
  step->kernel = is_int16 ? "lstm_s16" : "lstm";
  step->run = is_int16 ? run<int16_t> : run<uint8_t>;
  step->params = std::move(params);
  return Status();
}

bool keeps_images_apart(const fb::Operator& op, const BatchOperands&) {
  return !op.options_as_Lstm()->time_major();
}

}  // namespace

std::string describe_lstm(const fb::Operator& op) {
  return describe_requant(requant_of<fb::LstmOptions>(op)) + ", tables";
}

const OpDef kLstmOp = {
    "Lstm",
    fb::OpOptions::Lstm,
    infer,
    prepare,
    {Arithmetic::kRequant, level_of_requant<fb::LstmOptions>, requant_of<fb::LstmOptions>,
     keeps_images_apart, LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
