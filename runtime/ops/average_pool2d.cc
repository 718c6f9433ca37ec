// SPDX-License-Identifier: Apache-2.0
// AveragePool2D: mean of every window; an ordered float32 sum, requantised, or an integer sum,
// divided half away from zero.
#include <cmath>

#include "kernels/pool/pool_int16.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/pool_call.h"

namespace qrt {
namespace {

Status analyse_window(const InferContext& context, PoolShape* shape) {
  const auto* o = context.op->options_as<fb::AveragePool2DOptions>();
  const Pads pads = pads_of(context, *o);
  const int64_t kernel_h = context.number(fb::SizeField::KERNEL_H, o->kernel_h());
  const int64_t kernel_w = context.number(fb::SizeField::KERNEL_W, o->kernel_w());
  return infer_pool(context,
                    {{0, kernel_h, o->stride_h(), 1, pads.top, pads.bottom},
                     {0, kernel_w, o->stride_w(), 1, pads.left, pads.right}},
                    shape);
}

Status analyse_int(const InferContext& context, PoolShape* shape) {
  const auto* o = context.op->options_as<fb::AveragePool2DOptions>();
  const bool is_int16 = runs_int16(context.inputs[0].type.dtype);
  const int lo = is_int16 ? INT16_MIN : 0, hi = is_int16 ? INT16_MAX : 255;
  QRT_MODEL_CHECK(o->lo() >= lo && o->lo() <= o->hi() && o->hi() <= hi,
                  "limits are %d to %d, expected a range within %d to %d", o->lo(), o->hi(), lo,
                  hi);
  QRT_MODEL_CHECK(!is_int16 || o->output_offset() == 0, "output_offset is %d, expected 0 for int16",
                  o->output_offset());
  QRT_MODEL_CHECK(!o->count_include_pad(), "INT_HALF_AWAY has no count_include_pad");
  QRT_TRY(analyse_window(context, shape));
  const double window = static_cast<double>(shape->kernel_h) * static_cast<double>(shape->kernel_w);
  QRT_MODEL_CHECK(window < (is_int16 ? 32768.0 : 8388608.0),
                  "kernel %zu x %zu, expected fewer than 2^%d positions", shape->kernel_h,
                  shape->kernel_w, is_int16 ? 15 : 23);
  return Status();
}

Status analyse(const InferContext& context, PoolShape* shape) {
  const auto* o = context.op->options_as<fb::AveragePool2DOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_image(context, 0));
  QRT_MODEL_CHECK(o->kind() <= fb::AverageKind::INT_HALF_AWAY, "kind is %d, expected 0 or 1",
                  static_cast<int>(o->kind()));
  QRT_MODEL_CHECK(o->output_offset() == 0 || o->output_offset() == 128,
                  "output_offset is %d, expected 0 or 128", o->output_offset());
  if (o->kind() == fb::AverageKind::INT_HALF_AWAY) return analyse_int(context, shape);
  QRT_TRY(check_dtype(context, 0, "x", DType::kUInt8));
  const float in = float_of(o->input_scale()), out = float_of(o->output_scale());
  QRT_MODEL_CHECK(std::isnormal(in) && in > 0, "input_scale is %g, expected a normal number > 0",
                  static_cast<double>(in));
  QRT_MODEL_CHECK(std::isnormal(out) && out > 0, "output_scale is %g, expected a normal number > 0",
                  static_cast<double>(out));
  QRT_TRY(check_range("output_zero_point", o->output_zero_point(), -128, 255));
  QRT_TRY(analyse_window(context, shape));
  // The sum of a window is at most 255 * input_scale * kernel; twice that covers its roundings.
  const double window = static_cast<double>(shape->kernel_h) * static_cast<double>(shape->kernel_w);
  const double sum = 2 * 255.0 * static_cast<double>(in) * window;
  QRT_MODEL_CHECK(window < 16777216.0, "kernel %zu x %zu, expected fewer than 2^24 positions",
                  shape->kernel_h, shape->kernel_w);
  QRT_MODEL_CHECK(sum < 3.4e38 && sum / static_cast<double>(out) < 2147483000.0,
                  "input_scale %g over output_scale %g, expected 510 * %g positions * the ratio "
                  "below 2^31",
                  static_cast<double>(in), static_cast<double>(out), window);
  return Status();
}

}  // namespace

Status average_pool_args(const InferContext& context, AveragePoolArgs* args) {
  const auto* o = context.op->options_as<fb::AveragePool2DOptions>();
  QRT_TRY(analyse(context, &args->shape));
  args->input_scale = float_of(o->input_scale());
  args->input_zero_point = o->input_zero_point();
  args->output_scale = float_of(o->output_scale());
  args->output_zero_point = o->output_zero_point();
  args->output_offset = o->output_offset();
  args->count_include_pad = o->count_include_pad();
  return Status();
}

namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  PoolShape shape;
  QRT_TRY(analyse(context, &shape));
  return add_pool_output(context, shape, outputs);
}

struct Params {
  PoolCall pool;
  float value[256];
  AveragePoolArgs args{};
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  run_pool(p.pool, *context.parallel, context.in(step, 0), context.out(step, 0), p.args,
           p.pool.kernel->average);
}

struct IntParams {
  PoolCall pool;
  AverageIntArgs args{};
};

void run_int(const Step& step, const RunContext& context) {
  const IntParams& p = step.as<IntParams>();
  run_pool(p.pool, *context.parallel, context.in(step, 0), context.out(step, 0), p.args,
           average_pool_int);
}

struct Int16Params {
  PoolCall pool;
  PoolInt16Args args{};
};

void run_int16(const Step& step, const RunContext& context) {
  const Int16Params& p = step.as<Int16Params>();
  run_pool(p.pool, *context.parallel, in_16(step, context), out_16(step, context), p.args,
           average_pool_int16);
}

Status prepare_int16(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::AveragePool2DOptions>();
  auto params = make_planned<Int16Params>();
  QRT_TRY(analyse(context, &params->pool.shape));
  make_pool(context, &params->pool);
  params->args.lo = o->lo();
  params->args.hi = o->hi();
  step->kernel = "average_pool_s16";
  step->run = run_int16;
  step->params = std::move(params);
  return Status();
}

Status prepare_int(const PrepareContext& context, PlannedStep* step) {
  if (runs_int16(context.inputs[0].type.dtype)) return prepare_int16(context, step);
  const auto* o = context.op->options_as<fb::AveragePool2DOptions>();
  auto params = make_planned<IntParams>();
  QRT_TRY(analyse(context, &params->pool.shape));
  make_pool(context, &params->pool);
  params->args.offset = o->output_offset();
  params->args.lo = o->lo();
  params->args.hi = o->hi();
  step->kernel = "average_pool_int_u8";
  step->run = run_int;
  step->params = std::move(params);
  return Status();
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::AveragePool2DOptions>();
  if (o->kind() == fb::AverageKind::INT_HALF_AWAY) return prepare_int(context, step);
  QRT_TRY(context.take(sizeof(Params)));
  auto params = make_planned<Params>();
  AveragePoolArgs& args = params->args;
  QRT_TRY(average_pool_args(context, &args));
  params->pool.shape = args.shape;
  make_pool(context, &params->pool);
  for (int i = 0; i < 256; ++i)
    params->value[i] = args.input_scale * static_cast<float>(i - args.input_zero_point);
  args.value = params->value;
  args.sum_scale = average_sum_scale(args);
  step->kernel = params->pool.kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) {
  return op.options_as_AveragePool2D()->kind() == fb::AverageKind::INT_HALF_AWAY ? 0 : 1;
}

}  // namespace

std::string describe_average_pool2d(const fb::Operator& op) {
  return op.options_as_AveragePool2D()->kind() == fb::AverageKind::INT_HALF_AWAY
             ? "integer average, half away"
             : "ordered float32 sum";
}

const OpDef kAveragePool2DOp = {"AveragePool2D",
                                fb::OpOptions::AveragePool2D,
                                infer,
                                prepare,
                                {Arithmetic::kForms, level, no_requant, always_apart,
                                 LayoutRule::kImages, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
