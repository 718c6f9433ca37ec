// SPDX-License-Identifier: Apache-2.0
// CumSum: running sums along one axis.
#include "kernels/integer_build.h"
#include "runtime/ops/axis_layout.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/sums.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::CumSumOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  if (o->is_float() && is_integer_build())
    return error(Code::kUnsupported,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
  QRT_MODEL_CHECK(o->is_float() ? x.dtype == DType::kFloat32
                                : x.dtype == DType::kInt32 || x.dtype == DType::kInt64,
                  "x is %s, expected %s", dtype_name(x.dtype),
                  o->is_float() ? "float32" : "int32 or int64");
  QRT_MODEL_CHECK(x.shape.rank() >= 1, "x has rank 0, expected at least 1");
  QRT_TRY(check_range("axis", o->axis(), 0, x.shape.rank() - 1));
  return add_output(x.dtype, x.shape, outputs);
}

struct Params {
  AxisLayout lines;
  bool exclusive, reverse;
  size_t tasks;
};

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
        const T before = sum;
        sum = i == 0 && !p.exclusive ? x[at] : sum_of(before, x[at]);
        y[at] = p.exclusive ? before : sum;
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
  step->run = o->is_float() ? run<float> : x.dtype == DType::kInt64 ? run<uint64_t> : run<uint32_t>;
  step->params = std::move(params);
  return Status();
}

int level(const fb::Operator& op) { return op.options_as_CumSum()->is_float() ? 1 : 0; }

}  // namespace

std::string describe_cum_sum(const fb::Operator&) { return "running sum"; }

const OpDef kCumSumOp = {"CumSum",
                         fb::OpOptions::CumSum,
                         infer,
                         prepare,
                         {Arithmetic::kIntegers, level, no_requant, axis_apart<fb::CumSumOptions>,
                          LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
