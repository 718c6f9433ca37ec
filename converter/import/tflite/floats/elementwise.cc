// SPDX-License-Identifier: Apache-2.0
// Functions of one float32 tensor, or of two that broadcast.
#include <cmath>

#include "converter/import/tflite/floats/float_op.h"

namespace qrt::convert::from_tflite {
namespace {

using B = tflite::BuiltinOperator;
using F = fb::FloatFunction;

// Builds an expression; the first error stays and ends it.
class Expression {
 public:
  explicit Expression(FloatOp* f) : f_(f) {}

  ValueId number(float v) { return f_->constant({}, {v}); }
  ValueId unary(F function, ValueId a) { return f_->add(function, {a}, f_->shape_of(a)); }
  ValueId binary(F function, ValueId a, ValueId b) {
    ValueId y = a;
    if (status_.ok()) status_ = f_->binary(function, a, b, &y);
    return y;
  }
  ValueId times(ValueId a, float b) { return binary(F::MUL, a, number(b)); }
  // Returns max(lo, x). The limit is the first operand, so that NaN stays NaN (kernels/float_fallback).
  ValueId within(ValueId a, float lo, float hi) {
    if (status_.ok()) status_ = f_->limit(lo, hi, &a);
    return a;
  }
  ValueId positive(ValueId a) { return within(a, 0, INFINITY); }
  ValueId negative(ValueId a) { return within(a, -INFINITY, 0); }
  Status take_status() { return std::move(status_); }

 private:
  FloatOp* f_;
  Status status_;
};

ValueId unary(Expression* e, const Op& op, ValueId x) {
  switch (op.code) {
    case B::ABS: return e->binary(F::MAXIMUM, x, e->times(x, -1));
    case B::NEG: return e->times(x, -1);
    case B::SQUARE: return e->binary(F::MUL, x, x);
    case B::EXP: return e->unary(F::EXP, x);
    case B::LOG: return e->unary(F::LOG, x);
    case B::SQRT: return e->unary(F::SQRT, x);
    case B::RSQRT: return e->binary(F::DIV, e->number(1), e->unary(F::SQRT, x));
    case B::LOGISTIC: return e->unary(F::FUSED_SIGMOID, x);
    case B::TANH: return e->unary(F::TANH, x);
    case B::RELU: return e->positive(x);
    case B::RELU6: return e->within(x, 0, 6);
    case B::RELU_N1_TO_1: return e->within(x, -1, 1);
    case B::LEAKY_RELU:
      return e->binary(F::ADD, e->positive(x),
                       e->times(e->negative(x), op.options<tflite::LeakyReluOptions>().alpha));
    case B::ELU:
      return e->binary(F::ADD, e->positive(x),
                       e->binary(F::SUB, e->unary(F::EXP, e->negative(x)), e->number(1)));
    case B::HARD_SWISH:
      return e->times(e->binary(F::MUL, x, e->within(e->binary(F::ADD, x, e->number(3)), 0, 6)),
                      1.0f / 6);
    case B::GELU:
      if (!op.options<tflite::GeluOptions>().approximate) return e->unary(F::FUSED_GELU, x);
      {
        const ValueId cube = e->binary(F::MUL, e->binary(F::MUL, x, x), x);
        const ValueId inner = e->binary(F::ADD, x, e->times(cube, 0.044715f));
        const ValueId t = e->unary(F::TANH, e->times(inner, 0.7978845608f));
        return e->times(e->binary(F::MUL, x, e->binary(F::ADD, t, e->number(1))), 0.5f);
      }
    default: return kNoValue;
  }
}

ValueId binary(Expression* e, const Op& op, ValueId a, ValueId b) {
  switch (op.code) {
    case B::ADD: return e->binary(F::ADD, a, b);
    case B::SUB: return e->binary(F::SUB, a, b);
    case B::MUL: return e->binary(F::MUL, a, b);
    case B::DIV: return e->binary(F::DIV, a, b);
    case B::MAXIMUM: return e->binary(F::MAXIMUM, a, b);
    case B::MINIMUM: return e->binary(F::MINIMUM, a, b);
    case B::PRELU: return e->binary(F::ADD, e->positive(a), e->binary(F::MUL, e->negative(a), b));
    case B::SQUARED_DIFFERENCE: {
      const ValueId d = e->binary(F::SUB, a, b);
      return e->binary(F::MUL, d, d);
    }
    default: return kNoValue;
  }
}

}  // namespace

Status import_float_unary(Importer& importer, const Op& op) {
  FloatOp f(importer, op);
  ValueId x;
  if (!f.read(0, &x)) return Status();
  Expression e(&f);
  const ValueId y = unary(&e, op, x);
  QRT_TRY(e.take_status());
  return f.finish(y);
}

Status import_float_binary(Importer& importer, const Op& op) {
  FloatOp f(importer, op);
  ValueId a, b;
  if (!f.read(0, &a) || !f.read(1, &b)) return Status();
  Expression e(&f);
  ValueId y = binary(&e, op, a, b);
  QRT_TRY(e.take_status());
  QRT_TRY(f.activate(fused_activation(op), &y));
  return f.finish(y);
}

}  // namespace qrt::convert::from_tflite
