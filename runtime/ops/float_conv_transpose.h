// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of floats (FloatFunction CONV_TRANSPOSE).
#ifndef QRT_RUNTIME_OPS_FLOAT_CONV_TRANSPOSE_H_
#define QRT_RUNTIME_OPS_FLOAT_CONV_TRANSPOSE_H_

#include "runtime/op.h"

namespace qrt {

Status infer_float_conv_transpose(const InferContext& context, TensorTypes* outputs);
Status prepare_float_conv_transpose(const PrepareContext& context, PlannedStep* step);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_CONV_TRANSPOSE_H_
