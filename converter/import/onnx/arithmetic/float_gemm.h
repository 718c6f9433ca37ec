// SPDX-License-Identifier: Apache-2.0
// Products that ONNX Runtime multiplies as floats: those with a float bias, and those of types for
// which it has no product of integers.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_FLOAT_GEMM_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_FLOAT_GEMM_H_

#include "converter/import/onnx/arithmetic/product.h"

namespace qrt::convert::from_onnx {

// Makes the product, its bias included, as ONNX Runtime's Gemm on x86-64 sums it: the same floats, of
// the shape p.result. REQUIRES: 8-bit activations.
Status emit_float_gemm(Importer& importer, const NodeView& node, const Product& p, ValueId* result);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_FLOAT_GEMM_H_
