// SPDX-License-Identifier: Apache-2.0
// Images of floats read at the places of a grid; see float_grid_sample.h.
#include "runtime/ops/float_grid_sample.h"

#include <algorithm>

#include "kernels/float_fallback/grid_sample.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

struct Params {
  GridSample sample;
  size_t images, places, pieces, tasks;  // places of an image, which are cut into pieces
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const float *x = floats(context.in(step, 0)), *grid = floats(context.in(step, 1));
  float* y = floats(context.out(step, 0));
  const size_t each = ceil_div(p.places, p.pieces);
  for_chunks(*context.parallel, p.tasks, p.images * p.pieces, 1,
             [&](size_t, size_t begin, size_t end) {
               for (size_t piece = begin; piece < end; ++piece) {
                 const size_t image = piece / p.pieces;
                 const size_t first = std::min(piece % p.pieces * each, p.places);
                 const size_t channels = image * p.sample.channels;
                 grid_sample(p.sample, x + channels * p.sample.h * p.sample.w,
                             grid + 2 * (image * p.places + first),
                             std::min(each, p.places - first), y + channels * p.places + first);
               }
             });
}

}  // namespace

Status infer_float_grid_sample(const InferContext& context, TensorTypes* outputs) {
  const auto* grid = context.op->options_as<fb::FloatOptions>()->grid();
  QRT_MODEL_CHECK(grid != nullptr, "there is no grid");
  QRT_TRY(
      check_range("mode", static_cast<int>(grid->mode()), 0, static_cast<int>(fb::GridMode::MAX)));
  QRT_TRY(check_range("padding", static_cast<int>(grid->padding()), 0,
                      static_cast<int>(fb::GridPadding::MAX)));
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  QRT_TRY(check_dtype(context, 1, "grid", DType::kFloat32));
  QRT_TRY(check_rank(context, 0, "x", 4, "[n, c, h, w]"));
  QRT_TRY(check_rank(context, 1, "grid", 4, "[n, oh, ow, 2]"));
  const Shape &x = context.inputs[0].type.shape, &g = context.inputs[1].type.shape;
  QRT_MODEL_CHECK(g[0] == x[0] && g[3] == 2,
                  "x has shape %s and the grid %s, expected [%lld, oh, ow, 2]",
                  x.to_string().c_str(), g.to_string().c_str(), static_cast<long long>(x[0]));
  QRT_TRY(check_range("height", x[2], 1, GridSample::kMostSize));
  QRT_TRY(check_range("width", x[3], 1, GridSample::kMostSize));
  return add_output(DType::kFloat32, {x[0], x[1], g[1], g[2]}, outputs);
}

Status prepare_float_grid_sample(const PrepareContext& context, PlannedStep* step) {
  const auto* grid = context.op->options_as<fb::FloatOptions>()->grid();
  const Shape &x = context.inputs[0].type.shape, &y = context.outputs[0].shape;
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  auto p = make_planned<Params>();
  p->images = size(x[0]);
  p->places = size(y[2]) * size(y[3]);
  p->sample.mode = static_cast<GridMode>(grid->mode());
  p->sample.padding = static_cast<GridPadding>(grid->padding());
  p->sample.align_corners = grid->align_corners();
  p->sample.channels = size(x[1]);
  p->sample.h = size(x[2]);
  p->sample.w = size(x[3]);
  p->sample.y_stride = p->places;
  const double ns = grid->mode() == fb::GridMode::CUBIC ? 30 : 10;
  p->pieces = std::min(p->places, context.threads);
  p->tasks =
      task_count(ns * static_cast<double>(y.elements()), p->images * p->pieces, context.threads);
  step->run = run;
  step->kernel = "grid_sample_scalar";
  step->params = std::move(p);
  return Status();
}

}  // namespace qrt
