// SPDX-License-Identifier: Apache-2.0
// DepthwiseConv2D: one filter per channel, cut into output rows of all images.
#include <algorithm>
#include <memory>

#include "kernels/depthwise/pack.h"
#include "runtime/checked.h"
#include "runtime/float_forms.h"
#include "runtime/ops/check.h"
#include "runtime/ops/depthwise_int16.h"
#include "runtime/ops/gemm_call.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/image.h"
#include "runtime/ops/int16_gemm.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {

Status depthwise_geometry(const InferContext& context, DepthwiseShape* s) {
  const auto* options = context.op->options_as<fb::DepthwiseConv2DOptions>();
  QRT_TRY(check_input_count(context, 3));
  QRT_TRY(check_image(context, 0));
  QRT_TRY(check_dtype(context, 1, "weights", DType::kInt8));
  QRT_TRY(check_rank(context, 1, "weights", 3, "[kh, kw, out]"));
  const Shape& x = context.inputs[0].type.shape;
  const Shape& w = context.inputs[1].type.shape;
  const int64_t channels = image_shape(x).c, multiplier = options->multiplier();
  QRT_MODEL_CHECK(multiplier >= 1 && w[2] % multiplier == 0 && w[2] / multiplier == channels,
                  "weights have shape %s, expected [kh, kw, %lld channels * multiplier %lld]",
                  w.to_string().c_str(), static_cast<long long>(channels),
                  static_cast<long long>(multiplier));
  WindowAxes axes = axes_of(*options, pads_of(context, *options), w[0], w[1]);
  QRT_TRY(infer_windows(x, &axes, s));
  s->in_c = static_cast<size_t>(channels);
  s->multiplier = static_cast<size_t>(multiplier);
  QRT_TRY(check_range("terms", options->terms(), 1, 3));
  QRT_MODEL_CHECK(options->terms() == 1 || !runs_int16(context.inputs[0].type.dtype),
                  "terms is %d, expected 1 with an INT16 input", options->terms());
  s->terms = options->terms();
  return {};
}

namespace {

Status check_constants(const InferContext& context, const DepthwiseShape& s) {
  const auto* options = context.op->options_as<fb::DepthwiseConv2DOptions>();
  const size_t out_c = s.in_c * s.multiplier;
  const uint64_t term_bytes = depthwise_packed_bytes(out_c, s.kernel_h, s.kernel_w);
  QRT_TRY(check_weights(context, fb::Packing::DEPTHWISE, s.terms * term_bytes,
                        s.terms * ceil_div(out_c, 16)));
  const auto* weights = reinterpret_cast<const int8_t*>(context.inputs[1].data);
  for (size_t term = 0; term < s.terms; ++term)
    QRT_MODEL_CHECK(
        depthwise_tails_are_zero(weights + term * term_bytes, out_c, s.kernel_h, s.kernel_w),
        "input 1 (weights) is not zero where its packing rounds %zu rows up to 4", s.kernel_h);
  if (runs_int16(context.inputs[0].type.dtype))
    return check_int16_constants(context, out_c, s.kernel_h * s.kernel_w, options->weight_sum(),
                                 options->requant(), /*is_planes=*/false);
  QRT_TRY(check_bias(context, 2, out_c));
  QRT_TRY(check_weight_sum(options->weight_sum(), out_c));
  return check_requant(options->requant(), out_c, /*allow_acc=*/false);
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  DepthwiseShape s;
  QRT_TRY(depthwise_geometry(context, &s));
  if (!context.knows_constants) QRT_TRY(check_constants(context, s));
  return add_output(
      context.inputs[0].type.dtype,
      with_planes(context.inputs[0].type.shape, static_cast<int64_t>(s.out_h),
                  static_cast<int64_t>(s.out_w), static_cast<int64_t>(s.in_c * s.multiplier)),
      outputs);
}

struct Params {
  DepthwiseShape shape;
  const DepthwiseKernel* kernel;
  size_t images, tasks, task_scratch;
  const int8_t* weights;
  std::shared_ptr<const PlanVector<int32_t>> bias;
  std::shared_ptr<const LayerRequant> requant;
  std::shared_ptr<const TableBytes> padding;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const DepthwiseShape& s = p.shape;
  const uint8_t* x = context.in(step, 0);
  uint8_t* y = context.out(step, 0);
  const size_t in_bytes = s.in_h * s.in_w * s.in_c;
  const size_t out_bytes = s.out_h * s.out_w * s.in_c * s.multiplier;
  for_chunks(*context.parallel, p.tasks, p.images * s.out_h, 1,
             [&](size_t task, size_t begin, size_t end) {
               DepthwiseArgs args{};
               args.shape = s;
               args.zero = p.padding->data();
               args.weights = p.weights;
               args.bias = p.bias->data();
               args.requant = p.requant->params.requant;
               args.scratch = context.scratch + task * p.task_scratch;
               while (begin < end) {
                 const size_t image = begin / s.out_h, first = begin % s.out_h;
                 const size_t rows = std::min(end - begin, s.out_h - first);
                 args.input = x + image * in_bytes;
                 args.output = y + image * out_bytes;
                 args.row_begin = first;
                 args.row_end = first + rows;
                 p.kernel->fn(args);
                 begin += rows;
               }
             });
}

Status prepare_int16(const PrepareContext& context, const DepthwiseShape& s, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::DepthwiseConv2DOptions>();
  const size_t channels = s.in_c * s.multiplier;
  QRT_TRY(context.take(depthwise_int16_bytes(s, /*digits=*/1, *options->requant())));
  DepthwiseInt16Layer layer{s,
                            static_cast<size_t>(image_shape(context.inputs[0].type.shape).images),
                            options->input_zero_point_16(),
                            options->requant(),
                            options->weight_sum(),
                            /*digits=*/1,
                            PlanVector<int16_t>(s.kernel_h * s.kernel_w * channels),
                            {}};
  depthwise_unpack(reinterpret_cast<const int8_t*>(context.inputs[1].data), channels, s.kernel_h,
                   s.kernel_w, layer.weights.data());
  return prepare_depthwise_int16(context, std::move(layer), step);
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::DepthwiseConv2DOptions>();
  auto params = make_planned<Params>();
  DepthwiseShape& s = params->shape;
  QRT_TRY(depthwise_geometry(context, &s));
  if (runs_int16(context.inputs[0].type.dtype)) return prepare_int16(context, s, step);
  const size_t channels = s.in_c * s.multiplier;
  params->images = static_cast<size_t>(image_shape(context.inputs[0].type.shape).images);
  step->macs = uint64_t{params->images} * s.out_h * s.out_w * channels * s.kernel_h * s.kernel_w;
  QRT_TRY(context.take(layer_bias_bytes(options->requant(), 1, channels) +
                       requant_bytes(*options->requant(), channels)));
  params->kernel = select_depthwise(context.isas, s);
  QRT_TRY(make_padding(context, options->input_zero_point(), s.in_c + kSlack, &params->padding));
  params->weights = reinterpret_cast<const int8_t*>(context.inputs[1].data);
  const LayerSource layer = {
      options->requant(), context.inputs[2].data, options->weight_sum(), channels,
      channels,           s.products(),           context.file_end};
  params->requant =
      layer_requant(layer, /*knows_bias=*/true, channels, channels, context.isas,
                    may_fit(params->images * s.out_h * s.out_w, context.isas), context.shared);
  params->bias = layer_bias(layer, *params->requant, params->kernel->signed_lhs, context.shared);

  step->kernel = params->kernel->name;
  const double ns = static_cast<double>(step->macs) / speed_of(params->kernel->isa).channels;
  params->tasks = task_count(ns, params->images * s.out_h, context.threads);
  if (!checked_align(params->kernel->scratch_bytes(s), kAlignment, &params->task_scratch) ||
      !checked_mul(params->task_scratch, params->tasks, &step->scratch_bytes)) {
    return error(Code::kOutOfMemory, "scratch of %zu tasks", params->tasks);
  }
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_depthwise_conv2d(const fb::Operator& op) {
  return describe_requant(requant_of<fb::DepthwiseConv2DOptions>(op));
}

const OpDef kDepthwiseConv2DOp = {
    "DepthwiseConv2D",
    fb::OpOptions::DepthwiseConv2D,
    infer,
    prepare,
    {Arithmetic::kRequant, level_of_requant<fb::DepthwiseConv2DOptions>,
     requant_of<fb::DepthwiseConv2DOptions>, always_apart, LayoutRule::kImages, Broadcasting::kNone,
     Constants::weights<fb::DepthwiseConv2DOptions>()}};

}  // namespace qrt
