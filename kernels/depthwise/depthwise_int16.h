// SPDX-License-Identifier: Apache-2.0
// Contract of depthwise layers with int16 activations. Sums stay in int32 and are requantised as in
// matrix products (gemm/digits.h). Kernels store exactly the rows [row_begin, row_end), may
// over-read inputs by up to 64 bytes, and are thread-safe.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_INT16_H_

#include "kernels/depthwise/depthwise.h"
#include "kernels/gemm/digits.h"

namespace qrt {

// The most positions of a filter without upper_weights (2^22 * 511 < 2^31) and with them (2^23 *
// 255 < 2^31).
constexpr size_t kMaxDepthwiseInt16 = 511, kMaxDepthwiseInt16Digits = 255;

// acc[o] = sum over the filter of x[o / multiplier] * weights[position][o]. The output is that of
// CombineArgs with `low` = acc and `high` = the sum with upper_weights, if any. Positions outside
// the image read `padding`.
struct DepthwiseInt16Args {
  DepthwiseShape shape;
  const int16_t* input;          // one image
  const int16_t* padding;        // in_c times the zero point
  const int16_t* weights;        // [kernel_h * kernel_w][channels], -128..127
  const int16_t* upper_weights;  // the high part of weights + 256 * upper_weights, -256..254; or
                                 // null
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
