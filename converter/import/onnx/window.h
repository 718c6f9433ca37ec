// Windows of convolutions and pools: kernel, stride, dilation and padding from a node's attributes,
// always as two dimensions (one-dimensional operators get h = 1).
#ifndef QRT_CONVERTER_IMPORT_ONNX_WINDOW_H_
#define QRT_CONVERTER_IMPORT_ONNX_WINDOW_H_

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

// Kernels, strides, dilations and pads are 16-bit in the format.
constexpr int64_t kMaxExtent = 65535;

struct Window {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  int64_t before[2] = {0, 0}, after[2] = {0, 0};  // padding; `after` as ceil_mode needs it
  int64_t output[2] = {1, 1};

  bool padded() const { return before[0] || before[1] || after[0] || after[1]; }
};

// An image tensor as [n, c, h, w], or [n, h, w, c] with channels_last.
struct Image {
  int64_t n = 0, c = 0, size[2] = {1, 1};
  int dimensions = 2;  // of the source: 1 or 2
  bool channels_last = false;

  Shape shape(int64_t channels, const int64_t* spatial) const;  // of the source's rank
};

// *known stays false where the rank is refused.
Status read_image(Importer& importer, const NodeView& node, const Shape& shape, bool channels_last,
                  Image* image, bool* known);

// An attribute of one value, lowest to kMaxExtent, for each of `dimensions`; to the last of to[2].
// Missing: to[] stays.
Status read_extents(const NodeView& node, const char* attribute, int dimensions, int64_t lowest,
                    int64_t* to);
Status read_pads(const NodeView& node, int dimensions, int64_t* before, int64_t* after);

// `kernel` (of the image's dimensions) as the weights or kernel_shape give it. Padding, stride,
// dilation and output size are checked to fit the format.
Status read_window(const NodeView& node, const Image& image, const std::vector<int64_t>& kernel,
                   bool ceil_mode, Window* window);

// The stored value as [n, h, w, c], and a [n, h, w, c] result back in the source's form.
ValueId image_to_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId x);
ValueId image_from_nhwc(Importer& importer, const NodeView& node, const Image& image, ValueId y);

template <class Options>
void set_window(const Window& w, Options* o) {
  o->stride_h = static_cast<uint16_t>(w.stride[0]);
  o->stride_w = static_cast<uint16_t>(w.stride[1]);
  o->pad_top = static_cast<uint16_t>(w.before[0]);
  o->pad_left = static_cast<uint16_t>(w.before[1]);
  o->pad_bottom = static_cast<uint16_t>(w.after[0]);
  o->pad_right = static_cast<uint16_t>(w.after[1]);
}
template <class Options>
void set_dilation(const Window& w, Options* o) {
  o->dilation_h = static_cast<uint16_t>(w.dilation[0]);
  o->dilation_w = static_cast<uint16_t>(w.dilation[1]);
}
template <class Options>
void set_kernel(const Window& w, Options* o) {
  o->kernel_h = static_cast<uint32_t>(w.kernel[0]);
  o->kernel_w = static_cast<uint32_t>(w.kernel[1]);
}

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_WINDOW_H_
