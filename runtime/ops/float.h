// SPDX-License-Identifier: Apache-2.0
// A LayerNormalization that runs from bytes to bytes.
#ifndef QRT_RUNTIME_OPS_FLOAT_H_
#define QRT_RUNTIME_OPS_FLOAT_H_

#include "runtime/op.h"

namespace qrt {

// Where `table` dequantises bytes, `layer_norm` normalises them and `quantize` makes bytes of that, lets
// `layer_norm` do all of it: its first input and its output become those of the other two. Else returns
// false and changes nothing.
bool join_layer_norm(const Step& table, const Step& quantize, PlannedStep* layer_norm);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_H_
