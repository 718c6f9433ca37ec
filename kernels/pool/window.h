// SPDX-License-Identifier: Apache-2.0
// Finds the positions of a pooling window that lie inside the image, along one axis.
#ifndef QRT_KERNELS_POOL_WINDOW_H_
#define QRT_KERNELS_POOL_WINDOW_H_

#include <cstddef>

#include "kernels/pool/pool.h"

namespace qrt {
namespace {

// Input indices first, first + dilation, ...: `count` of them.
struct Window {
  size_t first, count;
};

inline Window window_inside(size_t out, size_t stride, size_t dilation, size_t kernel, size_t pad,
                            size_t in) {
  const size_t start = out * stride;  // pad before the image included
  if (start >= pad && start - pad + (kernel - 1) * dilation < in) return {start - pad, kernel};
  const size_t begin = start >= pad ? 0 : (pad - start + dilation - 1) / dilation;
  size_t end = start >= in + pad ? 0 : (in + pad - start - 1) / dilation + 1;
  if (end > kernel) end = kernel;
  if (end <= begin) return {0, 0};
  return {start + begin * dilation - pad, end - begin};
}

inline Window window_rows(const PoolShape& s, size_t out_row) {
  return window_inside(out_row, s.stride_h, s.dilation_h, s.kernel_h, s.pad_top, s.in_h);
}

inline Window window_cols(const PoolShape& s, size_t out_col) {
  return window_inside(out_col, s.stride_w, s.dilation_w, s.kernel_w, s.pad_left, s.in_w);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_POOL_WINDOW_H_
