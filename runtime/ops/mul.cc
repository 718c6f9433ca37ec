// SPDX-License-Identifier: Apache-2.0
// Mul: elementwise product of two tensors of uint8 or int16 with requantisation, broadcast as in
// numpy.
#include "kernels/elementwise/forms.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/mul_in_float.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

// Returns the greatest magnitude of a product of int16 operands, less their zero points.
int64_t greatest_product(const fb::MulOptions& options) {
  return int16_reach(options.a_zero_point_16()) * int16_reach(options.b_zero_point_16());
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::MulOptions>();
  QRT_TRY(check_input_count(context, 2));
  Shape shape;
  QRT_TRY(infer_broadcast(context, &shape));
  const DType dtype = context.inputs[0].type.dtype;
  QRT_TRY(check_requant(options->requant(), 1, /*allow_acc=*/false, dtype));
  if (runs_int16(dtype)) {
    const int64_t product = greatest_product(*options);
    const int64_t multiplier = options->requant()->stages()->Get(0)->multiplier()->Get(0);
    QRT_MODEL_CHECK(product * multiplier < int64_t{1} << 62,
                    "products reach %lld, times the multiplier %lld 2^62 or more: zero points %d "
                    "and %d",
                    static_cast<long long>(product), static_cast<long long>(multiplier),
                    options->a_zero_point_16(), options->b_zero_point_16());
  }
  return add_output(dtype, shape, outputs);
}

struct Params {
  const ElementwiseKernel* kernel;
  RequantParams requant;
  MulParams mul;
  Broadcast broadcast;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_all_spans<ElementwiseArgs>(p.broadcast, step, context,
                                 [&](const ElementwiseArgs& r) { p.kernel->mul(p.mul, r); });
}

void run_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  p.kernel->mul(p.mul, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
                        context.out(step, 0) + begin, count});
}

struct ScaledParams {
  const ScaledProductKernel* kernel;
  ScaledProduct product;
  Broadcast broadcast;
};

void run_scaled(const Step& step, const RunContext& context) {
  const ScaledParams& p = step.as<ScaledParams>();
  for_all_rows(p.broadcast, step, context, [&](const Rows& r) { p.kernel->run(p.product, r); });
}

void run_scaled_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const ScaledParams& p = step.as<ScaledParams>();
  p.kernel->run(p.product, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
                            context.out(step, 0) + begin, count, 1, 0, 0, 0});
}

struct Int16Params {
  const ElementwiseKernel* kernel;
  RequantParams requant;
  MulParams mul;
  Broadcast broadcast;
};

void run_int16(const Step& step, const RunContext& context) {
  const Int16Params& p = step.as<Int16Params>();
  for_all_spans<Int16Args>(p.broadcast, step, context,
                           [&](const Int16Args& r) { p.kernel->mul_int16(p.mul, r); });
}

void run_far(const Step& step, const RunContext& context) {
  const Int16Params& p = step.as<Int16Params>();
  for_all_spans<Int16Args>(p.broadcast, step, context,
                           [&](const Int16Args& r) { mul_int16_in_64_bits(p.mul, r); });
}

Status prepare_int16(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::MulOptions>();
  auto params = make_planned<Int16Params>();
  params->kernel = select_elementwise(context.isas);
  params->requant = make_requant(*options->requant(), 1);
  params->mul = {options->a_zero_point_16(), options->b_zero_point_16(), params->requant.requant};
  params->broadcast = plan_broadcast(context, 1 / speed_of(params->kernel->isa).elements);
  const bool far = greatest_product(*options) > INT32_MAX;
  step->kernel = far ? "mul_int16_in_64_bits" : params->kernel->int16_name;
  step->run = far ? run_far : run_int16;
  step->params = std::move(params);
  return Status();
}

// Prepares the cheaper form of the product, where a kernel has it and looking for it pays: that
// takes as long as some ten thousand elements. Returns whether it did.
bool prepare_scaled(const PrepareContext& context, const Params& params, PlannedStep* step) {
  constexpr int64_t kFew = 8192;
  const ScaledProductKernel* kernel = select_scaled_product(context.isas);
  auto scaled = make_planned<ScaledParams>();
  if (kernel->run == nullptr || context.outputs[0].shape.elements() < kFew ||
      !mul_in_float(params.mul, *params.kernel, *kernel, &scaled->product))
    return false;
  scaled->kernel = kernel;
  scaled->broadcast = plan_broadcast(context, 1 / speed_of(kernel->isa).elements);
  step->kernel = kernel->name;
  step->run = run_scaled;
  if (scaled->broadcast.is_plain()) step->run_elements = run_scaled_elements;
  step->params = std::move(scaled);
  return true;
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  if (runs_int16(context.inputs[0].type.dtype)) return prepare_int16(context, step);
  const auto* options = context.op->options_as<fb::MulOptions>();
  auto params = make_planned<Params>();
  params->kernel = select_elementwise(context.isas);
  params->requant = make_requant(*options->requant(), 1);
  params->mul = {options->a_zero_point(), options->b_zero_point(), params->requant.requant};
  if (prepare_scaled(context, *params, step)) return Status();
  params->broadcast = plan_broadcast(context, 1 / speed_of(params->kernel->isa).elements);
  step->kernel = params->kernel->name;
  step->run = run;
  if (params->broadcast.is_plain()) step->run_elements = run_elements;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_mul(const fb::Operator& op) {
  return describe_requant(requant_of<fb::MulOptions>(op));
}

const OpDef kMulOp = {
    "Mul",
    fb::OpOptions::Mul,
    infer,
    prepare,
    {Arithmetic::kRequant, level_of_requant<fb::MulOptions>, requant_of<fb::MulOptions>,
     operands_apart, LayoutRule::kAny, Broadcasting::kElements, ConstantRule::kOperands, true}};

}  // namespace qrt
