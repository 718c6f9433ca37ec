// What the values of a formula are proven to lie in, and the cheaper steps that this allows.
#ifndef QRT_KERNELS_FORMULA_BOUNDS_H_
#define QRT_KERNELS_FORMULA_BOUNDS_H_

#include <vector>

#include "kernels/formula/formula.h"

namespace qrt {

struct FormulaBounds {
  int64_t lo, hi;  // within int32
};

// Of an element less its zero point.
FormulaBounds formula_bounds(FormulaElement element, int32_t zero_point);
FormulaBounds formula_bounds(FormulaPair pair, FormulaBounds a, FormulaBounds b);

// Leaves out steps that change nothing within the bounds, and takes cheaper functions where they give
// the same. The bounds behind the steps.
FormulaBounds simplify_formula(FormulaBounds bounds, std::vector<FormulaStep>* steps);

}  // namespace qrt

#endif  // QRT_KERNELS_FORMULA_BOUNDS_H_
