// SPDX-License-Identifier: Apache-2.0
// The constant of a Where.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_WHERE_CONSTANT_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_WHERE_CONSTANT_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Input i, 1 or 2, of a Where as ONNX Runtime takes it. Beside a DequantizeLinear and in front of a
// QuantizeLinear of the same type it makes of a scalar constant a DequantizeLinear of the type's
// greatest or least value, whose scale and product are rounded: up to an ulp beside the constant.
Tensor where_input(const Importer& importer, const NodeView& node, int i);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_WHERE_CONSTANT_H_
