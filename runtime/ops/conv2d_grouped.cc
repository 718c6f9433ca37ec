// SPDX-License-Identifier: Apache-2.0
// Conv2D of groups of few channels in the form of kernels/grouped: only products of a group's own
// weights, where the gemm family has a block of 16 outputs and zeros for the inputs of the others. Its
// weights are brought into their form once for a model, into as many bytes as they have, or twice as
// many.
#include <algorithm>

#include "kernels/grouped/grouped.h"
#include "runtime/ops/conv2d_forms.h"
#include "runtime/ops/conv2d_row_ranges.h"
#include "runtime/ops/dynamic_layer.h"

namespace qrt {
namespace {

// The form does not pay where the padded pixels of one output row exceed a task's share of the
// second-level cache.
constexpr uint64_t kMostScratch = 256 << 10;
// Beyond these the sizes computed below would overflow.
constexpr size_t kMostPadded = 1 << 20;

struct Params {
  GroupedShape shape;
  const GroupedKernel* kernel;
  GemmCall layer;  // its bias, requantisation and packed weights
  std::shared_ptr<const TableBytes> weights;
  RowRanges ranges;
  uint8_t input_zero_point;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const GroupedShape& s = p.shape;
  GroupedArgs job;
  job.shape = s;
  job.x_pitch = input_pitch(step, 0, s.channels);
  job.zero_point = p.input_zero_point;
  job.weights = p.weights->as<int8_t>();
  job.bias = p.layer.bias().data();
  job.requant = p.layer.requant();
  job.y_pitch = output_pitch(step, s.channels);
  run_row_ranges(step, context, p.ranges, p.kernel->fn, job, job.x_pitch, s.channels);
}

// Returns the weights in the kernel's form, or null where they take too much memory.
std::shared_ptr<const TableBytes> share_weights(const PrepareContext& context, const int8_t* packed,
                                                const GroupedKernel& kernel,
                                                const GroupedShape& shape, size_t k) {
  TableKey key("grouped");
  key.add(packed, shape.channels, shape.group, shape.kernel_h, shape.kernel_w, k, &kernel);
  return context.share_bytes(
      key, static_cast<size_t>(grouped_weight_bytes(kernel, shape)), [&](uint8_t* data) {
        grouped_weights(kernel, shape, packed, k, reinterpret_cast<int8_t*>(data));
      });
}

}  // namespace

bool may_take_grouped(const fb::Conv2DOptions& options, const Shape& weights) {
  const int64_t groups = options.groups(), out = weights[0], k = weights[3];
  return groups > 1 && out == k * groups && options.terms() == 1 &&
         options.tap_layout() != fb::TapLayout::ROW && k <= static_cast<int64_t>(kGroupedPanel) &&
         out <= static_cast<int64_t>(kTensorRequantChannels);
}

Status prepare_grouped_conv2d(const PrepareContext& context, const Conv2DGeometry& g, GemmCall*,
                              PlannedStep* step) {
  const auto* options = context.op->options_as<fb::Conv2DOptions>();
  if (is_dynamic_layer(context) || options->requant()->kind() == fb::RequantKind::ACC)
    return Status();
  const auto* packed = reinterpret_cast<const int8_t*>(context.inputs[1].data);
  const GroupedShape shape = {g, g.out_c, grouped_width(packed, g.out_c, g.taps, g.k)};
  const GroupedKernel* kernel =
      shape.group == 0 ? nullptr : select_grouped(context.isas, shape.group);
  if (kernel == nullptr || shape.padded_w() > kMostPadded || shape.padded_h(1) > kMostPadded)
    return Status();
  const uint64_t scratch = grouped_scratch_bytes(*kernel, shape);
  if (scratch > kMostScratch) return Status();
  const auto weights = share_weights(context, packed, *kernel, shape, g.k);
  if (weights == nullptr) return Status();

  auto params = make_planned<Params>();
  params->shape = shape;
  params->kernel = kernel;
  params->weights = weights;
  params->input_zero_point = options->input_zero_point();
  GemmCall& layer = params->layer;  // as if all channels were of one group
  layer.m = g.out_h * g.out_w, layer.outer = g.images;
  layer.n = g.out_c;
  layer.taps = g.taps, layer.kc = shape.group;
  QRT_TRY(context.take(gemm_table_bytes(options->requant(), 1, g.out_c)));
  make_gemm({context.inputs[1].data, context.inputs[2].data, options->weight_sum()},
            {options->requant(), options->pair_safe(), context.file_end, context.shared,
             /*other_kernel=*/true, kernel->signed_lhs()},
            context.isas, 1, &layer);
  step->macs = step->macs / g.k * std::min(g.k, shape.group);
  const double ns = static_cast<double>(step->macs) / speed_of(kernel->isa).macs;
  params->ranges = RowRanges(context, g, ns, grouped_rows_per_call(*kernel, shape),
                             static_cast<size_t>(scratch));
  step->kernel = kernel->name;
  step->can_lead = true;
  step->input_rows = g.images * g.in_h * g.in_w;
  step->output_rows = g.images * g.out_h * g.out_w;
  step->scratch_bytes = params->ranges.scratch_bytes();
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace qrt
