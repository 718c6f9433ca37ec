// The windows of an image of floats: what convolutions and pools read, and the pools.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_WINDOWS_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_WINDOWS_H_

#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/window.h"

namespace qrt::convert::from_onnx {

// What each output position reads of x, `fill` in the padding: [n, oh, ow, taps * c], c fastest.
Status gather_windows(FloatGraph* f, const Image& image, const Window& window, float fill,
                      ValueId x, ValueId* y);

// The same where output o of axis d, height or width, reads of tap k what `indices`[d] has at
// o * kernel[d] + k; -1 is `fill`. x: [n, h, w, c].
Status gather_taps(FloatGraph* f, const int64_t (&output)[2], const int64_t (&kernel)[2],
                   const Indices (&indices)[2], float fill, ValueId x, ValueId* y);

bool is_float_pool(const NodeView& node);
// *y stays kNoValue where the node has another form than those of two or three dimensions.
Status float_pool(FloatGraph* f, ValueId x, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_WINDOWS_H_
