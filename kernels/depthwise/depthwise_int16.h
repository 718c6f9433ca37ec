// SPDX-License-Identifier: Apache-2.0
// Contract of depthwise layers with int16 activations. Their sums stay in int32 and are
// requantised as those of matrix products are (gemm/digits.h). Stores exactly the rows asked for,
// may over-read inputs by up to 64 bytes, and is thread-safe.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_H_

#include "kernels/depthwise/depthwise.h"
#include "kernels/gemm/digits.h"

namespace qrt {

// Positions of a filter: 2^22 * 511 < 2^31; with upper_weights 2^23 * 255.
constexpr size_t kMaxDepthwiseInt16 = 511, kMaxDepthwiseInt16Digits = 255;

// acc[o] = sum over the filter of x[o / multiplier] * weights[position][o], then as CombineArgs
// with `low` = acc, and `high` = the same of upper_weights. Positions outside the image read `padding`.
struct DepthwiseInt16Args {
  DepthwiseShape shape;
  const int16_t* input;          // one image
  const int16_t* padding;        // in_c of the zero point
  const int16_t* weights;        // [kernel_h * kernel_w][channels], -128..127
  const int16_t* upper_weights;  // the same, -256..254, of weights + 256 * upper_weights; or null
  CombineArgs combine;           // bias, is_narrow and requant of all channels
  int16_t* output;               // the whole output image
  size_t row_begin, row_end;
};

struct DepthwiseInt16Kernel {
  const char* name;  // "depthwise_s16s8_avx2"
  Isa isa;
  void (*fn)(const DepthwiseInt16Args& args);
};

const DepthwiseInt16Kernel* depthwise_int16_kernels(size_t* count);
const DepthwiseInt16Kernel* select_depthwise_int16(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_H_
