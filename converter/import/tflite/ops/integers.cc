// SPDX-License-Identifier: Apache-2.0
// Arithmetic of int32 without quantisation: of shapes, which are known at conversion, folded; of what
// a run computes (indices that ARG_MAX found), operators of integers.
#include <algorithm>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

using F = fb::IntegerFunction;
using A = tflite::ActivationFunctionType;

int64_t floor_of_quotient(int64_t x, int64_t y) {
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

// Returns whether the quotient is rounded down, by FLOOR_DIV; DIV rounds it towards zero.
bool rounds_down(const Op& op) { return op.code == tflite::BuiltinOperator::FLOOR_DIV; }

// REQUIRES: y != 0 for DIV and MOD.
int64_t computed(const Op& op, F f, int64_t x, int64_t y) {
  switch (f) {
    case F::ADD: return x + y;
    case F::SUB: return x - y;
    case F::MUL: return x * y;
    case F::DIV: return rounds_down(op) ? floor_of_quotient(x, y) : x / y;
    default: return x - floor_of_quotient(x, y) * y;
  }
}

bool is_known(Importer& importer, const Op& op, int i) {
  return importer.input(op, i).is_constant || importer.folded(op, i);
}

// Folds integers. One operand is a single number, or both are of one length.
Status fold_integers(Importer& importer, const Op& op, F f) {
  std::vector<int32_t> a, b, y;
  if (!importer.read_integers(op, 0, &a) || !importer.read_integers(op, 1, &b)) return Status();
  QRT_MODEL_CHECK(!a.empty() && !b.empty(), "an input has no elements");
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
    return importer.refuse(op, "only shapes of one dimension are computed",
                           importer.output(op).name,
                           "make its result a constant of the model, computed before conversion");
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int64_t v = computed(op, f, a[a.size() > 1 ? i : 0], b[b.size() > 1 ? i : 0]);
    if (v < INT32_MIN || v > INT32_MAX)
      return importer.refuse(op, "a result is beyond int32", importer.output(op).name,
                             "build the model with smaller shapes");
    y.push_back(static_cast<int32_t>(v));
  }
  importer.fold(op, std::move(y));
  return Status();
}

// Checks the types of the operands. Returns false where the operator was refused.
bool check_operands(Importer& importer, const Op& op, F f) {
  for (const Tensor* t : {&importer.input(op, 0), &importer.input(op, 1), &importer.output(op)}) {
    if (t->type == TensorType::INT32) continue;
    (void)importer.refuse(
        op, "tensor '" + t->name + "' is " + type_name(t->type) + ": only int32 is supported here",
        t->name, "build the model with int32 there");
    return false;
  }
  // TFLite Micro does not apply it to sums, TFLite does.
  const bool is_applied =
      op.code == tflite::BuiltinOperator::MUL || op.code == tflite::BuiltinOperator::DIV;
  const bool is_folded = is_known(importer, op, 0) && is_known(importer, op, 1);
  if (fused_activation(op) != A::NONE && (is_folded || !is_applied)) {
    (void)importer.refuse(op, "it has a fused activation", importer.output(op).name,
                          "export the activation as an operator of its own");
    return false;
  }
  if ((f != F::DIV && f != F::MOD) || !is_known(importer, op, 1)) return true;
  std::vector<int32_t> divisors;
  if (!importer.read_integers(op, 1, &divisors)) return false;
  if (std::find(divisors.begin(), divisors.end(), 0) == divisors.end()) return true;
  (void)importer.refuse(op, "it divides by 0", importer.input(op, 1).name,
                        "build the model with divisors other than 0");
  return false;
}

ValueId integer(Importer& importer, const Op& op, F f, ValueId a, ValueId b) {
  const ValueId y = importer.builder().new_value("", DType::kInt32, importer.output(op).shape);
  importer.builder().add<fb::IntegerOptionsT>(op, {a, b}, y).function = f;
  return y;
}

// Limits integers whose scale is 1 by the fused activation.
ValueId activated(Importer& importer, const Op& op, ValueId y) {
  const A activation = fused_activation(op);
  const auto limit = [&](int32_t value, bool maximum) {
    const ValueId limit = importer.graph().add_constant("", DType::kInt32, {}, std::vector{value});
    y = importer.builder().min_max(op, y, limit, maximum);
  };
  if (activation == A::RELU || activation == A::RELU6) limit(0, true);
  if (activation == A::RELU_N1_TO_1) limit(-1, true);
  if (activation == A::RELU6) limit(6, false);
  if (activation == A::RELU_N1_TO_1) limit(1, false);
  return y;
}

}  // namespace

Status import_integers(Importer& importer, const Op& op, F f) {
  if (!check_operands(importer, op, f)) return Status();
  QRT_TRY(check_broadcast(importer, op));
  if (is_known(importer, op, 0) && is_known(importer, op, 1)) return fold_integers(importer, op, f);
  const ValueId a = importer.value(op, 0), b = importer.value(op, 1);
  ValueId y = integer(importer, op, f, a, b);
  if (f == F::DIV && rounds_down(op)) {
    // DIV rounds towards zero. The remainders of either rounding differ by the divisor where one is to
    // be taken off.
    const ValueId above = integer(importer, op, F::MOD, a, b);
    const ValueId difference =
        integer(importer, op, F::SUB, above, integer(importer, op, F::FMOD, a, b));
    y = integer(importer, op, F::SUB, y, integer(importer, op, F::DIV, difference, b));
  }
  y = activated(importer, op, y);
  importer.graph().values[y].name = importer.output(op).name;
  importer.set_output(op, y);
  importer.became(op, "Integer", "I0");
  return Status();
}

Status import_floor_div(Importer& importer, const Op& op) {
  return import_integers(importer, op, F::DIV);
}

Status import_floor_mod(Importer& importer, const Op& op) {
  return import_integers(importer, op, F::MOD);
}

}  // namespace qrt::convert::from_tflite
