// SPDX-License-Identifier: Apache-2.0
// Resize of floats: every axis by a matrix of its weights.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_RESIZE_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_RESIZE_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

Status float_resize(FloatGraph* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_RESIZE_H_
