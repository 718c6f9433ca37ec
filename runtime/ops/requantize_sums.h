// SPDX-License-Identifier: Apache-2.0
// Requantize with a bias: the sums of a layer whose bias is finer than its products.
#ifndef QRT_RUNTIME_OPS_REQUANTIZE_SUMS_H_
#define QRT_RUNTIME_OPS_REQUANTIZE_SUMS_H_

#include "runtime/op.h"

namespace qrt {

// Returns whether a Requantize has a bias: then the two functions below are its check and its
// preparation.
bool has_fine_bias(const InferContext& context);
Status check_requantize_sums(const InferContext& context);
Status prepare_requantize_sums(const PrepareContext& context, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_REQUANTIZE_SUMS_H_
