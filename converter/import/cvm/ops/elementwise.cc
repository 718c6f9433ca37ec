// SPDX-License-Identifier: Apache-2.0
// Arithmetic on one tensor: steps of a sequence.
#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

using F = fb::FormulaFunction;

ElementOp step(F function, int32_t value = 0) {
  ElementOp operation;
  operation.function = function;
  operation.value = value;
  return operation;
}

ElementOp clamp_to_precision(int64_t precision) {
  const auto limit = static_cast<int32_t>(alpha(static_cast<int>(precision)));
  return clamp_to(-limit, limit);
}

struct Shift {
  int64_t precision = 0, bits = 0;
};

// Reads a shift. is_sign has no effect: limits are symmetric in any case.
Status read_shift(const Attributes& a, Shift* shift) {
  bool is_sign;
  QRT_TRY(a.check_names({"precision", "shift_bit", "is_sign"}));
  QRT_TRY(a.boolean("is_sign", &is_sign));
  QRT_TRY(a.required_integer("precision", 1, kMaxPrecision, &shift->precision));
  return a.required_integer("shift_bit", 1, 32, &shift->bits);
}

Status read_precision(const Attributes& a, int64_t* precision) {
  bool is_sign;
  QRT_TRY(a.check_names({"precision", "is_sign"}));
  QRT_TRY(a.boolean("is_sign", &is_sign));
  return a.required_integer("precision", 1, kMaxPrecision, precision);
}

struct Limits {
  int64_t lo = 0, hi = 0;
};

Status read_limits(const Attributes& a, Limits* limits) {
  QRT_TRY(a.check_names({"a_min", "a_max"}));
  QRT_TRY(a.required_integer("a_min", -INT32_MAX, INT32_MAX, &limits->lo));
  QRT_TRY(a.required_integer("a_max", -INT32_MAX, INT32_MAX, &limits->hi));
  QRT_MODEL_CHECK(limits->lo < limits->hi, "a_min is %lld and a_max %lld, expected a_min < a_max",
                  static_cast<long long>(limits->lo), static_cast<long long>(limits->hi));
  return Status();
}

}  // namespace

Status infer_plain(Inference* inference) {
  QRT_TRY(inference->attributes().check_names({}));
  return inference->output(inference->input().shape, inference->input().precision);
}

Status import_relu(Importer& importer, const Op& op) {
  importer.extend(op, 0, clamp_to(0, INT32_MAX));
  return Status();
}

Status import_abs(Importer& importer, const Op& op) {
  importer.extend(op, 0, step(F::ABS));
  return Status();
}

Status import_negative(Importer& importer, const Op& op) {
  importer.extend(op, 0, step(F::NEGATE));
  return Status();
}

Status infer_bits(Inference* inference) {
  QRT_TRY(inference->attributes().check_names({}));
  return inference->output(inference->input().shape, 6);
}

Status import_bits(Importer& importer, const Op& op) {
  importer.extend(op, 0, step(F::BITS));
  return Status();
}

Status infer_clip(Inference* inference) {
  Limits limits;
  QRT_TRY(read_limits(inference->attributes(), &limits));
  return inference->output(inference->input().shape, mrt::clip_precision(limits.lo, limits.hi));
}

Status import_clip(Importer& importer, const Op& op) {
  Limits limits;
  QRT_TRY(read_limits(Attributes(op.node.attributes), &limits));
  importer.extend(op, 0,
                  clamp_to(static_cast<int32_t>(limits.lo), static_cast<int32_t>(limits.hi)));
  return Status();
}

Status infer_cvm_clip(Inference* inference) {
  int64_t precision = 0;
  QRT_TRY(read_precision(inference->attributes(), &precision));
  return inference->output(inference->input().shape, precision);
}

Status import_cvm_clip(Importer& importer, const Op& op) {
  int64_t precision = 0;
  QRT_TRY(read_precision(Attributes(op.node.attributes), &precision));
  importer.extend(op, 0, clamp_to_precision(precision));
  return Status();
}

Status infer_right_shift(Inference* inference) {
  Shift shift;
  QRT_TRY(read_shift(inference->attributes(), &shift));
  return inference->output(inference->input().shape, shift.precision);
}

Status import_right_shift(Importer& importer, const Op& op) {
  Shift shift;
  QRT_TRY(read_shift(Attributes(op.node.attributes), &shift));
  importer.extend(op, 0,
                  {step(F::SHIFT_RIGHT, static_cast<int32_t>(shift.bits)),
                   clamp_to_precision(shift.precision)});
  return Status();
}

Status infer_left_shift(Inference* inference) {
  Shift shift;
  QRT_TRY(read_shift(inference->attributes(), &shift));
  const int precision = inference->input().precision;
  QRT_MODEL_CHECK(precision + shift.bits <= kMaxPrecision,
                  "shifts precision %d left by %lld, expected at most %d bits together", precision,
                  static_cast<long long>(shift.bits), kMaxPrecision);
  return inference->output(inference->input().shape, shift.precision);
}

Status import_left_shift(Importer& importer, const Op& op) {
  Shift shift;
  QRT_TRY(read_shift(Attributes(op.node.attributes), &shift));
  importer.extend(
      op, 0,
      {step(F::SHIFT_LEFT, static_cast<int32_t>(shift.bits)), clamp_to_precision(shift.precision)});
  return Status();
}

}  // namespace qrt::convert::from_cvm
