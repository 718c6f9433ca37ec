// SPDX-License-Identifier: Apache-2.0
// LoopEnd ends an iteration of a loop (runtime/loops.h): it copies the states' next values and puts the slices in their places.
#include <cstring>

#include "kernels/copy/copy.h"
#include "runtime/ops/check.h"
#include "runtime/ops/loop_slices.h"
#include "runtime/ops/ops.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto& o = *context.op->options_as<fb::LoopEndOptions>();
  const uint32_t slices = slice_count(o.slices());
  QRT_TRY(check_input_count(context, size_t{1} + o.states() + slices));
  QRT_TRY(check_type(context, 0, "iteration", DType::kInt64, {1}));
  const int64_t trips = context.number(fb::SizeField::TRIPS, o.trips());
  QRT_TRY(check_range("trips", trips, 1, INT32_MAX));
  for (uint32_t i = 0; i < o.states(); ++i) {
    const TensorType& state = context.inputs[1 + i].type;
    QRT_TRY(check_whole_bytes(state));
    QRT_TRY(add_output(state.dtype, state.shape, outputs));
  }
  for (uint32_t i = 0; i < slices; ++i) {
    const TensorType& slice = context.inputs[1 + o.states() + i].type;
    QRT_TRY(check_whole_bytes(slice));
    const int axis = o.slices()->Get(i)->axis(), rank = slice.shape.rank();
    QRT_MODEL_CHECK(rank < kMaxTensorRank, "slice %u has %d dimensions, expected at most %d", i,
                    rank, kMaxTensorRank - 1);
    QRT_MODEL_CHECK(axis <= rank, "axis %u is %d, expected at most %d", i, axis, rank);
    Shape whole;
    for (int d = 0; d <= rank; ++d)
      whole.push_back(d == axis ? trips : slice.shape[d < axis ? d : d - 1]);
    QRT_TRY(add_output(slice.dtype, whole, outputs));
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
  const size_t states = p.state_bytes.size();
  for (size_t i = 0; i < states; ++i)
    memcpy(context.out(step, i), context.in(step, 1 + i), p.state_bytes[i]);
  for (size_t i = 0; i < p.slices.size(); ++i) {
    const LoopSlicePlan& s = p.slices[i];
    p.kernel->rows(context.in(step, 1 + states + i), s.bytes,
                   context.out(step, states + i) + s.offset(context.iteration), s.pitch(), s.rows,
                   s.bytes);
  }
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto& o = *context.op->options_as<fb::LoopEndOptions>();
  QRT_TRY(context.take(context.inputs.size() * sizeof(LoopSlicePlan)));
  auto params = make_planned<Params>();
  params->kernel = select_copy(context.isas);
  for (uint32_t i = 0; i < o.states(); ++i)
    params->state_bytes.push_back(tensor_bytes(context.outputs[i]));
  for (uint32_t i = 0; i < slice_count(o.slices()); ++i)
    params->slices.push_back(LoopSlicePlan(*o.slices()->Get(i), context.outputs[o.states() + i]));
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return {};
}

}  // namespace

std::string describe_loop_end(const fb::Operator&) { return "move"; }

const OpDef kLoopEndOp = {"LoopEnd",
                          fb::OpOptions::LoopEnd,
                          infer,
                          prepare,
                          {Arithmetic::kMoves, integer_level, no_requant, never_apart,
                           LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands}};

}  // namespace qrt
