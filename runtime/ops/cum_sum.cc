// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums of integers along one axis.
#include "runtime/ops/axis_layout.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::CumSumOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(x.dtype == DType::kInt32 || x.dtype == DType::kInt64,
                  "x is %s, expected int32 or int64", dtype_name(x.dtype));
  QRT_MODEL_CHECK(x.shape.rank() >= 1, "x has rank 0, expected at least 1");
  QRT_TRY(check_range("axis", o->axis(), 0, x.shape.rank() - 1));
  return add_output(x.dtype, x.shape, outputs);
}

struct Params {
  AxisLayout lines;
  bool exclusive, reverse;
  size_t tasks;
};

// Adds unsigned numbers, whose sums have the bits of the signed ones' modulo 2^width.
template <class T>
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const size_t n = p.lines.n, inner = p.lines.inner;
  const T* x = reinterpret_cast<const T*>(context.in(step, 0));
  T* y = reinterpret_cast<T*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.lines.count(), 1, [&](size_t, size_t begin, size_t end) {
    for (size_t line = begin; line < end; ++line) {
      const size_t first = line / inner * n * inner + line % inner;
      T sum = 0;
      for (size_t i = 0; i < n; ++i) {
        const size_t at = first + (p.reverse ? n - 1 - i : i) * inner;
        const T v = x[at];
        y[at] = p.exclusive ? sum : sum + v;
        sum += v;
      }
    }
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::CumSumOptions>();
  const TensorType& x = context.inputs[0].type;
  auto params = make_planned<Params>();
  params->lines = axis_layout(x.shape, o->axis());
  params->exclusive = o->exclusive();
  params->reverse = o->reverse();
  params->tasks =
      task_count(static_cast<double>(x.shape.elements()), params->lines.count(), context.threads);
  step->kernel = "cum_sum_scalar";
  step->run = x.dtype == DType::kInt64 ? run<uint64_t> : run<uint32_t>;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_cum_sum(const fb::Operator&) { return "running sum"; }

const OpDef kCumSumOp = {
    "CumSum",
    fb::OpOptions::CumSum,
    infer,
    prepare,
    {Arithmetic::kIntegers, integer_level, no_requant, axis_apart<fb::CumSumOptions>,
     LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
