// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/activations.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "converter/import/onnx/deferred/table.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

// Builds one expression of x; the first error stays and ends it.
class Expression {
 public:
  Expression(FloatGraph* f, const Shape& shape) : f_(f), shape_(shape) {}

  ValueId number(float v) { return f_->constant({}, {v}); }
  ValueId unary(F function, ValueId a) { return f_->add(function, {a}, shape_); }
  ValueId binary(F function, ValueId a, ValueId b) {
    ValueId y = a;
    if (status_.ok()) status_ = f_->binary(function, a, b, &y);
    return y;
  }
  ValueId add(ValueId a, float b) { return binary(F::ADD, a, number(b)); }
  ValueId times(ValueId a, float b) { return binary(F::MUL, a, number(b)); }
  // Returns max(0, x). The limit is the first operand, so that NaN stays NaN (kernels/float_fallback).
  ValueId positive(ValueId a) { return binary(F::MAXIMUM, number(0), a); }
  ValueId negative(ValueId a) { return binary(F::MINIMUM, number(0), a); }
  ValueId magnitude(ValueId a) { return binary(F::MAXIMUM, a, binary(F::SUB, number(0), a)); }
  ValueId within(ValueId a, float lo, float hi) {
    return binary(F::MINIMUM, number(hi), binary(F::MAXIMUM, number(lo), a));
  }
  // max(x, 0) + slope * min(x, 0)
  ValueId bent(ValueId x, ValueId slope) {
    return binary(F::ADD, positive(x), binary(F::MUL, negative(x), slope));
  }
  // exp(min(x, 0)) - 1, where x > 0: 0
  ValueId exponential_term(ValueId x) { return add(unary(F::EXP, negative(x)), -1); }
  // max(x, 0) + log(1 + exp(-|x|))
  ValueId softplus(ValueId x) {
    const ValueId small = unary(F::EXP, binary(F::MINIMUM, x, binary(F::SUB, number(0), x)));
    return binary(F::ADD, positive(x), unary(F::LOG1P, small));
  }
  // x * tanh(log(1 + e)) = x * (n / (n + 2)), n = e * (e + 2), e = exp(x): 1 - tanh is beneath the floats from x = 10 on.
  ValueId mish(ValueId x) {
    const ValueId e = unary(F::EXP, binary(F::MINIMUM, number(20), x));
    const ValueId n = binary(F::MUL, e, add(e, 2));
    return binary(F::MUL, x, binary(F::DIV, n, add(n, 2)));
  }
  Status take_status() { return std::move(status_); }

 private:
  FloatGraph* f_;
  Shape shape_;
  Status status_;
};

constexpr const char* kActivations[] = {
    "Abs",      "Celu",     "Elu",   "HardSigmoid", "HardSwish", "LeakyRelu",
    "Mish",     "Neg",      "PRelu", "Reciprocal",  "Relu",      "Selu",
    "Softplus", "Softsign", "Swish", "Clip",        "Round",     "QuickGelu"};

// Reads a limit of Clip: an input, or before opset 11 an attribute. Returns false where it is no constant.
bool read_limit(const FloatGraph& f, int i, const char* attribute, float absent, float* limit) {
  const NodeView& node = f.node();
  *limit = node.real(attribute, absent);
  if (!node.has_input(i)) return true;
  std::vector<float> real;
  const Tensor& t = f.importer().input(node, i);
  if (!t.is_constant() || !constant_floats(t, &real) || real.size() != 1) return false;
  *limit = real[0];
  return true;
}

// Returns whether a Clip limits input 0 to positive numbers that have fractions.
bool is_of_few_values(const FloatGraph& f) {
  const NodeView* clip = f.importer().producer(f.node().input(0));
  if (!clip || clip->op() != "Clip") return false;
  float lo, hi;
  const FloatGraph of_clip(f.importer(), *clip);
  return read_limit(of_clip, 1, "min", -1, &lo) && read_limit(of_clip, 2, "max", -1, &hi) &&
         lo >= 0 && hi <= 1 << 22;
}

bool is_tanh_gelu(const NodeView& node) {
  return node.op() == "Gelu" && node.text("approximate", "none") == "tanh";
}

}  // namespace

bool is_float_activation(const NodeView& node) {
  for (const char* op : kActivations)
    if (node.op() == op) return true;
  return is_tanh_gelu(node);
}

Status float_activation(FloatGraph* f, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  const std::string& op = node.op();
  Expression e(f, f->shape_of(x));
  const auto alpha = [&](float absent) { return node.real("alpha", absent); };
  ValueId made = kNoValue;
  if (op == "Abs") made = e.magnitude(x);
  if (op == "Neg") made = e.times(x, -1);
  if (op == "Relu") made = e.positive(x);
  if (op == "Reciprocal") made = e.binary(F::DIV, e.number(1), x);
  if (op == "Softsign") made = e.binary(F::DIV, x, e.add(e.magnitude(x), 1));
  if (op == "Softplus") made = e.softplus(x);
  if (op == "Mish") made = e.mish(x);
  if (is_tanh_gelu(
          node)) {  // x * (0.5 + 0.5 * tanh(x * (sqrt(2 / pi) + 0.044715 * sqrt(2 / pi) * x^2)))
    const ValueId square = e.binary(F::MUL, x, x);
    const ValueId slope = e.add(e.times(square, 0.035677408136300125f), 0.7978845608028654f);
    const ValueId tanh = e.unary(F::ORT_TANH, e.binary(F::MUL, x, slope));
    made = e.binary(F::MUL, x, e.add(e.times(tanh, 0.5f), 0.5f));
  }
  if (op == "Swish" || op == "QuickGelu") {
    const float a = alpha(op == "Swish" ? 1.0f : 1.702f);
    made = e.binary(F::MUL, x, e.unary(F::ORT_SIGMOID, a == 1 ? x : e.times(x, a)));
  }
  if (op == "LeakyRelu") {  // the same numbers as of its two branches, NaN included
    const float slope = alpha(0.01f);
    if (!std::isfinite(slope)) return Status();
    // An infinity times 0 is NaN, which only the negative branch may give.
    made = slope == 0 ? e.bent(x, e.number(slope))
                      : e.binary(slope <= 1 ? F::MAXIMUM : F::MINIMUM, x, e.times(x, slope));
  }
  if (op == "Elu") made = e.binary(F::ADD, e.positive(x), e.times(e.exponential_term(x), alpha(1)));
  if (op == "Celu") {
    const float a = alpha(1);
    if (!(a > 0)) return Status();
    const ValueId part = e.exponential_term(e.binary(F::DIV, x, e.number(a)));
    made = e.binary(F::ADD, e.positive(x), e.times(part, a));
  }
  if (op == "Selu") {
    const ValueId part = e.times(e.exponential_term(x), alpha(1.67326319217681884765625f));
    made = e.times(e.binary(F::ADD, e.positive(x), part),
                   node.real("gamma", 1.05070102214813232421875f));
  }
  if (op == "HardSigmoid")
    made = e.within(e.add(e.times(x, alpha(0.2f)), node.real("beta", 0.5f)), 0, 1);
  if (op == "HardSwish")
    made = e.binary(F::MUL, x, e.within(e.add(e.times(x, 1.0f / 6), 0.5f), 0, 1));
  if (op == "Round") {
    const float even = 1 << 23;  // from here on neighbouring numbers are 1 apart
    made = is_of_few_values(*f) ? e.add(e.add(x, even), -even) : e.unary(F::ROUND, x);
  }
  if (op == "PRelu") {
    ValueId slope;
    if (!f->read(1, &slope)) return Status();
    made = e.bent(x, slope);
  }
  if (op == "Clip") {
    const float most = std::numeric_limits<float>::max();
    float lo, hi;
    if (!read_limit(*f, 1, "min", -most, &lo) || !read_limit(*f, 2, "max", most, &hi))
      return Status();
    made = e.within(x, lo, hi);
  }
  QRT_TRY(e.take_status());
  *y = made;
  return Status();
}

}  // namespace qrt::convert::from_onnx
