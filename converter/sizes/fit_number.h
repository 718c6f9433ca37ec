// Finds the expression of sizes that gives a number which differs from import to import.
#ifndef QRT_CONVERTER_SIZES_FIT_NUMBER_H_
#define QRT_CONVERTER_SIZES_FIT_NUMBER_H_

#include <optional>
#include <vector>

#include "converter/sizes/expressions.h"

namespace qrt::convert {

// An import at some sizes: those of the symbols, and the shapes of one operator's inputs there.
using Imports = std::vector<SizesAt>;

// Returns whether the expression gives values[i] in import i, for all of them.
bool fits(const Expression& expression, const Imports& imports, const std::vector<int64_t>& values);

// Returns the simplest expression found that gives values[i] in import i: a number, a dimension or symbol and
// a constant, a quotient that is rounded down, or a product or sum of two or three of them. Nothing where none
// of these does.
std::optional<Expression> fit_number(const Imports& imports, const std::vector<int64_t>& values);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_FIT_NUMBER_H_
