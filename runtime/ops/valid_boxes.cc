// SPDX-License-Identifier: Apache-2.0
// ValidBoxes: the rows of boxes whose score is above a threshold, packed to the front.
#include <cstring>

#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_dtype(context, 0, "x", DType::kInt32));
  QRT_TRY(check_rank(context, 0, "x", 3, "[n, rows, k]"));
  const Shape& x = context.inputs[0].type.shape;
  QRT_MODEL_CHECK(x[2] >= 2, "rows have %lld elements, expected at least 2",
                  static_cast<long long>(x[2]));
  *outputs = {{DType::kInt32, {x[0]}}, {DType::kInt32, x}};
  return Status();
}

struct Params {
  size_t images, rows, k, tasks;
  int32_t threshold;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const int32_t* x = reinterpret_cast<const int32_t*>(context.in(step, 0));
  int32_t* counts = reinterpret_cast<int32_t*>(context.out(step, 0));
  int32_t* y = reinterpret_cast<int32_t*>(context.out(step, 1));
  const size_t image = p.rows * p.k;
  for_chunks(*context.parallel, p.tasks, p.images, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int32_t* from = x + i * image;
      int32_t* to = y + i * image;
      size_t kept = 0;
      for (size_t row = 0; row < p.rows; ++row) {
        if (from[row * p.k + 1] <= p.threshold) continue;
        memcpy(to + kept++ * p.k, from + row * p.k, p.k * sizeof(int32_t));
      }
      for (size_t at = kept * p.k; at < image; ++at) to[at] = -1;
      counts[i] = static_cast<int32_t>(kept);
    }
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const Shape& x = context.inputs[0].type.shape;
  auto params = make_planned<Params>();
  params->images = static_cast<size_t>(x[0]);
  params->rows = static_cast<size_t>(x[1]);
  params->k = static_cast<size_t>(x[2]);
  params->threshold = context.op->options_as<fb::ValidBoxesOptions>()->threshold();
  params->tasks = task_count(static_cast<double>(x.elements()), params->images, context.threads);
  step->kernel = "valid_boxes_scalar";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_valid_boxes(const fb::Operator&) { return "selection"; }

const OpDef kValidBoxesOp = {"ValidBoxes",
                             fb::OpOptions::ValidBoxes,
                             infer,
                             prepare,
                             {Arithmetic::kSelects, integer_level, no_requant, always_apart,
                              LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
