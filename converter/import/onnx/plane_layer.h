// SPDX-License-Identifier: Apache-2.0
// Convolutions over volumes as convolutions over their planes. A volume is [n, d, h, w, c] in the
// graph, and to Conv2D and DepthwiseConv2D n * d images. The inputs of the taps along depth stand side by
// side in one image for each plane of the output, and its kernel holds all of them:
//
//   as rows      kernels of one pixel: [n, d, h * w, c], depth takes the place of rows; nothing is copied
//   as channels  [n, out_d, h, w, taps * c], in each group its channels of all taps
//   interleaved  [n, out_d, h * taps, w, c]: taps rows for each row, which suits groups of few channels
//
// Taps that meet nothing but padding are left out, and convolutions over images are as they were.
#ifndef QRT_CONVERTER_IMPORT_ONNX_PLANE_LAYER_H_
#define QRT_CONVERTER_IMPORT_ONNX_PLANE_LAYER_H_

#include <cstdint>
#include <vector>

#include "converter/import/onnx/window.h"

namespace qrt::convert::from_onnx {

struct PlaneLayer {
  Image image;
  Window whole;  // the source's window
  int64_t groups = 1;

  enum class Depth { kNone, kAsRows, kAsChannels, kInterleaved } depth = Depth::kNone;
  Window window;                 // the window on a plane
  int64_t in = 1;                // input channels of a group
  std::vector<int64_t> taps{0};  // along depth, those that are left
  // The index of the source's weight, in [in, (kd, kh,) kw] of an output, for each position of the
  // plane's kernel and then each of its channels.
  std::vector<int64_t> source;

  int64_t kernel_size() const { return window.kernel[0] * window.kernel[1]; }
  // Returns the result's shape with `out` channels, as the operator makes it.
  Shape result(int64_t out) const;
};

// Plans the layer. Fails with kUnsupported where the planes would be beyond the format's limits.
Status plan_plane_layer(const Image& image, const Window& whole, int64_t groups, PlaneLayer* layer);

// Returns the layer's input, from x in the source's form. `zero_point`: of the padding, as the graph
// stores it; or of the run, a value of the graph in place of kNoValue.
ValueId planes_of(Importer& importer, const NodeView& node, const PlaneLayer& layer,
                  int64_t zero_point, ValueId zero_point_of_run, ValueId x);
// Returns the result of an operator on planes in the source's form. `window`: of the source.
ValueId from_planes(Importer& importer, const NodeView& node, const Image& image,
                    const Window& window, ValueId y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_PLANE_LAYER_H_
