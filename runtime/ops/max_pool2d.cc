// SPDX-License-Identifier: Apache-2.0
// MaxPool2D: the greatest value of every window; a kernel of 0 x 0 is the whole image.
#include "kernels/pool/pool_int16.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/pool_call.h"

namespace qrt {

Status max_pool_geometry(const InferContext& context, PoolShape* shape) {
  const auto* o = context.op->options_as<fb::MaxPool2DOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_image(context, 0));
  const ImageShape x = image_shape(context.inputs[0].type.shape);
  const Pads pads = pads_of(context, *o);
  const int64_t kernel_h = context.number(fb::SizeField::KERNEL_H, o->kernel_h());
  const int64_t kernel_w = context.number(fb::SizeField::KERNEL_W, o->kernel_w());
  if (kernel_h == 0 && kernel_w == 0) {
    using ll = long long;
    QRT_MODEL_CHECK(pads.top == 0 && pads.left == 0 && pads.bottom == 0 && pads.right == 0,
                    "padding %lld, %lld, %lld, %lld of a global pool, expected 0", ll{pads.top},
                    ll{pads.left}, ll{pads.bottom}, ll{pads.right});
    return infer_pool(context, {{0, x.h, 1, 1, 0, 0}, {0, x.w, 1, 1, 0, 0}}, shape);
  }
  return infer_pool(context, axes_of(*o, pads, kernel_h, kernel_w), shape);
}

namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  PoolShape shape;
  QRT_TRY(max_pool_geometry(context, &shape));
  return add_pool_output(context, shape, outputs);
}

void run(const Step& step, const RunContext& context) {
  const PoolCall& pool = step.as<PoolCall>();
  run_pool(pool, *context.parallel, context.in(step, 0), context.out(step, 0), MaxPoolArgs{},
           pool.kernel->max);
}

void run_int16(const Step& step, const RunContext& context) {
  const PoolCall& pool = step.as<PoolCall>();
  run_pool(pool, *context.parallel, in_16(step, context), out_16(step, context), PoolInt16Args{},
           pool.kernel->max_int16);
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  auto pool = make_planned<PoolCall>();
  QRT_TRY(max_pool_geometry(context, &pool->shape));
  make_pool(context, pool.get());
  if (runs_int16(context.inputs[0].type.dtype)) {
    step->kernel = pool->kernel->name_int16;
    step->run = run_int16;
    step->params = std::move(pool);
    return Status();
  }
  step->kernel = pool->kernel->name;
  step->run = run;
  step->params = std::move(pool);
  return Status();
}

}  // namespace

std::string describe_max_pool2d(const fb::Operator&) { return "maximum"; }

const OpDef kMaxPool2DOp = {"MaxPool2D",
                            fb::OpOptions::MaxPool2D,
                            infer,
                            prepare,
                            {Arithmetic::kSelects, integer_level, no_requant, always_apart,
                             LayoutRule::kImages, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
