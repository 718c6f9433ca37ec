// SPDX-License-Identifier: Apache-2.0
// The constant of a Where.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_WHERE_CONSTANT_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_WHERE_CONSTANT_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Returns input i, 1 or 2, of a Where as ONNX Runtime takes it. Where the other input is a
// DequantizeLinear and a QuantizeLinear of the same type follows, ONNX Runtime turns a scalar
// constant into a DequantizeLinear of the type's greatest or least value. Its scale and product are
// rounded, so the value may be an ulp beside the constant.
Tensor where_input(const Importer& importer, const NodeView& node, int i);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_WHERE_CONSTANT_H_
