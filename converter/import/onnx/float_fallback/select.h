// SPDX-License-Identifier: Apache-2.0
// Operators of floats that compare: comparisons, Where, Sign and Hardmax.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_SELECT_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_SELECT_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

bool is_float_comparison(const NodeView& node);
// *y: truth values, bytes 0 and 1.
Status float_comparison(FloatGraph* f, ValueId* y);
Status float_where(FloatGraph* f, ValueId* y);
// Compute IsNaN and IsInf, whose results are truth values, too.
Status float_class(FloatGraph* f, ValueId x, ValueId* y);
// Makes a Sign: 1, 0 or -1, and NaN for NaN.
Status float_sign(FloatGraph* f, ValueId x, ValueId* y);
// Makes a Hardmax: 1 at the first greatest element of each row, 0 elsewhere, and everywhere in a row with a NaN.
Status float_hardmax(FloatGraph* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_SELECT_H_
