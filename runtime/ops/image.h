// Window geometry of convolutions and pools on [n, h, w, c] images, one axis at a time.
#ifndef QRT_RUNTIME_OPS_IMAGE_H_
#define QRT_RUNTIME_OPS_IMAGE_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

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

// Both axes of a convolution with these options over x [n, h, w, c]: checks them as infer_window()
// does, and sets the sizes, strides, dilations and pads that `to` (Conv2DGeometry, DepthwiseShape)
// has of them.
template <class Options, class Geometry>
Status infer_windows(const Options& options, const Shape& x, int64_t kernel_h, int64_t kernel_w,
                     Geometry* to) {
  WindowAxis height{x[1],
                    kernel_h,
                    options.stride_h(),
                    options.dilation_h(),
                    options.pad_top(),
                    options.pad_bottom()};
  WindowAxis width{x[2],
                   kernel_w,
                   options.stride_w(),
                   options.dilation_w(),
                   options.pad_left(),
                   options.pad_right()};
  QRT_TRY(infer_window("height", &height));
  QRT_TRY(infer_window("width", &width));
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  to->in_h = size(x[1]), to->in_w = size(x[2]), to->in_c = size(x[3]);
  to->out_h = size(height.out), to->out_w = size(width.out);
  to->kernel_h = size(kernel_h), to->kernel_w = size(kernel_w);
  to->stride_h = size(height.stride), to->stride_w = size(width.stride);
  to->dilation_h = size(height.dilation), to->dilation_w = size(width.dilation);
  to->pad_top = size(height.pad_begin), to->pad_left = size(width.pad_begin);
  return Status();
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_IMAGE_H_
