// SPDX-License-Identifier: Apache-2.0
// Choose copies one of two tensors, as a condition known only at run time says. The session skips the operators that only the other
// tensor needs (runtime/guards.h).
#include <cstring>

#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

enum Input { kCondition, kA, kB };

Status infer(const InferContext& context, TensorTypes* outputs) {
  QRT_TRY(check_input_count(context, 3));
  const TensorType& condition = context.inputs[kCondition].type;
  QRT_TRY(check_dtype(context, kCondition, "condition", DType::kUInt8));
  QRT_MODEL_CHECK(condition.shape.elements() == 1,
                  "condition has the shape %s, expected a single element",
                  condition.shape.to_string().c_str());
  const TensorType& a = context.inputs[kA].type;
  QRT_TRY(check_whole_bytes(a));
  QRT_TRY(check_type(context, kB, "b", a.dtype, a.shape));
  return add_output(a.dtype, a.shape, outputs);
}

struct Params {
  size_t bytes, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const uint8_t* from = context.in(step, *context.in(step, kCondition) != 0 ? kA : kB);
  uint8_t* to = context.out(step, 0);
  for_chunks(
      *context.parallel, p.tasks, p.bytes, kAlignment,
      [=](size_t, size_t begin, size_t end) { memcpy(to + begin, from + begin, end - begin); });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<Params>();
  params->bytes = tensor_bytes(context.outputs[0]);
  params->tasks = task_count(static_cast<double>(params->bytes) / kCopyBytesPerNs, params->bytes,
                             context.threads);
  step->kernel = "choose";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_choose(const fb::Operator&) { return "move"; }

const OpDef kChooseOp = {"Choose",
                         fb::OpOptions::Choose,
                         infer,
                         prepare,
                         {Arithmetic::kMoves, integer_level, no_requant, never_apart,
                          LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands, true}};

}  // namespace qrt
