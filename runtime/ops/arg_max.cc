// SPDX-License-Identifier: Apache-2.0
// ArgMax: where along an axis the greatest or least element is.
#include "kernels/compare/compare.h"
#include "kernels/integer_build.h"
#include "runtime/ops/axis_layout.h"
#include "runtime/ops/check.h"
#include "runtime/ops/elements.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::ArgMaxOptions>();
  QRT_TRY(check_input_count(context, 1));
  if (is_integer_build() || context.inputs[0].type.dtype != DType::kFloat32)
    QRT_TRY(check_integer(context, 0, "x"));
  const Shape& x = context.inputs[0].type.shape;
  QRT_MODEL_CHECK(options->axis() < static_cast<uint32_t>(x.rank()),
                  "axis is %u, expected less than the rank %d", options->axis(), x.rank());
  QRT_MODEL_CHECK(context.op->outputs()->size() == 1, "has %u outputs, expected 1",
                  context.op->outputs()->size());
  DType dtype;
  QRT_TRY(declared_index_dtype(context, 0, &dtype));
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (static_cast<uint32_t>(i) != options->axis())
      shape.push_back(x[i]);
    else if (options->keep_dims())
      shape.push_back(1);
  }
  return add_output(dtype, shape, outputs);
}

struct Params {
  ArgMaxFn fn;
  ArgMaxArgs args;
  size_t row_bytes;  // of one index of `outer`
  size_t tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const size_t index_bytes = p.args.to_int64 ? sizeof(int64_t) : sizeof(int32_t);
  for_chunks(*context.parallel, p.tasks, p.args.outer, 1, [&](size_t, size_t begin, size_t end) {
    ArgMaxArgs args = p.args;
    args.x = context.in(step, 0) + begin * p.row_bytes;
    args.outer = end - begin;
    args.y = context.out(step, 0) + begin * p.args.inner * index_bytes;
    p.fn(args);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::ArgMaxOptions>();
  const TensorType& x = context.inputs[0].type;
  auto params = make_planned<Params>();
  params->fn = arg_max_kernel(x.dtype);
  ArgMaxArgs& args = params->args;
  args = {};
  const AxisLayout lines = axis_layout(x.shape, options->axis());
  args.outer = lines.outer;
  args.n = lines.n;
  args.inner = lines.inner;
  args.minimum = options->minimum();
  args.last = options->last_index();
  args.to_int64 = context.outputs[0].dtype == DType::kInt64;
  params->row_bytes = args.n * args.inner * dtype_bytes(x.dtype);
  params->tasks = task_count(static_cast<double>(x.shape.elements()), args.outer, context.threads);
  step->kernel = args.minimum ? "arg_min_scalar" : "arg_max_scalar";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_arg_max(const fb::Operator& op) {
  return op.options_as_ArgMax()->minimum() ? "index of the minimum" : "index of the maximum";
}

const OpDef kArgMaxOp = {
    "ArgMax",
    fb::OpOptions::ArgMax,
    infer,
    prepare,
    {Arithmetic::kSelects, integer_level, no_requant, axis_apart<fb::ArgMaxOptions>,
     LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
