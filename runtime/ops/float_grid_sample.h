// SPDX-License-Identifier: Apache-2.0
// Images of floats read at the places of a grid (FloatFunction GRID_SAMPLE).
#ifndef QRT_RUNTIME_OPS_FLOAT_GRID_SAMPLE_H_
#define QRT_RUNTIME_OPS_FLOAT_GRID_SAMPLE_H_

#include "runtime/op.h"

namespace qrt {

Status infer_float_grid_sample(const InferContext& context, TensorTypes* outputs);
Status prepare_float_grid_sample(const PrepareContext& context, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_GRID_SAMPLE_H_
