// SPDX-License-Identifier: Apache-2.0
// Conv2D of few inputs in the form of kernels/stem: many rows of outputs at a time, and fewer dwords of
// inputs. Its weights are brought into their form once for a model.
#include <algorithm>

#include "kernels/stem/stem.h"
#include "runtime/ops/conv2d_forms.h"
#include "runtime/ops/conv2d_row_ranges.h"
#include "runtime/ops/dynamic_layer.h"

namespace qrt {
namespace {

// The form does not pay where padded rows exceed a task's share of the second-level cache; beyond
// kMostPadded sizes would overflow.
constexpr size_t kMostScratch = 256 << 10;
constexpr size_t kMostPadded = 1 << 16;
// Weights of more dwords are streamed for every tile, for which the gemm family's larger tiles are better.
constexpr size_t kMostSteps = 64;

struct Params {
  StemShape shape;
  const StemKernel* kernel;
  GemmCall gemm;  // its bias, requantisation and packed weights
  RowRanges ranges;
  std::shared_ptr<const TableBytes> weights;
  PlanVector<uint32_t> offsets;
  uint8_t input_zero_point;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const StemShape& s = p.shape;
  StemArgs job;
  job.shape = s;
  job.zero_point = p.input_zero_point;
  job.weights = p.weights->as<int8_t>();
  job.offsets = p.offsets.data();
  job.bias = p.gemm.bias().data();
  job.requant = p.gemm.requant();
  job.y_pitch = output_pitch(step, s.out_c);
  run_row_ranges(step, context, p.ranges, p.kernel->fn, job, s.in_c, s.out_c);
}

}  // namespace

bool may_take_stem(const fb::Conv2DOptions& options, const Shape&) {
  return options.tap_layout() == fb::TapLayout::ROW && options.terms() == 1;
}

Status prepare_stem_conv2d(const PrepareContext& context, const Conv2DGeometry& g, GemmCall* gemm,
                           PlannedStep* step) {
  if (is_dynamic_layer(context) || gemm->element_bytes != 1 || gemm->requant_channels < g.out_c ||
      g.images * g.out_h * g.out_w == 0)
    return Status();
  const StemKernel* kernel = select_stem(context.isas);
  if (kernel == nullptr || !kernel->handles(gemm->requant(), g.out_c)) return Status();
  auto params = make_planned<Params>();
  StemShape& s = params->shape;
  s = {g, g.in_c, g.out_c};
  if (std::max({g.out_w, g.stride_w, g.kernel_w}) > kMostPadded || s.padded_h(1) > kMostPadded ||
      s.steps() > kMostSteps || stem_scratch_bytes(s) > kMostScratch)
    return Status();

  TableKey key("stem");
  key.add(gemm->weights, s.in_c, s.out_c, s.kernel_h, s.kernel_w, s.stride_w);
  params->weights = context.share_bytes(
      key, static_cast<size_t>(stem_weight_bytes(s)),
      [&](uint8_t* data) { stem_weights(gemm->weights, s, reinterpret_cast<int8_t*>(data)); });
  if (params->weights == nullptr) return Status();
  QRT_TRY(context.take(stem_offset_count(s) * sizeof(uint32_t)));
  params->offsets.resize(stem_offset_count(s));
  stem_offsets(s, params->offsets.data());

  params->kernel = kernel;
  params->gemm = std::move(*gemm);
  params->input_zero_point = context.op->options_as<fb::Conv2DOptions>()->input_zero_point();
  const double ns = static_cast<double>(step->macs) / speed_of(kernel->isa).macs;
  params->ranges = RowRanges(context, g, ns, stem_rows_per_call(s), stem_scratch_bytes(s));
  step->kernel = kernel->name;
  step->can_lead = true;
  step->output_rows = g.images * g.out_h * g.out_w;
  step->scratch_bytes = params->ranges.scratch_bytes();
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace qrt
