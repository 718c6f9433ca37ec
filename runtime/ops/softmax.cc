// SPDX-License-Identifier: Apache-2.0
// Softmax over the last axis, cut into rows: by a table of 256 exponentials, in float32 or in integers, or of
// int16 by interpolated tables or one of 65536; and its logarithm. The forms: softmax_forms.h.
#include "runtime/ops/ops.h"
#include "runtime/ops/softmax_forms.h"

namespace qrt {

void run_softmax(const Step& step, const RunContext& context) {
  const auto& p = step.as<SoftmaxRows>();
  const uint8_t* x = context.in(step, 0);
  uint8_t* y = context.out(step, 0);
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    p.run(p, x + begin * p.x_bytes, y + begin * p.y_bytes, end - begin);
  });
}

namespace {

// Finds the form of the options' kind for these tensors.
Status find_form(const InferContext& context, const SoftmaxForm** form) {
  const fb::SoftmaxOptions& options = softmax_options(context);
  switch (options.kind()) {
    case fb::SoftmaxKind::F32: {
      DType output;
      QRT_TRY(declared_output_dtype(context, &output));
      *form = output == DType::kFloat32 ? &kSoftmaxPairs : &kSoftmaxF32;
      return {};
    }
    case fb::SoftmaxKind::F32_RECIPROCAL: *form = &kSoftmaxReciprocal; return {};
    case fb::SoftmaxKind::Q5_26: {
      const bool is_log = options.stages() != nullptr && options.stages()->size() > 0;
      *form = is_log ? &kLogSoftmaxInt : &kSoftmaxInt;
      return {};
    }
    case fb::SoftmaxKind::Q5_26_TO_INT16: *form = &kSoftmaxIntTo16; return {};
    case fb::SoftmaxKind::INT16: *form = &kSoftmaxInt16; return {};
    case fb::SoftmaxKind::INT16_ANY_SCALE: *form = &kSoftmaxInt16AnyScale; return {};
    case fb::SoftmaxKind::LOG_F32: {
      const bool is_int16 = runs_int16(context.inputs[0].type.dtype);
      *form = is_int16 ? &kLogSoftmaxInt16 : &kLogSoftmax;
      return {};
    }
  }
  return error(Code::kInvalidModel, "kind is %d, expected 0 to %d",
               static_cast<int>(options.kind()), static_cast<int>(fb::SoftmaxKind::MAX));
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  QRT_TRY(check_input_count(context, 1));
  const SoftmaxForm* form = nullptr;
  QRT_TRY(find_form(context, &form));
  QRT_TRY(check_dtype(context, 0, "x", form->input));
  const Shape& x = context.inputs[0].type.shape;
  QRT_MODEL_CHECK(x.rank() >= 1, "x has rank 0, expected at least 1");
  QRT_TRY(form->check(context, x));
  return add_output(form->output, x, outputs);
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const SoftmaxForm* form = nullptr;
  QRT_TRY(find_form(context, &form));
  return form->prepare(context, step);
}

int level(const fb::Operator& op) {
  const fb::SoftmaxKind kind = op.options_as_Softmax()->kind();
  return kind == fb::SoftmaxKind::F32 || kind == fb::SoftmaxKind::LOG_F32 ||
                 kind == fb::SoftmaxKind::F32_RECIPROCAL
             ? 1
             : 0;
}

}  // namespace

std::string describe_softmax(const fb::Operator& op) {
  const auto& o = *op.options_as_Softmax();
  switch (o.kind()) {
    case fb::SoftmaxKind::F32: break;
    case fb::SoftmaxKind::Q5_26:
      if (o.stages() && o.stages()->size() > 0) return "tables, fixed-point logarithm";
      return "table, fixed-point reciprocal";
    case fb::SoftmaxKind::Q5_26_TO_INT16: return "table, fixed-point reciprocal";
    case fb::SoftmaxKind::INT16: return "interpolated tables";
    case fb::SoftmaxKind::INT16_ANY_SCALE: return "table, integer quotient";
    case fb::SoftmaxKind::F32_RECIPROCAL: return "table, ordered float32 sum, reciprocal";
    case fb::SoftmaxKind::LOG_F32: return "table, ordered float32 sum, logarithm";
  }
  return "table, ordered float32 sum";
}

const OpDef kSoftmaxOp = {"Softmax",
                          fb::OpOptions::Softmax,
                          infer,
                          prepare,
                          {Arithmetic::kForms, level, no_requant, rows_apart, LayoutRule::kRows,
                           Broadcasting::kNone, Constants::table<fb::SoftmaxOptions>()}};

}  // namespace qrt
