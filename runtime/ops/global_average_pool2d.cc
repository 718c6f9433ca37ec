// SPDX-License-Identifier: Apache-2.0
// GlobalAveragePool2D: integer sum over an image's pixels, requantised; cut into blocks of channels
// of all images.
#include <algorithm>

#include "kernels/pool/pool.h"
#include "kernels/pool/pool_int16.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/image.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 64;  // channels; contract of the kernel

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::GlobalAveragePool2DOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_image(context, 0));
  const ImageShape x = image_shape(context.inputs[0].type.shape);
  const int64_t pixels = x.h * x.w;  // each below 2^31
  const DType dtype = context.inputs[0].type.dtype;
  const int bits = dtype == DType::kInt16 ? 15 : 23;
  QRT_MODEL_CHECK(pixels < (1 << bits),
                  "x has images of %lld x %lld pixels, expected fewer than 2^%d pixels",
                  static_cast<long long>(x.h), static_cast<long long>(x.w), bits);
  QRT_TRY(check_requant(options->requant(), 1, /*allow_acc=*/false, dtype));
  return add_output(dtype, with_planes(context.inputs[0].type.shape, 1, 1, x.c), outputs);
}

struct Params {
  const PoolKernel* kernel;
  RequantParams requant;
  GlobalSumArgs args{};
  size_t images, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const size_t blocks = ceil_div(p.args.c, kBlock);
  for_chunks(*context.parallel, p.tasks, p.images * blocks, 1,
             [&](size_t, size_t begin, size_t end) {
               GlobalSumArgs args = p.args;
               while (begin < end) {
                 const size_t image = begin / blocks, block = begin % blocks;
                 const size_t count = std::min(end - begin, blocks - block);
                 args.input = context.in(step, 0) + image * args.pixels * args.c;
                 args.output = context.out(step, 0) + image * args.c;
                 args.channel_begin = block * kBlock;
                 args.channel_end = std::min((block + count) * kBlock, args.c);
                 p.kernel->global_sum(args);
                 begin += count;
               }
             });
}

struct Int16Params {
  RequantParams requant;
  GlobalSumInt16Args args{};
  size_t images, tasks;
};

void run_int16(const Step& step, const RunContext& context) {
  const Int16Params& p = step.as<Int16Params>();
  for_chunks(*context.parallel, p.tasks, p.images, 1, [&](size_t, size_t begin, size_t end) {
    GlobalSumInt16Args args = p.args;
    for (size_t i = begin; i < end; ++i) {
      args.input = reinterpret_cast<const int16_t*>(context.in(step, 0)) + i * args.pixels * args.c;
      args.output = reinterpret_cast<int16_t*>(context.out(step, 0)) + i * args.c;
      global_sum_int16(args);
    }
  });
}

Status prepare_int16(const PrepareContext& context, PlannedStep* step) {
  const Shape& shape = context.inputs[0].type.shape;
  const ImageShape x = image_shape(shape);
  const auto* options = context.op->options_as<fb::GlobalAveragePool2DOptions>();
  auto params = make_planned<Int16Params>();
  params->requant = make_requant(*options->requant(), 1);
  params->images = static_cast<size_t>(x.images);
  params->args.pixels = static_cast<size_t>(x.h * x.w);
  params->args.c = static_cast<size_t>(x.c);
  params->args.input_zero_point = options->input_zero_point_16();
  params->args.requant = params->requant.requant;
  params->tasks = task_count(2 * static_cast<double>(shape.elements()) / kCopyBytesPerNs,
                             params->images, context.threads);
  step->kernel = "global_sum_s16";
  step->run = run_int16;
  step->params = std::move(params);
  return Status();
}

// Puts in the scale that follows from the image's size. Only a requantisation with one scale, which it
// keeps itself, has a rule for it.
void set_scale(const SizedFields& sized, RequantParams* params) {
  if (const uint32_t scale = sized.scale(0); scale != 0)
    std::fill(params->scale.begin(), params->scale.end(), float_of(scale));
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  if (runs_int16(context.inputs[0].type.dtype)) return prepare_int16(context, step);
  const Shape& shape = context.inputs[0].type.shape;
  const ImageShape x = image_shape(shape);
  const auto* options = context.op->options_as<fb::GlobalAveragePool2DOptions>();
  auto params = make_planned<Params>();
  params->kernel = select_pool(context.isas);
  params->requant = make_requant(*options->requant(), 1);
  if (context.fields() != nullptr) set_scale(*context.fields(), &params->requant);
  params->images = static_cast<size_t>(x.images);
  params->args.pixels = static_cast<size_t>(x.h * x.w);
  params->args.c = static_cast<size_t>(x.c);
  params->args.input_zero_point = options->input_zero_point();
  params->args.requant = params->requant.requant;
  params->tasks =
      task_count(static_cast<double>(shape.elements()) / speed_of(params->kernel->isa).pooled,
                 params->images * ceil_div(params->args.c, kBlock), context.threads);
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_global_average_pool2d(const fb::Operator& op) {
  return describe_requant(requant_of<fb::GlobalAveragePool2DOptions>(op));
}

const OpDef kGlobalAveragePool2DOp = {
    "GlobalAveragePool2D",
    fb::OpOptions::GlobalAveragePool2D,
    infer,
    prepare,
    {Arithmetic::kRequant, level_of_requant<fb::GlobalAveragePool2DOptions>,
     requant_of<fb::GlobalAveragePool2DOptions>, always_apart, LayoutRule::kImages,
     Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
