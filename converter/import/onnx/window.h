// SPDX-License-Identifier: Apache-2.0
// Windows of convolutions and pools: kernel, stride, dilation and padding from a node's attributes,
// always as two dimensions (one-dimensional operators get h = 1), and one of depth for volumes.
#ifndef QRT_CONVERTER_IMPORT_ONNX_WINDOW_H_
#define QRT_CONVERTER_IMPORT_ONNX_WINDOW_H_

#include "converter/import/common/window.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

constexpr int kMostDimensions = 3;  // the most dimensions that a window slides along

// An image tensor as [n, c, h, w], or [n, h, w, c] with channels_last; a volume has its depth in front
// of h.
struct Image {
  int64_t n = 0, c = 0, depth = 1, size[2] = {1, 1};
  int dimensions = 2;  // number of spatial dimensions of the source, 1 to kMostDimensions
  bool channels_last = false;

  bool is_volume() const { return dimensions == 3; }
  int64_t positions() const { return depth * size[0] * size[1]; }
  // Returns the image's shape with other channels and sizes, in the source's rank.
  Shape shape(int64_t channels, int64_t planes, const int64_t* spatial) const;
};

// Reads an image's dimensions. *known stays false where the rank is refused: more than `most` dimensions.
Status read_image(Importer& importer, const NodeView& node, const Shape& shape, bool channels_last,
                  int most, Image* image, bool* known);

// Reads an attribute of one value, lowest to kMaxWindowField, for each of `dimensions`, into the
// last elements of to[kMostDimensions]. A missing attribute leaves to[] as it is.
Status read_extents(const NodeView& node, const char* attribute, int dimensions, int64_t lowest,
                    int64_t* to);
Status read_pads(const NodeView& node, int dimensions, int64_t* before, int64_t* after);

// Reads a window. `kernel` (of the image's dimensions): as the weights or kernel_shape give it.
// Checks that padding, stride, dilation and output size fit the format, and that no padding fills
// the window of a pool. The padding at the end is what ceil_mode needs.
Status read_window(const NodeView& node, const Image& image, const std::vector<int64_t>& kernel,
                   bool is_pool, Window* window);

// Convert the source's layout to [n, h, w, c], for a volume [n, d, h, w, c], and back.
ValueId image_to_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId x);
ValueId image_from_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId y);
// Returns image_to_nhwc() without the positions that the window skips.
ValueId windowed_to_nhwc(Importer& importer, const NodeView& node, const Image& image,
                         const Window& window, ValueId x);
// Returns `x` without the positions that the window skips. `height` is the axis of rows; the axis
// of columns follows it.
ValueId without_skipped(Importer& importer, const NodeView& node, const Window& window, int height,
                        ValueId x);

// Returns whether, in a volume, each output pixel of a plane reads that pixel alone; then
// depth_as_rows() makes the window along depth one over the rows of [n, d, h * w, c].
bool reads_pixels(const Window& window);
Window depth_as_rows(const Window& window);
// Returns, for all outputs o, the input that o reads at `tap` of an axis of `size` positions; -1 in the padding.
std::vector<int32_t> indices_of_tap(const WindowAxis& axis, int64_t size, int64_t tap);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_WINDOW_H_
