// SPDX-License-Identifier: Apache-2.0
// GridSample of images of floats.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_GRID_SAMPLE_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_GRID_SAMPLE_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// Makes a GridSample. *y stays kNoValue for volumes and for modes that the operator does not have.
Status float_grid_sample(FloatGraph* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_GRID_SAMPLE_H_
