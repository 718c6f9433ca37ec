// SPDX-License-Identifier: Apache-2.0
// Svdf: a time-delay layer with its state; cut into blocks of units of all rows.
#include <algorithm>

#include "kernels/recurrent/recurrent.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

Status check_state_limits(const fb::SvdfOptions& o) {
  const bool wide = o.state_lo() == -32768 && o.state_hi() == 32767;
  const bool narrow = o.state_lo() == -128 && o.state_hi() == 127;
  QRT_MODEL_CHECK(wide || narrow,
                  "the state's limits are %d to %d, expected those of int8 or int16", o.state_lo(),
                  o.state_hi());
  // Less a zero point, 16 bits would not fit into the state.
  return check_range("state_zero_point", o.state_zero_point(), narrow ? -128 : 0, narrow ? 127 : 0);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::SvdfOptions>();
  QRT_TRY(check_input_count(context, 5));
  QRT_TRY(check_dtype(context, 0, "x", DType::kUInt8));
  QRT_TRY(check_rank(context, 0, "x", 2, "[n, in]"));
  QRT_TRY(check_rank(context, 1, "features", 2, "[filters, in]"));
  QRT_TRY(check_rank(context, 2, "times", 2, "[filters, memory]"));
  const Shape &x = context.inputs[0].type.shape, &features = context.inputs[1].type.shape;
  const int64_t filters = features[0], memory = context.inputs[2].type.shape[1];
  QRT_MODEL_CHECK(o->rank() >= 1 && filters % o->rank() == 0,
                  "rank is %u, expected a divisor of the %lld filters", o->rank(),
                  static_cast<long long>(filters));
  const int64_t units = filters / o->rank();
  QRT_TRY(check_plain_constant(context, 1, "features", DType::kInt8, {filters, x[1]}));
  QRT_TRY(check_plain_constant(context, 2, "times", DType::kInt16, {filters, memory}));
  QRT_TRY(check_bias(context, 3, static_cast<size_t>(units)));
  const Shape state = {x[0], filters, memory};
  QRT_TRY(check_type(context, 4, "state", DType::kInt16, state));
  QRT_TRY(check_state_limits(*o));
  QRT_TRY(check_tensor_stages("feature_stages", o->feature_stages()));
  QRT_TRY(check_int_requant(o->requant()));
  *outputs = {{DType::kUInt8, {x[0], units}}, {DType::kInt16, state}};
  return Status();
}

struct Params {
  explicit Params(const fb::SvdfOptions& o)
      : feature_stages(o.feature_stages()), requant(make_requant(*o.requant(), 1)) {}

  StageParams feature_stages;
  RequantParams requant;
  SvdfParams svdf{};
  size_t rows, units, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  SvdfParams svdf = p.svdf;
  svdf.features = reinterpret_cast<const int8_t*>(context.in(step, 1));
  svdf.times = reinterpret_cast<const int16_t*>(context.in(step, 2));
  svdf.bias = reinterpret_cast<const int32_t*>(context.in(step, 3));
  const auto* state = reinterpret_cast<const int16_t*>(context.in(step, 4));
  auto* next = reinterpret_cast<int16_t*>(context.out(step, 1));
  const size_t row_state = svdf.filters * svdf.memory;
  for_chunks(*context.parallel, p.tasks, p.rows * p.units, 1,
             [&](size_t, size_t begin, size_t end) {
               while (begin < end) {
                 const size_t row = begin / p.units, unit = begin % p.units;
                 const size_t count = std::min(end - begin, p.units - unit);
                 svdf_units(svdf, context.in(step, 0) + row * svdf.in, state + row * row_state,
                            next + row * row_state, context.out(step, 0) + row * p.units, unit,
                            unit + count);
                 begin += count;
               }
             });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::SvdfOptions>();
  const Shape& x = context.inputs[0].type.shape;
  const Shape& times = context.inputs[2].type.shape;
  auto params = make_planned<Params>(*o);
  SvdfParams& p = params->svdf;
  p.in = static_cast<size_t>(x[1]);
  p.filters = static_cast<size_t>(times[0]);
  p.rank = o->rank();
  p.memory = static_cast<size_t>(times[1]);
  p.input_zero_point = o->input_zero_point();
  p.feature_stages = {params->feature_stages.stages, params->feature_stages.count};
  p.state_lo = o->state_lo();
  p.state_hi = o->state_hi();
  p.state_zero_point = o->state_zero_point();
  p.requant = params->requant.requant;
  params->rows = static_cast<size_t>(x[0]);
  params->units = p.filters / p.rank;
  step->macs = static_cast<uint64_t>(params->rows) * p.filters * (p.in + p.memory);
  params->tasks = task_count(static_cast<double>(step->macs) / speed_of(Isa::kScalar).macs,
                             params->rows * params->units, context.threads);
  step->kernel = "svdf";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_svdf(const fb::Operator& op) {
  return describe_requant(requant_of<fb::SvdfOptions>(op));
}

const OpDef kSvdfOp = {
    "Svdf",
    fb::OpOptions::Svdf,
    infer,
    prepare,
    {Arithmetic::kRequant, level_of_requant<fb::SvdfOptions>, requant_of<fb::SvdfOptions>,
     always_apart, LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
