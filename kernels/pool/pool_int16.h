// SPDX-License-Identifier: Apache-2.0
// Pools of int16 images, NHWC: max is in the rows of pool.h, the others have one form for every
// instruction set. One image per call. Max may over-read its input by up to 64 bytes; exactly the
// outputs asked for are stored; thread-safe.
#ifndef QRT_KERNELS_POOL_POOL_INT16_H_
#define QRT_KERNELS_POOL_POOL_INT16_H_

#include "kernels/pool/pool.h"

namespace qrt {

// Max: y = the greatest value of the window inside the image. Average: y = clamp(HA(sum / number),
// lo, hi) over the positions inside; fewer than 2^15 of them. REQUIRES (checked at load): every
// window holds a position of the image.
struct PoolInt16Args {
  PoolShape shape;
  int32_t lo, hi;  // average
  const int16_t* input;
  int16_t* output;  // the whole output image
  size_t row_begin, row_end;
};
void average_pool_int16(const PoolInt16Args& args);

// y[ch] = requantize(sum over pixels of (x - input_zero_point)), per tensor; pixels < 2^15
struct GlobalSumInt16Args {
  const int16_t* input;  // [pixels][c]
  size_t pixels, c;
  int32_t input_zero_point;
  Requant requant;
  int16_t* output;  // [c]
};
void global_sum_int16(const GlobalSumInt16Args& args);

}  // namespace qrt

#endif  // QRT_KERNELS_POOL_POOL_INT16_H_
