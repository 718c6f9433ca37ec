// SPDX-License-Identifier: Apache-2.0
// Convolutions of floats (FloatFunction ORT_CONV).
#ifndef QRT_RUNTIME_OPS_FLOAT_CONV_H_
#define QRT_RUNTIME_OPS_FLOAT_CONV_H_

#include "runtime/op.h"

namespace qrt {

Status infer_float_conv(const InferContext& context, TensorTypes* outputs);
Status prepare_float_conv(const PrepareContext& context, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_CONV_H_
