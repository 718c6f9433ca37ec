// SPDX-License-Identifier: Apache-2.0
// Finds the expression of sizes that gives a number which differs from import to import.
#ifndef QRT_CONVERTER_SIZES_FIT_NUMBER_H_
#define QRT_CONVERTER_SIZES_FIT_NUMBER_H_

#include <optional>
#include <vector>

#include "converter/sizes/expressions.h"

namespace qrt::convert {

// A number of every import that an expression gives.
struct Term {
  Expression expression;
  std::vector<int64_t> values;  // indexed by import
};

// Numbers that an expression may be made of: no two have the same values, and all differ between some imports.
class Terms {
 public:
  // Adds a variable, unless one of the same values is there, or it is the same in all imports.
  void add(const Expression& expression, std::vector<int64_t> values);
  // Returns the one of these values, or null.
  const Term* find(const std::vector<int64_t>& values) const;

  std::vector<Term>::const_iterator begin() const { return terms_.begin(); }
  std::vector<Term>::const_iterator end() const { return terms_.end(); }
  size_t size() const { return terms_.size(); }
  const Term& operator[](size_t i) const { return terms_[i]; }

 private:
  std::vector<Term> terms_;
};

// The imports as one operator sees them.
struct Imports {
  std::vector<SizesAt>
      at;  // by import: sizes of the symbols and the shapes of the operator's inputs
  // Dimensions of other tensors, as expressions of the symbols. An expression may be one of them,
  // or the difference of two.
  const Terms* others = nullptr;
  // The imports round floats of sizes, multiplied by numbers that no integers express: only powers of two divide exactly.
  bool rounds_floats = false;
  // Further terms that an expression may be made of, such as the operator's input dimensions written in symbols.
  Terms terms;

  size_t size() const { return at.size(); }
};

// Returns whether the expression gives values[i] in import i, for all of them.
bool fits(const Expression& expression, const Imports& imports, const std::vector<int64_t>& values);

// Returns the simplest expression found that gives values[i] in import i: a number, a dimension of the inputs or
// a symbol and a constant, a multiple, a quotient that is rounded down, another tensor's dimension, the rest of a
// division, a sum or product of two or three dimensions. Nothing where none of these does.
std::optional<Expression> fit_number(const Imports& imports, const std::vector<int64_t>& values);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_FIT_NUMBER_H_
