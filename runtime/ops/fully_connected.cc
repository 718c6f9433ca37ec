// SPDX-License-Identifier: Apache-2.0
// FullyConnected: x [..., in] times packed weights [out, in]; the leading dimensions are the rows
// of one matrix product.
#include "kernels/gemm/pack.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/dynamic_layer.h"
#include "runtime/ops/gemm_call.h"
#include "runtime/ops/int16_gemm.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Products of at most this many rows are bound by reading their weights from memory.
constexpr size_t kStreamedRows = 4;

// Checks the constants of a layer whose weights are [out, in].
Status check_constants(const InferContext& context) {
  const auto* options = context.op->options_as<fb::FullyConnectedOptions>();
  const Shape& weights = context.inputs[1].type.shape;
  const size_t out = static_cast<size_t>(weights[0]), in = static_cast<size_t>(weights[1]);
  QRT_TRY(check_range("terms", options->terms(), 1, 3));
  QRT_TRY(check_digits(context, options->terms(), options->digits()));
  QRT_TRY(check_weights(context, fb::Packing::GEMM,
                        options->digits() * gemm_packed_bytes(out, options->terms(), in),
                        options->digits() * ceil_div(out, 16)));
  QRT_TRY(check_gemm_tails(context, options->digits(), out, options->terms(), in));
  if (runs_int16(context.inputs[0].type.dtype)) {
    QRT_TRY(check_input_count(context, 3));
    const size_t k = options->terms() * round_up(in, 4);
    QRT_TRY(check_int16_constants(context, out, k, options->weight_sum(), options->requant(),
                                  /*is_planes=*/true, options->digits()));
    return check_true_weight_sum(context, options->weight_sum(), options->digits(), out,
                                 options->terms(), in);
  }
  QRT_TRY(check_bias(context, 2, out));
  QRT_TRY(check_weight_sum(options->weight_sum(), out));
  return check_requant(options->requant(), out, /*allow_acc=*/true);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::FullyConnectedOptions>();
  if (!is_dynamic_layer(context)) QRT_TRY(check_input_count(context, 3));
  QRT_TRY(check_activation(context, 0, "x"));
  QRT_TRY(check_dtype(context, 1, "weights", DType::kInt8));
  QRT_TRY(check_rank(context, 1, "weights", 2, "[out, in]"));
  const Shape& x = context.inputs[0].type.shape;
  const Shape& weights = context.inputs[1].type.shape;
  QRT_MODEL_CHECK(x.rank() >= 1, "input 0 (x) has shape %s, expected [..., in]",
                  x.to_string().c_str());
  const int64_t in = x[x.rank() - 1];
  QRT_MODEL_CHECK(
      weights[1] == in,
      "weights have shape %s, expected [out, in] with in = %lld, the last dimension of x",
      weights.to_string().c_str(), static_cast<long long>(in));
  Shape y = x;
  y[y.rank() - 1] = weights[0];
  if (!context.knows_constants) QRT_TRY(check_constants(context));
  if (runs_int16(context.inputs[0].type.dtype)) {
    const bool acc = options->requant()->kind() == fb::RequantKind::ACC;
    return add_output(acc ? DType::kInt32 : DType::kInt16, y, outputs);
  }
  QRT_TRY(check_dynamic_layer(context, static_cast<size_t>(weights[0]), x.elements() / in,
                              options->requant(), options->store()));
  return add_output(layer_output_dtype(context, options->requant()), y, outputs);
}

struct Params {
  GemmCall gemm;
  DynamicLayer dynamic;
  size_t in;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  GemmOperands args{};
  args.a = context.in(step, 0);
  args.a_stride = p.in;
  args.a_tap_stride = 0;  // all terms of a weight see the same input
  uint8_t* const y = context.out(step, 0);
  args.c = y;
  if (p.dynamic.is_used()) p.dynamic.start(step, context, p.gemm, 0, &args);
  for_gemm_chunks(p.gemm, *context.parallel,
                  [&](size_t, size_t, size_t chunk) { run_gemm_chunk(p.gemm, args, 0, chunk); });
  if (p.dynamic.is_used()) p.dynamic.finish(step, context, args, 0, y, p.gemm.m * p.gemm.n);
}

struct Int16Params {
  Int16Gemm int16;
  size_t in;
};

void run_int16(const Step& step, const RunContext& context) {
  const Int16Params& p = step.as<Int16Params>();
  const auto* x = reinterpret_cast<const int16_t*>(context.in(step, 0));
  uint8_t* high = p.int16.high(context.scratch);
  uint8_t* low = p.int16.low(context.scratch);
  for_chunks(*context.parallel, p.int16.split_tasks, p.int16.gemm.m * p.in, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               p.int16.kernel->split(x + begin, end - begin, high + begin, low + begin);
             });
  GemmOperands left{};
  left.a = high;
  left.a_stride = p.in;
  run_int16_gemm(p.int16, context, left, 0, context.out(step, 0));
}

// Sets the rows, columns and taps of the product.
void set_sizes(const PrepareContext& context, GemmCall* gemm) {
  const auto* options = context.op->options_as<fb::FullyConnectedOptions>();
  const Shape& y = context.outputs[0].shape;
  gemm->n = static_cast<size_t>(y[y.rank() - 1]);
  gemm->m = static_cast<size_t>(y.elements()) / gemm->n;
  gemm->taps = options->terms();
  gemm->kc = round_up(static_cast<size_t>(context.inputs[1].type.shape[1]), 4);
}

Status prepare_int16(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::FullyConnectedOptions>();
  auto params = make_planned<Int16Params>();
  params->in = static_cast<size_t>(context.inputs[1].type.shape[1]);
  GemmCall& gemm = params->int16.gemm;
  set_sizes(context, &gemm);
  params->int16.digits = options->digits();
  step->macs = uint64_t{gemm.m} * gemm.n * params->in;
  QRT_TRY(make_int16_gemm(context, options->weight_sum(), *options->requant(), options->pair_safe(),
                          gemm.m * params->in, &params->int16, step));
  step->kernel = gemm.kernel->name;
  step->run = run_int16;
  step->params = std::move(params);
  return Status();
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::FullyConnectedOptions>();
  if (runs_int16(context.inputs[0].type.dtype)) return prepare_int16(context, step);
  auto params = make_planned<Params>();
  params->in = static_cast<size_t>(context.inputs[1].type.shape[1]);
  GemmCall& gemm = params->gemm;
  set_sizes(context, &gemm);
  step->macs = uint64_t{gemm.m} * gemm.n * params->in;
  QRT_TRY(context.take(gemm_table_bytes(options->requant(), 1, gemm.n)));
  make_gemm({context.inputs[1].data, context.inputs[2].data, options->weight_sum()},
            {options->requant(), options->pair_safe(), context.file_end, context.shared},
            context.isas, context.threads, &gemm);
  QRT_TRY(params->dynamic.prepare(context, options->weight_sum(), options->store(),
                                  /*each_row=*/true, gemm, &step->scratch_bytes));
  step->kernel = gemm.kernel->name;
  if (gemm.m <= kStreamedRows) {
    step->stream = context.inputs[1].data;
    step->stream_bytes = context.inputs[1].data_bytes;
  }
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_fully_connected(const fb::Operator& op) {
  return describe_requant(requant_of<fb::FullyConnectedOptions>(op));
}

const OpDef kFullyConnectedOp = {
    "FullyConnected",
    fb::OpOptions::FullyConnected,
    infer,
    prepare,
    {Arithmetic::kRequant, level_of_layer<fb::FullyConnectedOptions>,
     requant_of<fb::FullyConnectedOptions>, rows_apart, LayoutRule::kRows, Broadcasting::kNone,
     Constants::weights<fb::FullyConnectedOptions>()}};

}  // namespace qrt
