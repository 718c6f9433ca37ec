// SPDX-License-Identifier: Apache-2.0
// A transposed convolution as an ordinary one; see common/transpose_conv.h.
#include "converter/import/common/transpose_conv.h"

#include <algorithm>

namespace qrt::convert {

PhasedAxis::PhasedAxis(int64_t input, int64_t output, int64_t source_kernel, int64_t stride,
                       int64_t dilation, int64_t before)
    : phases(stride), source_kernel_(source_kernel), dilation_(dilation), before_(before) {
  // stride * u = phase + before - dilation * j, from the greatest j of phase 0 to j = 0 of the
  // last.
  const int64_t lowest = before - dilation * (source_kernel - 1);
  int64_t first = lowest >= 0 ? (lowest + stride - 1) / stride : -(-lowest / stride);
  int64_t last = (stride - 1 + before) / stride;
  first = std::min<int64_t>(first, 0);
  last = std::max(last, first);
  kernel = last - first + 1;
  pad_before = -first;
  const int64_t wanted = (output + stride - 1) / stride;
  pad_after = std::max<int64_t>(0, wanted - 1 + kernel - input - pad_before);
  steps = input + pad_before + pad_after - kernel + 1;
}

int64_t PhasedAxis::source(int64_t phase, int64_t t) const {
  const int64_t offset = phase + before_ - phases * (t - pad_before);
  if (offset < 0 || offset % dilation_ != 0) return -1;
  const int64_t j = offset / dilation_;
  return j < source_kernel_ ? j : -1;
}

}  // namespace qrt::convert
