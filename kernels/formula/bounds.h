// SPDX-License-Identifier: Apache-2.0
// Proves bounds of a formula's values, and takes the cheaper steps that these allow.
#ifndef QRT_KERNELS_FORMULA_BOUNDS_H_
#define QRT_KERNELS_FORMULA_BOUNDS_H_

#include <cstddef>

#include "kernels/formula/formula.h"

namespace qrt {

struct FormulaBounds {
  int64_t lo, hi;  // within int32
};

// Returns the bounds of an element less its zero point.
FormulaBounds formula_bounds(FormulaElement element, int32_t zero_point);
FormulaBounds formula_bounds(FormulaPair pair, FormulaBounds a, FormulaBounds b);

// Leaves out steps that change nothing within the bounds, and takes cheaper functions where they give
// equal results. Returns the bounds behind the steps; *count becomes the number of those that are left.
FormulaBounds simplify_formula(FormulaBounds bounds, FormulaStep* steps, size_t* count);

// Does so with the steps of a std::vector, of any allocator.
template <class Steps>
FormulaBounds simplify_formula(FormulaBounds bounds, Steps* steps) {
  size_t count = steps->size();
  bounds = simplify_formula(bounds, steps->data(), &count);
  steps->resize(count);
  return bounds;
}

}  // namespace qrt

#endif  // QRT_KERNELS_FORMULA_BOUNDS_H_
