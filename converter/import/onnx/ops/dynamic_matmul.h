// SPDX-License-Identifier: Apache-2.0
// Products of activations of 8 bits, whose scale and zero point a run may make, and constant matrices of 8 bits, as floats.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_DYNAMIC_MATMUL_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_DYNAMIC_MATMUL_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// The numbers of a node's inputs; -1: it has no such input.
struct MatMulInputs {
  int x, w, x_scale, w_scale, x_zero, w_zero, bias;
};

// Makes f(acc) * (x_scale * w_scale), plus the bias where there is one. *y stays kNoValue where the node was refused.
Status quantized_product(Importer& importer, const NodeView& node, const MatMulInputs& at,
                         ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_DYNAMIC_MATMUL_H_
