// SPDX-License-Identifier: Apache-2.0
// A transposed convolution as an ordinary one. Output o of an axis receives x[i] * w[j] wherever
// o + before = stride * i + dilation * j. For the outputs o = stride * q + phase of one phase these
// are the inputs x[q + u] of a few fixed offsets u: a convolution of stride 1 with a kernel of its
// own. All phases are computed side by side, as output channels, and then interleaved.
#ifndef QRT_CONVERTER_IMPORT_COMMON_TRANSPOSE_CONV_H_
#define QRT_CONVERTER_IMPORT_COMMON_TRANSPOSE_CONV_H_

#include <cstdint>

namespace qrt::convert {

// One axis of the ordinary convolution that replaces a transposed one.
struct PhasedAxis {
  // Sizes >= 1, before >= 0.
  PhasedAxis(int64_t input, int64_t output, int64_t kernel, int64_t stride, int64_t dilation,
             int64_t before);

  // Returns the source's kernel position that position t of `phase`'s kernel has, or -1: zero.
  int64_t source(int64_t phase, int64_t t) const;

  int64_t phases;                 // the stride
  int64_t kernel;                 // positions
  int64_t pad_before, pad_after;  // padding of the convolution, which has stride and dilation 1
  int64_t steps;                  // its outputs; phases * steps >= the transposed one's

 private:
  int64_t source_kernel_, dilation_, before_;
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_TRANSPOSE_CONV_H_
