// SPDX-License-Identifier: Apache-2.0
// Numbers that follow from sizes, which the run computes: what a source reads as a constant at each of its sizes.
#ifndef QRT_CONVERTER_SIZES_RUN_NUMBERS_H_
#define QRT_CONVERTER_SIZES_RUN_NUMBERS_H_

#include "converter/sizes/fit_options.h"

namespace qrt::convert {

// Replaces constant `id` of `graph`, the first import's, by operators that compute its few elements from sizes. Returns false where
// an element is no whole number with an expression that gives it in all imports, or where a reader takes constants only.
bool fit_run_numbers(const ImportedGraphs& imports, ValueId id, Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_RUN_NUMBERS_H_
