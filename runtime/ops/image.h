// Window geometry of convolutions and pools on [n, h, w, c] images, one axis at a time.
#ifndef QRT_RUNTIME_OPS_IMAGE_H_
#define QRT_RUNTIME_OPS_IMAGE_H_

#include <cstdint>

#include "runtime/status.h"

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

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_IMAGE_H_
