// SPDX-License-Identifier: Apache-2.0
// Contract of the pool family on NHWC uint8 images: max, average (ordered float sum) and global sum
// with requantisation; and max on int16 ones (pool_int16.h). One image per call, a range of output rows (max, average) or of channels
// (global). Inputs may be over-read by up to 64 bytes; exactly the outputs asked for are stored.
// Thread-safe. Formulas: schema/qrt_model.fbs.
#ifndef QRT_KERNELS_POOL_POOL_H_
#define QRT_KERNELS_POOL_POOL_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"
#include "kernels/window2d.h"

namespace qrt {

struct PoolShape : Window2D {
  size_t c;  // channels
};

// Every window holds at least one position inside the image (checked at load).
struct MaxPoolArgs {
  PoolShape shape;
  const uint8_t* input;
  uint8_t* output;  // the whole output image
  size_t row_begin, row_end;
};

//   s = fl32(sum / float(count)), sum over the window's positions inside the image, in (h, w) order,
//       of value[x], every addition rounded
//   y = clamp(HE(fl32(fl32(s / output_scale) + f(output_zero_point))) + output_offset, 0, 255)
//
// REQUIRES (checked at load): scales finite, normal, positive; the sums finite; every
// window holds at least one position inside the image.
struct AveragePoolArgs {
  PoolShape shape;     // dilations 1
  const float* value;  // 256: fl32(input_scale * float(x - input_zero_point))
  float input_scale;
  int32_t input_zero_point;
  float output_scale;
  int32_t output_zero_point, output_offset;
  bool count_include_pad;  // count = kernel_h * kernel_w, else the positions inside the image
  const uint8_t* input;
  uint8_t* output;
  size_t row_begin, row_end;
  float sum_scale;  // average_sum_scale(), or 0
};

// Returns, where count = kernel_h * kernel_w, a number with y = clamp(HE(fl32(sum * sum_scale)) +
// output_zero_point + output_offset, 0, 255), sum of the integers x - input_zero_point, for every
// window; or 0. There is one where no sum lies so near halfway between two bytes that the roundings
// of the definition could matter.
float average_sum_scale(const AveragePoolArgs& args);

//   y = clamp(HA(sum / number) + offset, lo, hi), sum of (x - offset) over the window's positions
//       inside the image, and the number of these
//
// REQUIRES (checked at load): every window holds 1 to 2^23 - 1 positions inside
// the image.
struct AverageIntArgs {
  PoolShape shape;  // dilations 1
  int32_t offset;   // 0 or 128
  int32_t lo, hi;
  const uint8_t* input;
  uint8_t* output;
  size_t row_begin, row_end;
};

// y[ch] = requantize(sum over pixels of (x - input_zero_point)); pixels < 2^23
struct GlobalSumArgs {
  const uint8_t* input;  // [pixels][c]
  size_t pixels, c;
  int32_t input_zero_point;
  Requant requant;                    // per tensor: channel 0 of its arrays serves every channel
  uint8_t* output;                    // [c]
  size_t channel_begin, channel_end;  // multiples of 64, but for the end of c
};

struct PoolInt16Args;

struct PoolKernel {
  const char* name;  // "pool_u8_avx2"
  Isa isa;
  void (*max)(const MaxPoolArgs& args);
  void (*average)(const AveragePoolArgs& args);
  void (*global_sum)(const GlobalSumArgs& args);
  const char* name_int16;  // "pool_s16_avx2"
  void (*max_int16)(const PoolInt16Args& args);
};

// Computes the average pool, in one form for every instruction set.
void average_pool_scalar(const AveragePoolArgs& args);
void average_pool_int(const AverageIntArgs& args);

const PoolKernel* pool_kernels(size_t* count);
const PoolKernel* select_pool(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_POOL_POOL_H_
