// SPDX-License-Identifier: Apache-2.0
// Expressions over the sizes of open dimensions, as a file stores them (fb::Size).
#ifndef QRT_CONVERTER_SIZES_EXPRESSIONS_H_
#define QRT_CONVERTER_SIZES_EXPRESSIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// An expression that grows from its operands: a + b, a * b, ... of numbers, symbols and dimensions.
class Expression {
 public:
  Expression(int64_t constant = 0);  // NOLINT: a number is an expression
  static Expression symbol(size_t index);
  // Returns the dimension `dimension` of an operator's input `input`.
  static Expression dimension(size_t input, int dimension);

  friend Expression operator+(Expression a, const Expression& b);
  friend Expression operator-(Expression a, const Expression& b);
  friend Expression operator*(Expression a, const Expression& b);
  // Rounds down. REQUIRES: b is above 0 wherever the expression is evaluated.
  friend Expression operator/(Expression a, const Expression& b);
  friend Expression least(Expression a, const Expression& b);
  friend Expression greatest(Expression a, const Expression& b);

  bool is_constant() const;
  const fb::SizeT& stored() const { return steps_; }

 private:
  Expression(fb::SizeFunction function, int64_t value);
  void append(const Expression& other, fb::SizeFunction function);

  fb::SizeT steps_;
};

// Steps of the longest expression that a file may hold.
constexpr size_t kMostSteps = 64;

// Sizes of the symbols, and the shapes of an operator's inputs, of one import.
struct SizesAt {
  std::vector<int64_t> symbols;
  std::vector<Shape> inputs;
};

// Returns the expression's value, or INT64_MIN where it has none: it divides by less than 1, or a number
// leaves -2^40 to 2^40.
int64_t evaluate(const Expression& expression, const SizesAt& at);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_EXPRESSIONS_H_
