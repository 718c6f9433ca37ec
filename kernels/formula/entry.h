// SPDX-License-Identifier: Apache-2.0
// Entry points of the formula family's files. Only for this folder: others take a row from
// formula.h.
#ifndef QRT_KERNELS_FORMULA_ENTRY_H_
#define QRT_KERNELS_FORMULA_ENTRY_H_

#include "kernels/formula/formula.h"

namespace qrt {

#define QRT_FORMULA(isa, suffix) \
  void formula_##suffix(const FormulaParams& params, const FormulaArgs& run);
#include "kernels/formula/formula.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_FORMULA_ENTRY_H_
