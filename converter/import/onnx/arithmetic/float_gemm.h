// Products that ONNX Runtime multiplies as floats: those with a float bias, and those of types for
// which it has no product of integers.
#ifndef QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_FLOAT_GEMM_H_
#define QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_FLOAT_GEMM_H_

#include "converter/import/onnx/arithmetic/product.h"

namespace qrt::convert::from_onnx {

// Returns how many indices of k ONNX Runtime sums before it goes on to the next block of a product
// with n columns; `transposes_x`: of a left side that it reads transposed.
int64_t float_gemm_block(int64_t n, int64_t k, bool transposes_x);

// Makes the product, its bias included, as ONNX Runtime's Gemm on x86-64 sums it: the same floats, of
// the shape p.result. REQUIRES: 8-bit activations.
Status emit_float_gemm(Importer& importer, const NodeView& node, const Product& p, ValueId* result);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_ARITHMETIC_FLOAT_GEMM_H_
