// SPDX-License-Identifier: Apache-2.0
// Integer: elementwise arithmetic and comparison of two integer tensors, broadcast as in numpy.
#include "kernels/integer/integer.h"

#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/elements.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

bool is_other_sign(DType a, DType b) {
  if (a > b) return is_other_sign(b, a);
  return (a == DType::kUInt8 && b == DType::kInt8) || (a == DType::kUInt16 && b == DType::kInt16);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  Shape shape;
  QRT_TRY(infer_integers(context, &shape));
  const DType dtype = context.inputs[0].type.dtype;
  const auto function = context.op->options_as<fb::IntegerOptions>()->function();
  QRT_TRY(check_range("function", static_cast<int>(function), 0, kIntegerFunctions - 1));
  if (is_comparison(static_cast<IntegerFunction>(function)))
    return add_output(DType::kUInt8, shape, outputs);
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  QRT_MODEL_CHECK(output == dtype || is_other_sign(output, dtype),
                  "the output is %s, expected %s or of the other sign", dtype_name(output),
                  dtype_name(dtype));
  return add_output(output, shape, outputs);
}

struct Params {
  IntegerFn fn;
  Broadcast broadcast;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_all_spans<BinaryArgs>(p.broadcast, step, context, p.fn);
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto function = context.op->options_as<fb::IntegerOptions>()->function();
  auto params = make_planned<Params>();
  params->fn = integer_kernel(context.inputs[0].type.dtype, static_cast<IntegerFunction>(function));
  params->broadcast = plan_broadcast(context, 1);
  step->kernel = "integer_scalar";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_integer(const fb::Operator& op) {
  return std::string("integer ") + fb::EnumNameIntegerFunction(op.options_as_Integer()->function());
}

const OpDef kIntegerOp = {
    "Integer",
    fb::OpOptions::Integer,
    infer,
    prepare,
    {Arithmetic::kIntegers, integer_level, no_requant, operands_apart, LayoutRule::kAny,
     Broadcasting::kElements, ConstantRule::kOperands, true}};

}  // namespace qrt
