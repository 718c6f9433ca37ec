// Mul: elementwise product of two uint8 tensors with requantisation, broadcast as in numpy.
#include "kernels/elementwise/elementwise.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  const auto* options = context.op->options_as<fb::MulOptions>();
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_requant(options->requant(), 1, /*allow_acc=*/false));
  Shape shape;
  QRT_TRY(infer_broadcast(context, &shape));
  return add_output(DType::kUInt8, shape, outputs);
}

struct Params {
  const ElementwiseKernel* kernel;
  RequantParams requant;
  MulParams mul;
  Broadcast broadcast;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_all_runs(p.broadcast, *context.parallel, context.in(step, 0), context.in(step, 1),
               context.out(step, 0), [&](const ElementwiseRun& r) { p.kernel->mul(p.mul, r); });
}

void run_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  p.kernel->mul(p.mul, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
                        context.out(step, 0) + begin, count});
}

Status prepare(const PrepareContext& context, Step* step) {
  const Shape& shape = context.outputs[0].shape;
  const auto* options = context.op->options_as<fb::MulOptions>();
  auto params = std::make_shared<Params>();
  params->kernel = select_elementwise(context.isas);
  params->requant = make_requant(*options->requant(), 1);
  params->mul = {options->a_zero_point(), options->b_zero_point(), params->requant.requant};
  Broadcast& broadcast = params->broadcast;
  broadcast = plan_broadcast(context.inputs[0].type.shape, context.inputs[1].type.shape, shape);
  const double elements = static_cast<double>(shape.elements());
  broadcast.tasks = task_count(elements / speed_of(params->kernel->isa).elements,
                               static_cast<size_t>(shape.elements()), context.threads);
  step->kernel = params->kernel->name;
  step->run = run;
  if (broadcast.is_plain()) step->run_elements = run_elements;
  step->params = std::move(params);
  return Status();
}

}  // namespace

const OpDef kMulOp = {"Mul", fb::OpOptions::Mul, false, infer, prepare};

}  // namespace qrt
