// SPDX-License-Identifier: Apache-2.0
// L2Normalization: rows of the last axis divided by their Euclidean norm. Cut into rows.
#include "kernels/normalize/l2_normalization.h"

#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::L2NormalizationOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_dtype(context, 0, "x", DType::kUInt8));
  QRT_TRY(check_range("kind", static_cast<int64_t>(options->kind()), 0,
                      static_cast<int64_t>(fb::L2NormalizationKind::MAX)));
  const Shape& x = context.inputs[0].type.shape;
  QRT_MODEL_CHECK(x.rank() >= 1, "x has rank 0, expected at least 1");
  const int64_t n = x[x.rank() - 1];
  QRT_MODEL_CHECK(n <= static_cast<int64_t>(kMaxL2Row), "rows of %lld values, expected at most %zu",
                  static_cast<long long>(n), kMaxL2Row);
  return add_output(DType::kUInt8, x, outputs);
}

struct Params {
  int32_t zero_point;
  bool one_rounding;
  size_t rows, n, tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    l2_normalize_rows(p.zero_point, p.one_rounding, context.in(step, 0) + begin * p.n,
                      context.out(step, 0) + begin * p.n, end - begin, p.n);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::L2NormalizationOptions>();
  const Shape& shape = context.outputs[0].shape;
  auto params = make_planned<Params>();
  params->zero_point = options->zero_point();
  params->one_rounding = options->kind() == fb::L2NormalizationKind::ONE_ROUNDING;
  params->n = static_cast<size_t>(shape[shape.rank() - 1]);
  params->rows = static_cast<size_t>(shape.elements()) / params->n;
  params->tasks =
      task_count(2 * static_cast<double>(shape.elements()), params->rows, context.threads);
  step->kernel = "l2_normalize_u8";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_l2_normalization(const fb::Operator&) {
  return "int32 sum, reciprocal root by Newton's steps";
}

const OpDef kL2NormalizationOp = {"L2Normalization",
                                  fb::OpOptions::L2Normalization,
                                  infer,
                                  prepare,
                                  {Arithmetic::kForms, integer_level, no_requant, rows_apart,
                                   LayoutRule::kRows, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
