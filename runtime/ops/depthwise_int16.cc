// SPDX-License-Identifier: Apache-2.0
// Depthwise layers with INT16 activations, cut into output rows of all images.
#include "runtime/ops/depthwise_int16.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/ops/int16_gemm.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

struct Params {
  DepthwiseInt16Args args{};
  const DepthwiseInt16Kernel* kernel;
  Int16Constants constants;
  PlanVector<int16_t> weights, upper_weights, padding;
  size_t images, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const DepthwiseShape& s = p.args.shape;
  const auto* x = reinterpret_cast<const int16_t*>(context.in(step, 0));
  auto* y = reinterpret_cast<int16_t*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.images * s.out_h, 1,
             [&](size_t, size_t begin, size_t end) {
               DepthwiseInt16Args args = p.args;
               while (begin < end) {
                 const size_t image = begin / s.out_h;
                 args.row_begin = begin % s.out_h;
                 args.row_end = std::min(args.row_begin + (end - begin), s.out_h);
                 args.input = x + image * s.in_h * s.in_w * s.in_c;
                 args.output = y + image * s.out_h * s.out_w * s.in_c * s.multiplier;
                 p.kernel->fn(args);
                 begin += args.row_end - args.row_begin;
               }
             });
}

}  // namespace

uint64_t depthwise_int16_bytes(const DepthwiseShape& s, size_t digits, const fb::Requant& requant) {
  const size_t channels = s.in_c * s.multiplier;
  const uint64_t weights = uint64_t{channels} * s.kernel_h * s.kernel_w * (digits > 1 ? 2 : 1);
  return (weights + s.in_c) * sizeof(int16_t) + channel_stride(channels) * sizeof(int64_t) +
         requant_bytes(requant, channel_stride(channels));
}

Status prepare_depthwise_int16(const PrepareContext& context, DepthwiseInt16Layer layer,
                               PlannedStep* step) {
  const DepthwiseShape& s = layer.shape;
  const size_t channels = s.in_c * s.multiplier;
  auto params = make_planned<Params>();
  params->kernel = select_depthwise_int16(context.isas);
  params->constants =
      make_int16_constants(context, channels, channels, layer.weight_sum, *layer.requant,
                           /*is_planes=*/false, layer.digits);
  params->weights = std::move(layer.weights);
  params->upper_weights = std::move(layer.upper_weights);
  params->padding.assign(s.in_c, layer.input_zero_point);
  params->images = layer.images;
  DepthwiseInt16Args& args = params->args;
  args.shape = s;
  args.padding = params->padding.data();
  args.weights = params->weights.data();
  args.upper_weights = params->upper_weights.empty() ? nullptr : params->upper_weights.data();
  args.combine.bias = params->constants.bias.data();
  args.combine.is_narrow = params->constants.is_narrow;
  args.combine.requant = params->constants.requant.requant;
  step->macs = uint64_t{params->images} * s.out_h * s.out_w * channels * s.kernel_h * s.kernel_w;
  params->tasks =
      task_count(2 * static_cast<double>(step->macs) / speed_of(params->kernel->isa).channels,
                 params->images * s.out_h, context.threads);
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace qrt
