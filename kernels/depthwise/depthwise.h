// SPDX-License-Identifier: Apache-2.0
// Contract of the depthwise family: one filter per channel, any kernel, stride, dilation, padding
// and channel multiplier.
//
//   acc[y][x][o] = bias[o] + sum over t, ky, kx of w[t][ky][kx][o] *
//                  in[y * stride_h + ky * dilation_h - pad_top]
//                    [x * stride_w + kx * dilation_w - pad_left][o / multiplier]
//   output[y][x][o] = requantize(acc[y][x][o]) as uint8
//
// Positions outside the image read the zero point. uint8 times int8, sums in int32 modulo 2^32. A
// weight is the sum of `terms` int8 numbers, so that it may have 9 bits; most layers have one term.
//
// Packed weights, int8, one form for every instruction set (c = output channels, tails zero):
//
//   [terms][ceil(c/16)][ceil(kh/4)][kw][16 channels][4 rows]
//
// Reading: pixels may be over-read by up to 64 bytes past the image's last byte (arena slack).
// `zero` is at least in_c + 64 bytes of the zero point. Kernels take every shape, store exactly the
// pixels asked for, and are thread-safe.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"
#include "kernels/window2d.h"

namespace qrt {

// A depthwise layer over dense images in NHWC.
struct DepthwiseShape : Window2D {
  size_t in_c;
  size_t multiplier;  // output channels = in_c * multiplier
  size_t terms = 1;   // int8 summands of a weight

  // Returns the number of products that make an output.
  size_t products() const { return terms * kernel_h * kernel_w; }
};

struct DepthwiseArgs {
  DepthwiseShape shape;
  const uint8_t* input;  // one image
  const uint8_t* zero;
  const int8_t* weights;      // packed
  const int32_t* bias;        // readable to the next multiple of 16 channels
  Requant requant;            // kinds kF32, kInt
  uint8_t* output;            // the whole output image, NHWC, dense
  size_t row_begin, row_end;  // output rows to compute
  uint8_t* scratch;  // select_depthwise()->scratch_bytes(shape) bytes, 64-aligned, of this thread
};

using DepthwiseFn = void (*)(const DepthwiseArgs& args);

struct DepthwiseKernel {
  const char* name;  // "depthwise_u8s8_3x3s1_avx512vnni"
  Isa isa;
  bool signed_lhs;  // reads x - 128: the caller adds 128 * sum(w) to bias
  bool (*supports)(const DepthwiseShape& shape);
  size_t (*scratch_bytes)(const DepthwiseShape& shape);  // per thread; may be 0
  DepthwiseFn fn;
};

// Returns all rows compiled in, best first, ending with the scalar one, which supports every shape.
const DepthwiseKernel* depthwise_kernels(size_t* count);

// Returns the first row of an allowed set that supports the shape; never null.
const DepthwiseKernel* select_depthwise(IsaSet isas, const DepthwiseShape& shape);

}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_H_
