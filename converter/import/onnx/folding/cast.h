// SPDX-License-Identifier: Apache-2.0
// Conversion of constants between element types.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FOLDING_CAST_H_
#define QRT_CONVERTER_IMPORT_ONNX_FOLDING_CAST_H_

#include "converter/import/onnx/file/constant.h"

namespace qrt::convert::from_onnx {

// Returns the constant as elements of type `to`, with ONNX Runtime's bits on x86-64: real numbers
// lose their fraction (to 4 and 2 bits they are rounded half away from zero) and integers their high
// bits where they become integers. `saturate` counts for
// float8. Null where there is no such conversion.
ConstantPtr cast_constant(const Constant& from, int to, bool saturate);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FOLDING_CAST_H_
