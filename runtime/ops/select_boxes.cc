// SPDX-License-Identifier: Apache-2.0
// SelectBoxes: ONNX's non-maximum suppression of float boxes, class by class.
#include "kernels/detection/select_boxes.h"

#include <algorithm>
#include <cmath>

#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/found.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::SelectBoxesOptions>();
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_dtype(context, 0, "boxes", DType::kFloat32));
  QRT_TRY(check_dtype(context, 1, "scores", DType::kFloat32));
  QRT_TRY(check_rank(context, 0, "boxes", 3, "[n, rows, 4]"));
  QRT_TRY(check_rank(context, 1, "scores", 3, "[n, classes, rows]"));
  const Shape &boxes = context.inputs[0].type.shape, &scores = context.inputs[1].type.shape;
  QRT_MODEL_CHECK(boxes[2] == 4 && scores[0] == boxes[0] && scores[2] == boxes[1],
                  "boxes have shape %s and scores %s, expected [n, rows, 4] and [n, classes, rows]",
                  boxes.to_string().c_str(), scores.to_string().c_str());
  const float most_overlap = float_of(o->max_overlap());
  QRT_MODEL_CHECK(most_overlap >= 0 && most_overlap <= 1, "max_overlap is %g, expected 0 to 1",
                  static_cast<double>(most_overlap));
  QRT_MODEL_CHECK(!std::isnan(float_of(o->least_score())), "least_score is NaN");
  QRT_TRY(check_range("most", o->most(), 1, INT32_MAX));
  const size_t room =
      product_or_most({static_cast<size_t>(std::min<int64_t>(o->most(), boxes[1])),
                       static_cast<size_t>(scores[0]), static_cast<size_t>(scores[1])});
  QRT_MODEL_CHECK(room <= INT32_MAX, "the output has %zu rows, expected at most 2^31 - 1", room);
  return add_output(DType::kInt64, {static_cast<int64_t>(room), static_cast<int64_t>(kSelectedBox)},
                    outputs);
}

struct Params {
  BoxSelection selection;
  size_t images, classes, tasks, task_bytes;
};

// Each image and class writes its boxes where all have room; then they are moved together.
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const size_t rows = p.selection.rows, room = std::min(p.selection.most, rows);
  const size_t lists = p.images * p.classes;
  const auto* boxes = reinterpret_cast<const float*>(context.in(step, 0));
  const auto* scores = reinterpret_cast<const float*>(context.in(step, 1));
  auto* y = reinterpret_cast<int64_t*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, lists, 1, [&](size_t task, size_t begin, size_t end) {
    uint8_t* const scratch = context.scratch + task * p.task_bytes;
    for (size_t list = begin; list < end; ++list) {
      const size_t image = list / p.classes;
      int64_t* to = y + list * room * kSelectedBox;
      const auto put = [&](size_t box) {
        to[0] = static_cast<int64_t>(image);
        to[1] = static_cast<int64_t>(list % p.classes);
        to[2] = static_cast<int64_t>(box);
        to += kSelectedBox;
      };
      const uint32_t* chosen;
      const size_t count = select_boxes(p.selection, boxes + image * rows * 4, scores + list * rows,
                                        scratch, &chosen);
      for (size_t i = 0; i < count; ++i) put(chosen[i]);
      std::fill(to, y + (list + 1) * room * kSelectedBox, -1);
    }
  });
  int64_t* end = y;
  for (size_t list = 0; list < lists; ++list) {
    const int64_t* const from = y + list * room * kSelectedBox;
    const int64_t* const last = from + found_entries(from, kSelectedBox, room) * kSelectedBox;
    end = from == end ? const_cast<int64_t*>(last) : std::copy(from, last, end);
  }
  std::fill(end, y + lists * room * kSelectedBox, -1);
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::SelectBoxesOptions>();
  const Shape& scores = context.inputs[1].type.shape;
  auto p = make_planned<Params>();
  p->images = static_cast<size_t>(scores[0]);
  p->classes = static_cast<size_t>(scores[1]);
  p->selection.rows = static_cast<size_t>(scores[2]);
  p->selection.most = o->most();
  p->selection.most_overlap = float_of(o->max_overlap());
  p->selection.has_least_score = o->has_least_score();
  p->selection.least_score = float_of(o->least_score());
  p->selection.is_centered = o->is_centered();
  p->tasks = task_count(50 * static_cast<double>(scores.elements()), p->images * p->classes,
                        context.threads);
  p->task_bytes = round_up(select_boxes_scratch_bytes(p->selection), kAlignment);
  step->scratch_bytes = product_or_most({p->tasks, p->task_bytes});
  step->kernel = "select_boxes_scalar";
  step->run = run;
  step->params = std::move(p);
  return Status();
}

}  // namespace

std::string describe_select_boxes(const fb::Operator&) { return "float32 overlaps"; }

const OpDef kSelectBoxesOp = {"SelectBoxes",
                              fb::OpOptions::SelectBoxes,
                              infer,
                              prepare,
                              {Arithmetic::kEdge, edge_level, no_requant, never_apart,
                               LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kOperands}};

}  // namespace qrt
