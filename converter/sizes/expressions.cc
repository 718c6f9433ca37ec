// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/expressions.h"

#include <algorithm>

namespace qrt::convert {

using F = fb::SizeFunction;

Expression::Expression(int64_t constant) : Expression(F::CONSTANT, constant) {}

Expression::Expression(F function, int64_t value) {
  steps_.functions.push_back(function);
  steps_.values.push_back(static_cast<int32_t>(value));
}

Expression Expression::symbol(size_t index) {
  return Expression(F::SYMBOL, static_cast<int64_t>(index));
}

Expression Expression::dimension(size_t input, int dimension) {
  return Expression(F::DIMENSION, 8 * static_cast<int64_t>(input) + dimension);
}

void Expression::append(const Expression& other, F function) {
  const fb::SizeT& o = other.steps_;
  steps_.functions.insert(steps_.functions.end(), o.functions.begin(), o.functions.end());
  steps_.values.insert(steps_.values.end(), o.values.begin(), o.values.end());
  steps_.functions.push_back(function);
  steps_.values.push_back(0);
}

bool Expression::is_constant() const {
  return steps_.functions.size() == 1 && steps_.functions[0] == F::CONSTANT;
}

namespace {

bool is_number(const Expression& e, int32_t value) {
  return e.is_constant() && e.stored().values[0] == value;
}

}  // namespace

Expression operator+(Expression a, const Expression& b) {
  if (is_number(b, 0)) return a;
  a.append(b, F::ADD);
  return a;
}

Expression operator-(Expression a, const Expression& b) {
  if (is_number(b, 0)) return a;
  a.append(b, F::SUBTRACT);
  return a;
}

Expression operator*(Expression a, const Expression& b) {
  if (is_number(b, 1)) return a;
  a.append(b, F::MULTIPLY);
  return a;
}

Expression operator/(Expression a, const Expression& b) {
  if (is_number(b, 1)) return a;
  a.append(b, F::DIVIDE);
  return a;
}

Expression least(Expression a, const Expression& b) {
  a.append(b, F::MINIMUM);
  return a;
}

Expression greatest(Expression a, const Expression& b) {
  a.append(b, F::MAXIMUM);
  return a;
}

namespace {

constexpr int64_t kMostNumber = int64_t{1} << 40;

int64_t apply(F function, int64_t a, int64_t b) {
  switch (function) {
    case F::ADD: return a + b;
    case F::SUBTRACT: return a - b;
    case F::MULTIPLY: {
      int64_t product;
      return __builtin_mul_overflow(a, b, &product) ? INT64_MIN : product;
    }
    case F::DIVIDE: return b < 1 ? INT64_MIN : a / b - (a % b < 0 ? 1 : 0);
    case F::MINIMUM: return std::min(a, b);
    case F::MAXIMUM: return std::max(a, b);
    default: return INT64_MIN;
  }
}

}  // namespace

int64_t evaluate(const Expression& expression, const SizesAt& at) {
  const fb::SizeT& steps = expression.stored();
  std::vector<int64_t> stack;
  for (size_t i = 0; i < steps.functions.size(); ++i) {
    const auto value = static_cast<size_t>(steps.values[i]);
    switch (steps.functions[i]) {
      case F::CONSTANT: stack.push_back(steps.values[i]); break;
      case F::SYMBOL: stack.push_back(at.symbols[value]); break;
      case F::DIMENSION: stack.push_back(at.inputs[value / 8][static_cast<int>(value % 8)]); break;
      default: {
        const int64_t b = stack.back();
        stack.pop_back();
        stack.back() = apply(steps.functions[i], stack.back(), b);
      }
    }
    if (stack.back() < -kMostNumber || stack.back() > kMostNumber) return INT64_MIN;
  }
  return stack.back();
}

}  // namespace qrt::convert
