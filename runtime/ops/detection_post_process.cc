// SPDX-License-Identifier: Apache-2.0
// DetectionPostProcess: a detector's boxes, decoded and reduced by non-maximum suppression.
#include <algorithm>
#include <cmath>

#include "kernels/detection/detection.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

constexpr size_t kCodes = DetectionParams::kCodes;
constexpr int64_t kMaxCount = 65535;
// Corners of boxes stay finite.
constexpr double kMaxTerm = 0x1p60;

Status check_tables(const fb::DetectionPostProcessOptions& o) {
  const auto* terms = o.box_terms();
  const auto* scores = o.score_values();
  QRT_MODEL_CHECK(terms != nullptr && terms->size() == 4 * kCodes,
                  "box_terms has %u values, expected 1024", terms ? terms->size() : 0);
  QRT_MODEL_CHECK(scores != nullptr && scores->size() == kCodes,
                  "score_values has %u values, expected 256", scores ? scores->size() : 0);
  for (const double v : *terms)
    QRT_MODEL_CHECK(std::fabs(v) <= kMaxTerm, "box_terms has %g, expected at most 2^60 in size", v);
  for (uint32_t i = 0; i < kCodes; ++i)
    QRT_MODEL_CHECK(
        std::isfinite(scores->Get(i)) && (i == 0 || scores->Get(i) > scores->Get(i - 1)),
        "score_values[%u] is %g, expected finite numbers, each above the one before", i,
        static_cast<double>(scores->Get(i)));
  return Status();
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::DetectionPostProcessOptions>();
  QRT_TRY(check_input_count(context, 3));
  QRT_TRY(check_dtype(context, 0, "boxes", DType::kUInt8));
  QRT_TRY(check_dtype(context, 1, "scores", DType::kUInt8));
  QRT_TRY(check_rank(context, 0, "boxes", 3, "[n, rows, k]"));
  QRT_TRY(check_rank(context, 1, "scores", 3, "[n, rows, c]"));
  const Shape &boxes = context.inputs[0].type.shape, &scores = context.inputs[1].type.shape;
  const int64_t n = boxes[0], rows = boxes[1];
  QRT_MODEL_CHECK(boxes[2] >= 4, "boxes have %lld values, expected at least 4",
                  static_cast<long long>(boxes[2]));
  QRT_MODEL_CHECK(scores[0] == n && scores[1] == rows,
                  "boxes have shape %s and scores %s, expected [n, rows, k] and [n, rows, c]",
                  boxes.to_string().c_str(), scores.to_string().c_str());
  QRT_TRY(check_range("classes", o->classes(), std::max<int64_t>(scores[2] - 1, 1), scores[2]));
  QRT_TRY(check_plain_constant(context, 2, "anchors", DType::kFloat32, {rows, 4}));
  const float* anchors = reinterpret_cast<const float*>(context.inputs[2].data);
  for (int64_t i = 0; i < 4 * rows; ++i)
    QRT_MODEL_CHECK(std::fabs(static_cast<double>(anchors[i])) <= kMaxTerm,
                    "anchors have %g, expected at most 2^60 in size",
                    static_cast<double>(anchors[i]));
  QRT_TRY(check_tables(*o));
  QRT_TRY(check_range("max_detections", o->max_detections(), 1, kMaxCount));
  QRT_TRY(check_range("classes_per_detection", o->classes_per_detection(), 1, kMaxCount));
  QRT_TRY(check_range("detections_per_class", o->detections_per_class(), 1, o->max_detections()));
  QRT_TRY(check_range("least_score", o->least_score(), 0, kCodes));
  const float overlap = float_of(o->max_overlap());
  QRT_MODEL_CHECK(overlap > 0 && overlap <= 1, "max_overlap is %g, expected above 0, at most 1",
                  static_cast<double>(overlap));
  const int64_t results = int64_t{o->max_detections()} * o->classes_per_detection();
  *outputs = {{DType::kFloat32, {n, results, 4}},
              {DType::kFloat32, {n, results}},
              {DType::kFloat32, {n, results}},
              {DType::kFloat32, {n}}};
  return Status();
}

struct Params {
  DetectionParams detection;
  size_t images, tasks, scratch_bytes;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const DetectionParams& d = p.detection;
  const auto out = [&](size_t i) { return reinterpret_cast<float*>(context.out(step, i)); };
  const size_t results = d.most_boxes * d.result_stride;
  for_chunks(*context.parallel, p.tasks, p.images, 1, [&](size_t task, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      detect(d, context.in(step, 0) + i * d.rows * d.box_stride,
             context.in(step, 1) + i * d.rows * (d.first_class + d.classes),
             reinterpret_cast<const float*>(context.in(step, 2)),
             context.scratch + task * p.scratch_bytes,
             {out(0) + i * 4 * results, out(1) + i * results, out(2) + i * results, out(3) + i});
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::DetectionPostProcessOptions>();
  const Shape &boxes = context.inputs[0].type.shape, &scores = context.inputs[1].type.shape;
  QRT_TRY(context.take(sizeof(Params)));
  auto params = make_planned<Params>();
  DetectionParams& d = params->detection;
  d.rows = static_cast<size_t>(boxes[1]);
  d.box_stride = static_cast<size_t>(boxes[2]);
  d.classes = o->classes();
  d.first_class = static_cast<size_t>(scores[2]) - d.classes;
  d.most_boxes = o->max_detections();
  d.per_class = o->per_class();
  d.most_per_class = o->detections_per_class();
  d.result_stride = o->classes_per_detection();
  d.results_per_box = std::min(d.result_stride, d.classes);
  d.least_score = static_cast<int>(o->least_score());
  d.most_overlap = float_of(o->max_overlap());
  for (uint32_t i = 0; i < 4 * kCodes; ++i)
    d.terms[i / kCodes][i % kCodes] = o->box_terms()->Get(i);
  for (uint32_t i = 0; i < kCodes; ++i) d.scores[i] = o->score_values()->Get(i);
  params->images = static_cast<size_t>(boxes[0]);
  // Estimates some 20 ns a box beside the scores; how many boxes are suppressed is not known in advance.
  params->tasks =
      task_count(20.0 * static_cast<double>(boxes[0] * boxes[1]), params->images, context.threads);
  params->scratch_bytes = round_up(detection_scratch_bytes(d), kAlignment);
  step->scratch_bytes = product_or_most({params->tasks, params->scratch_bytes});
  step->kernel = "detect_scalar";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_detection_post_process(const fb::Operator&) { return "float32 boxes"; }

const OpDef kDetectionPostProcessOp = {
    "DetectionPostProcess",
    fb::OpOptions::DetectionPostProcess,
    infer,
    prepare,
    {Arithmetic::kEdge, edge_level, no_requant, always_apart, LayoutRule::kOwn, Broadcasting::kNone,
     ConstantRule::kFixed}};

}  // namespace qrt
