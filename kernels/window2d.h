// SPDX-License-Identifier: Apache-2.0
// The window of a convolution or a pool over one image: output position (y, x) covers the input positions
//   (y * stride_h + ky * dilation_h - pad_top, x * stride_w + kx * dilation_w - pad_left)
// for ky < kernel_h, kx < kernel_w; those outside the image are padding. Shapes of kernels derive from it.
#ifndef QRT_KERNELS_WINDOW2D_H_
#define QRT_KERNELS_WINDOW2D_H_

#include <cstddef>

namespace qrt {

struct Window2D {
  size_t in_h, in_w, out_h, out_w;  // pixels
  size_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  size_t pad_top, pad_left;  // bottom and right follow from out_h and out_w

  // Pixels of an image row, with padding, that the outputs of a row need; rows, that `rows` of them need.
  size_t padded_w() const { return (out_w - 1) * stride_w + (kernel_w - 1) * dilation_w + 1; }
  size_t padded_h(size_t rows) const {
    return (rows - 1) * stride_h + (kernel_h - 1) * dilation_h + 1;
  }
};

}  // namespace qrt

#endif  // QRT_KERNELS_WINDOW2D_H_
