// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions in float.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_PRODUCTS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_PRODUCTS_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// Computes a [..., k] times b [k, n], or [..., k, n] whose other dimensions are the last of a's; *y
// stays kNoValue for other shapes.
void float_matmul(FloatGraph* f, ValueId a, ValueId b, ValueId* y);
// Computes alpha * a * b + beta * c, either side transposed.
Status float_gemm(FloatGraph* f, ValueId a, ValueId b, ValueId* made);
// Makes a convolution with ONNX Runtime's bits on x86-64, up to a bias: the windows of x times the
// weights w, each group by its own. *made stays kNoValue for shapes that are no convolution of one to
// three dimensions. The result has the node's own layout.
Status float_conv_sums(FloatGraph* f, ValueId x, ValueId w, ValueId* made);
// Makes a convolution and its bias, input 2.
Status float_conv(FloatGraph* f, ValueId x, ValueId w, ValueId* made);

// Makes a transposed convolution as a product of the weights and what each output reads.
Status float_conv_transpose(FloatGraph* f, ValueId x, ValueId w, ValueId* made);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_PRODUCTS_H_
