// SPDX-License-Identifier: Apache-2.0
// DynamicQuantize: uint8 with the scale and zero point that the data asks for.
#include <algorithm>
#include <vector>

#include "kernels/edge/edge.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/dynamic_scale.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  *outputs = {{DType::kUInt8, context.inputs[0].type.shape},
              {DType::kFloat32, Shape()},
              {DType::kUInt8, Shape()}};
  return Status();
}

struct Params {
  const EdgeKernel* kernel;
  size_t elements, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const float*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  auto* parts = reinterpret_cast<Extremes*>(context.scratch);
  std::fill_n(parts, p.tasks, Extremes());
  for_pieces(*context.parallel, p.tasks, p.elements, kAlignment,
             [&](size_t task, size_t begin, size_t end) {
               Extremes e;
               p.kernel->extremes(x + begin, end - begin, &e.least, &e.most);
               parts[task] = e;
             });
  Extremes all;
  for (size_t i = 0; i < p.tasks; ++i) all.add(parts[i]);
  const DynamicScale made(all);
  memcpy(context.out(step, 1), &made.scale, sizeof made.scale);
  *context.out(step, 2) = static_cast<uint8_t>(made.zero_point);
  for_pieces(
      *context.parallel, p.tasks, p.elements, kAlignment, [&](size_t, size_t begin, size_t end) {
        p.kernel->quantize(x + begin, end - begin, made.scale, made.zero_point, 0, 255, y + begin);
      });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  auto params = make_planned<Params>();
  params->kernel = select_edge(context.isas);
  params->elements = static_cast<size_t>(context.inputs[0].type.shape.elements());
  params->tasks =
      task_count(static_cast<double>(params->elements) / speed_of(params->kernel->isa).elements,
                 ceil_div(params->elements, kAlignment), context.threads);
  step->scratch_bytes = params->tasks * sizeof(Extremes);
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_dynamic_quantize(const fb::Operator&) {
  return "float32 division, half even, scale from the data";
}

const OpDef kDynamicQuantizeOp = {"DynamicQuantize",
                                  fb::OpOptions::DynamicQuantize,
                                  infer,
                                  prepare,
                                  {Arithmetic::kEdge, edge_level, no_requant, never_apart,
                                   LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
