// SPDX-License-Identifier: Apache-2.0
// Sums of elements times weights along one dimension (FloatFunction WEIGHTED_SUM).
#ifndef QRT_RUNTIME_OPS_FLOAT_WEIGHTED_H_
#define QRT_RUNTIME_OPS_FLOAT_WEIGHTED_H_

#include "runtime/op.h"

namespace qrt {

Status infer_float_weighted(const InferContext& context, TensorTypes* outputs);
Status prepare_float_weighted(const PrepareContext& context, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_WEIGHTED_H_
