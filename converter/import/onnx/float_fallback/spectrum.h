// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of known lengths in float: products with matrices of sines and cosines.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_SPECTRUM_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_SPECTRUM_H_

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

// Computes STFT. *y stays kNoValue where a length, a step or the window is no constant, or the form is another.
Status float_stft(FloatGraph* f, ValueId x, ValueId* y);
Status float_dft(FloatGraph* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_SPECTRUM_H_
