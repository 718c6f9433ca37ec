// Matrix products and convolutions in float.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_PRODUCTS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_PRODUCTS_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// a [..., k] times b [k, n], or [..., k, n] whose other dimensions are the last of a's; *y stays kNoValue for other shapes.
void float_matmul(FloatGraph* f, ValueId a, ValueId b, ValueId* y);
// alpha * a * b + beta * c, either side transposed.
Status float_gemm(FloatGraph* f, ValueId a, ValueId b, ValueId* made);
// A product of the windows and the weights, of each group its own, summed by rows, columns and
// channels of the kernel. *made stays kNoValue for other shapes.
Status float_conv(FloatGraph* f, ValueId x, ValueId w, ValueId* made);

// The same of what each output of a transposed convolution reads.
Status float_conv_transpose(FloatGraph* f, ValueId x, ValueId w, ValueId* made);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_PRODUCTS_H_
