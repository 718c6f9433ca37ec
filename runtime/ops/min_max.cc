// SPDX-License-Identifier: Apache-2.0
// MinMax: elementwise minimum or maximum of two integer tensors, broadcast as in numpy.
#include "kernels/compare/compare.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/elements.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  Shape shape;
  QRT_TRY(infer_integers(context, &shape));
  return add_output(context.inputs[0].type.dtype, shape, outputs);
}

struct Params {
  void (*fn)(DType dtype, const BinaryArgs& run);
  DType dtype;
  Broadcast broadcast;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_all_spans<BinaryArgs>(p.broadcast, step, context,
                            [&](const BinaryArgs& r) { p.fn(p.dtype, r); });
}

void run_elements(const Step& step, const RunContext& context, size_t begin, size_t count) {
  const Params& p = step.as<Params>();
  begin *= p.broadcast.output_bytes;
  p.fn(p.dtype, {context.in(step, 0) + begin, context.in(step, 1) + begin, false, false,
                 context.out(step, 0) + begin, count});
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const bool maximum = context.op->options_as<fb::MinMaxOptions>()->maximum();
  auto params = make_planned<Params>();
  params->dtype = context.inputs[0].type.dtype;
  const MinMaxKernel& kernel = *select_min_max(context.isas);
  params->fn = maximum ? kernel.maximum : kernel.minimum;
  const auto bytes = static_cast<double>(dtype_bytes(context.outputs[0].dtype));
  params->broadcast = plan_broadcast(context, bytes / kCopyBytesPerNs);
  step->kernel = maximum ? kernel.maximum_name : kernel.minimum_name;
  step->run = run;
  if (params->broadcast.is_plain()) step->run_elements = run_elements;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_min_max(const fb::Operator& op) {
  return op.options_as_MinMax()->maximum() ? "maximum" : "minimum";
}

const OpDef kMinMaxOp = {"MinMax",
                         fb::OpOptions::MinMax,
                         infer,
                         prepare,
                         {Arithmetic::kSelects, integer_level, no_requant, operands_apart,
                          LayoutRule::kAny, Broadcasting::kElements, ConstantRule::kOperands}};

}  // namespace qrt
