// SPDX-License-Identifier: Apache-2.0
// Sizes at which a file can be planned.
#ifndef QRT_CONVERTER_SIZES_PLANNED_SIZES_H_
#define QRT_CONVERTER_SIZES_PLANNED_SIZES_H_

#include <vector>

#include "converter/ir.h"
#include "runtime/tools/budget.h"
#include "runtime/verify.h"

namespace qrt::convert {

// Narrows the limits and steps of the model's symbols to sizes at which the model can be planned, but for want of memory: a kernel may
// be larger than a small image, and sums too long over a large one. Looks for sizes that fail, of each symbol and of all at
// once, and then for the exact limits. Sizes that only have to fit each other, such as lengths of tensors that are
// added, keep their limits. Takes its work from `budget`, and narrows less where that is spent.
void narrow_to_planned(const VerifiedModel& model, Budget* budget, std::vector<Symbol>* symbols);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_PLANNED_SIZES_H_
