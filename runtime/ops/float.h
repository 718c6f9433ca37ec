// SPDX-License-Identifier: Apache-2.0
// A LayerNormalization that runs from bytes to bytes.
#ifndef QRT_RUNTIME_OPS_FLOAT_H_
#define QRT_RUNTIME_OPS_FLOAT_H_

#include "runtime/op.h"

namespace qrt {

// Fuses `table`, which dequantises bytes, and `quantize`, which makes bytes of the result, into
// `layer_norm` between them: its input becomes that of `table`, its output that of `quantize`. Otherwise
// returns false and changes nothing.
bool join_layer_norm(const Step& table, const Step& quantize, PlannedStep* layer_norm);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FLOAT_H_
