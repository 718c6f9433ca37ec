// SPDX-License-Identifier: Apache-2.0
// Comparisons and Where of floats.
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

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_SELECT_H_
