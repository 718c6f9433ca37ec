// SPDX-License-Identifier: Apache-2.0
// Limits, functions of one value, sums and products of two.
#include <algorithm>
#include <cmath>
#include <set>

#include "converter/quantize/cvm/operators.h"
#include "converter/quantize/mrt.h"

namespace qrt::quantize {
namespace {

double limit(const Node& node, size_t i, const FloatModel& model, double otherwise) {
  const Tensor* t = node.has_input(i) ? model.constant(node.inputs[i]) : nullptr;
  return t && t->reals.size() == 1 ? static_cast<double>(t->reals[0]) : otherwise;
}

// Returns the one value whose bytes say what the node's result is, element by element; "": there is none.
std::string common_base(const Node& node, const CvmValues& values) {
  std::set<std::string> bases;
  for (const std::string& x : node.inputs) {
    if (x.empty()) continue;
    const Tensor* constant = values.model().constant(x);
    if (constant && constant->size() != 1) return "";
    if (!constant) bases.insert(values.base(x));
  }
  return bases.size() == 1 ? *bases.begin() : "";
}

bool has_constant(const Node& node, const CvmValues& values) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](const std::string& x) { return values.model().constant(x) != nullptr; });
}

// Returns whether the node is an Add behind a MatMul whose constant is in the layer's sums already.
bool adds_bias(const Node& node, const CvmValues& values) {
  const auto i = static_cast<size_t>(&node - values.model().nodes.data());
  const Layer* layer = values.placement().layer_at(i);
  return layer && layer->node != i;
}

// Adds a sum, in a step with which the greater range of both operands is the greatest value of 16 bits.
Status add_sum(const Node& node, CvmValues* values, const Dims& shape) {
  CvmNumbers& numbers = values->numbers();
  double a, b;
  QRT_TRY(values->range(node.inputs[0], &a));
  QRT_TRY(values->range(node.inputs[1], &b));
  const double step = std::max(a, b) / static_cast<double>(mrt::alpha(kCvmWide));
  CvmNumber x, y;
  QRT_TRY(values->as(node.inputs[0], step, kCvmWide, &x));
  QRT_TRY(values->as(node.inputs[1], step, kCvmWide, &y));
  values->set(node.outputs[0], numbers.sum(x, y, node.op == "Sub", shape));
  return {};
}

Status add_product(const Node& node, CvmValues* values, const Dims& shape) {
  CvmNumbers& numbers = values->numbers();
  CvmNumber x[2];
  for (size_t i = 0; i < 2; ++i) {
    const Tensor* constant = values->model().constant(node.inputs[i]);
    if (constant)
      x[i] = numbers.constant(*constant, kCvmWide);
    else
      QRT_TRY(values->as_int32(node.inputs[i], &x[i]));
  }
  values->set(node.outputs[0], numbers.product(x[0], x[1], shape));
  return {};
}

}  // namespace

Status cvm_limit(const Node& node, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  const std::string& y = node.outputs[0];
  const CvmNumber* x = values->number(node.inputs[0]);
  if (!x) return cvm_function(node, values);
  if (node.op == "Relu") {
    values->set(y, numbers.relu(*x));
    return {};
  }
  CvmNumber from;
  if (values->is_coded(y))
    QRT_TRY(values->as(node.inputs[0], values->step(y), values->precision(y), &from));
  else
    QRT_TRY(values->as_int32(node.inputs[0], &from));
  values->set(y, numbers.limited(from, limit(node, 1, values->model(), -HUGE_VAL),
                                 limit(node, 2, values->model(), HUGE_VAL)));
  return {};
}

Status cvm_function(const Node& node, CvmValues* values) {
  if (adds_bias(node, *values)) return cvm_pair(node, values);
  const std::string base = common_base(node, *values);
  if (!base.empty()) {
    values->set_function(node.outputs[0], base);
    return {};
  }
  if (node.inputs.size() == 2 && (node.op == "Add" || node.op == "Sub" || node.op == "Mul"))
    return cvm_pair(node, values);
  return error(Code::kUnsupported,
               "CVM has tables of one tensor's integers, and of two only sums and products");
}

Status cvm_pair(const Node& node, CvmValues* values) {
  if (adds_bias(node, *values)) {
    const bool is_first = values->number(node.inputs[0]) != nullptr;
    values->set(node.outputs[0], *values->number(node.inputs[is_first ? 0 : 1]));
    return {};
  }
  Dims shape;
  QRT_TRY(values->shape(node.outputs[0], &shape));
  const std::string base = common_base(node, *values);
  // A sum with one constant keeps the bits of its operand; a table would not.
  if (!base.empty() && !(has_constant(node, *values) && values->number(node.inputs[0]))) {
    values->set_function(node.outputs[0], base);
    return {};
  }
  if (node.op == "Add" || node.op == "Sub") return add_sum(node, values, shape);
  if (node.op == "Mul") return add_product(node, values, shape);
  return error(Code::kUnsupported, "CVM has sums and products of two tensors only");
}

}  // namespace qrt::quantize
