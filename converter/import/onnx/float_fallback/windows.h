// SPDX-License-Identifier: Apache-2.0
// The windows of an image of floats: what convolutions and pools read, and the pools.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_WINDOWS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_WINDOWS_H_

#include "converter/import/common/float_windows.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/window.h"

namespace qrt::convert::from_onnx {

// Gathers what each output position reads of the image x, `fill` in the padding: [n, oh, ow, taps * c].
// The image has one or two dimensions.
Status gather_windows(FloatGraph* f, const Image& image, const Window& window, float fill,
                      TermOrder order, ValueId x, ValueId* y);

// Gathers the windows of a volume, channels before taps, 0 in the padding: [n, od * oh, ow, c * taps].
Status gather_volume_windows(FloatGraph* f, const Image& image, const Window& window, ValueId x,
                             ValueId* y);

bool is_float_pool(const NodeView& node);
// Computes a pool. *y stays kNoValue where the node has another form than those of two or three dimensions.
Status float_pool(FloatGraph* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_WINDOWS_H_
