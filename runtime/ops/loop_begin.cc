// SPDX-License-Identifier: Apache-2.0
// LoopBegin starts an iteration of a loop (runtime/loops.h): in the first one it copies the states' first values, which the session
// replaces behind each LoopEnd, and in all of them the slices.
#include <cstring>

#include "kernels/copy/copy.h"
#include "runtime/ops/check.h"
#include "runtime/ops/loop_slices.h"
#include "runtime/ops/ops.h"

namespace qrt {

namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto& o = *context.op->options_as<fb::LoopBeginOptions>();
  const uint32_t slices = slice_count(o.slices());
  QRT_TRY(check_input_count(context, size_t{o.states()} + slices));
  QRT_TRY(add_output(DType::kInt64, {1}, outputs));
  for (uint32_t i = 0; i < o.states(); ++i) {
    const TensorType& state = context.inputs[i].type;
    QRT_TRY(check_whole_bytes(state));
    QRT_TRY(add_output(state.dtype, state.shape, outputs));
  }
  for (uint32_t i = 0; i < slices; ++i) {
    const TensorType& whole = context.inputs[o.states() + i].type;
    QRT_TRY(check_whole_bytes(whole));
    const int axis = o.slices()->Get(i)->axis();
    QRT_MODEL_CHECK(axis < whole.shape.rank(), "axis %u is %d, expected less than the rank %d", i,
                    axis, whole.shape.rank());
    Shape slice;
    for (int d = 0; d < whole.shape.rank(); ++d)
      if (d != axis) slice.push_back(whole.shape[d]);
    QRT_TRY(add_output(whole.dtype, slice, outputs));
  }
  return {};
}

struct Params {
  const CopyKernel* kernel;
  PlanVector<size_t> state_bytes;
  PlanVector<LoopSlicePlan> slices;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const int64_t iteration = context.iteration;
  memcpy(context.out(step, 0), &iteration, sizeof iteration);
  const size_t states = p.state_bytes.size();
  for (size_t i = 0; i < states && iteration == 0; ++i)
    memcpy(context.out(step, 1 + i), context.in(step, i), p.state_bytes[i]);
  for (size_t i = 0; i < p.slices.size(); ++i) {
    const LoopSlicePlan& s = p.slices[i];
    p.kernel->rows(context.in(step, states + i) + s.offset(context.iteration), s.pitch(),
                   context.out(step, 1 + states + i), s.bytes, s.rows, s.bytes);
  }
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto& o = *context.op->options_as<fb::LoopBeginOptions>();
  QRT_TRY(context.take(context.inputs.size() * sizeof(LoopSlicePlan)));
  auto params = make_planned<Params>();
  params->kernel = select_copy(context.isas);
  for (uint32_t i = 0; i < o.states(); ++i)
    params->state_bytes.push_back(tensor_bytes(context.inputs[i].type));
  for (uint32_t i = 0; i < slice_count(o.slices()); ++i)
    params->slices.push_back(
        LoopSlicePlan(*o.slices()->Get(i), context.inputs[o.states() + i].type));
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return {};
}

}  // namespace

std::string describe_loop_begin(const fb::Operator&) { return "move"; }

const OpDef kLoopBeginOp = {"LoopBegin",
                            fb::OpOptions::LoopBegin,
                            infer,
                            prepare,
                            {Arithmetic::kMoves, integer_level, no_requant, never_apart,
                             LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands}};

}  // namespace qrt
