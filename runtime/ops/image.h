// SPDX-License-Identifier: Apache-2.0
// Window geometry of convolutions and pools on images, one axis at a time.
#ifndef QRT_RUNTIME_OPS_IMAGE_H_
#define QRT_RUNTIME_OPS_IMAGE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/window2d.h"
#include "runtime/op.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// [n, h, w, c], or [n, d, h, w, c]: a volume, of which each of the n * d planes is an image.
struct ImageShape {
  int64_t images, h, w, c;
};
inline ImageShape image_shape(const Shape& x) {
  const int last = x.rank() - 1;
  return {x.rank() == 5 ? x[0] * x[1] : x[0], x[last - 2], x[last - 1], x[last]};
}
// Returns the shape with other sizes of its planes.
inline Shape with_planes(Shape x, int64_t h, int64_t w, int64_t c) {
  const int last = x.rank() - 1;
  x[last - 2] = h, x[last - 1] = w, x[last] = c;
  return x;
}

// Output position o covers input positions o * stride - pad_begin + i * dilation, i < kernel.
struct WindowAxis {
  int64_t in, kernel, stride, dilation, pad_begin, pad_end;
  int64_t out = 0;  // set by infer_window()
};

// Checks the parameters (kernel, stride, dilation >= 1; the kernel fits in the padded input) and
// sets axis->out = (in + pads - dilation * (kernel - 1) - 1) / stride + 1. `name`: "height".
// REQUIRES: in >= 1, kernel < 2^32; the rest below 2^16.
Status infer_window(const char* name, WindowAxis* axis);

// Rejects an axis with a window that holds no position of the image.
Status check_windows_inside(const char* name, const WindowAxis& axis);

struct Pads {
  int64_t top, left, bottom, right;
};
// Returns the padding of a convolution or pool at the context's sizes.
template <class Options>
Pads pads_of(const InferContext& context, const Options& options) {
  return {context.number(fb::SizeField::PAD_TOP, options.pad_top()),
          context.number(fb::SizeField::PAD_LEFT, options.pad_left()),
          context.number(fb::SizeField::PAD_BOTTOM, options.pad_bottom()),
          context.number(fb::SizeField::PAD_RIGHT, options.pad_right())};
}

// Both axes of a window; infer_windows() sets `in` and `out` of each.
struct WindowAxes {
  WindowAxis height, width;
};

// Returns the window that the options' fields describe, with this padding.
template <class Options>
WindowAxes axes_of(const Options& o, const Pads& pads, int64_t kernel_h, int64_t kernel_w) {
  return {{0, kernel_h, o.stride_h(), o.dilation_h(), pads.top, pads.bottom},
          {0, kernel_w, o.stride_w(), o.dilation_w(), pads.left, pads.right}};
}

// Checks both axes over images x as infer_window() does, and sets the window.
Status infer_windows(const Shape& x, WindowAxes* axes, Window2D* window);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_IMAGE_H_
