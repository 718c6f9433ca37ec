// SPDX-License-Identifier: Apache-2.0
// Contract of the grouped family: convolutions of groups of as many outputs as inputs, few, by any
// kernel, stride, dilation and padding.
//
//   acc[y][x][o] = bias[o] + sum over ky, kx and the inputs i of o's group of w[o][ky][kx][i] *
//                  in[y * stride_h + ky * dilation_h - pad_top]
//                    [x * stride_w + kx * dilation_w - pad_left][i]
//   output[y][x][o] = requantize(acc[y][x][o]) as uint8, or as int32 or float32 (RequantKind)
//
// Positions outside the image read the zero point. uint8 times int8, sums in int32 modulo 2^32:
// outputs are those of gemm.h, bit for bit, but where that multiplies zeros or has a tile for a few
// columns, every product here is one of the sum.
//
// A panel is 16 channels, of which each output needs inputs of the same panel only. A vector of products
// holds dwords of 4 or 2 neighbouring inputs (bytes or 16-bit words) in cells of 128 bits, and one cell
// of the image is multiplied with as many different weights as a vector has cells, for as many outputs
// (a broadcast is part of its load):
//
//             dword 0     dword 1     dword 2     dword 3
//   inputs    g0 0..3     g0 4..7     g1 0..3     g1 4..7      of a cell: here groups of 8, bytes
//   weights   of g0's     of g0's     of g1's     of g1's      of one cell of a vector
//             output 2 l  output 2 l + 1   and so on           l: number of that cell
//
// (x86; with products by a lane, as NEON has them, a vector has 4 outputs of one group, and one of its
// dwords is the lane.) Where a group has several dwords (partial sums), as many accumulators hold them with the outputs
// exchanged, accumulator x in dword h that of output x ^ h: x shuffles and additions make one vector of
// whole sums of them, once for all taps.
#ifndef QRT_KERNELS_GROUPED_GROUPED_H_
#define QRT_KERNELS_GROUPED_GROUPED_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"
#include "kernels/window2d.h"

namespace qrt {

constexpr size_t kGroupedPanel = 16;  // channels

struct GroupedShape : Window2D {
  size_t channels;  // of the input and of the output
  size_t group;     // 4, 8 or 16 channels; the last group may have fewer

  size_t taps() const { return kernel_h * kernel_w; }
};

// The layout in which a kernel wants weights and pixels, named by the type of their elements (words
// are int16) and the bits of a vector. Dots are for products by a lane: a vector has the weights of
// 4 outputs of a group for one dword of its inputs, and activations are x - 128.
enum GroupedLayout { kGroupedWords256, kGroupedBytes256, kGroupedBytes512, kGroupedDots128 };

struct GroupedKernel;

// Output rows row_begin .. row_end - 1 of one image, at most grouped_rows_per_call().
struct GroupedArgs {
  GroupedShape shape;
  const uint8_t* x;  // the image; its pixels may be over-read by up to 64 bytes
  size_t x_pitch;    // bytes from pixel to pixel
  uint8_t zero_point;
  const int8_t* weights;  // in the layout of grouped_weights()
  const int32_t* bias;    // readable to the next multiple of 64 channels, as the requantisation's
  Requant requant;
  uint8_t* y;  // the image
  size_t y_pitch;
  size_t row_begin, row_end;
  uint8_t* scratch;  // grouped_scratch_bytes(), aligned to 64
};

struct GroupedKernel {
  const char* name;
  Isa isa;
  size_t group;  // group size of the shapes that it takes
  GroupedLayout layout;
  void (*fn)(const GroupedArgs& args);

  size_t element_bytes() const { return layout == kGroupedWords256 ? 2 : 1; }
  // Reads x - 128: the caller adds 128 * sum(w) to bias.
  bool signed_lhs() const { return layout == kGroupedDots128; }
};

// Returns the least group of GroupedShape such that every weight beyond it is zero (a converter
// joins narrow groups), or 0. `packed`: the weights of groups of k inputs and k outputs, of so many
// taps, in the layout of gemm_pack(). `channels`: a multiple of k.
size_t grouped_width(const int8_t* packed, size_t channels, size_t taps, size_t k);

uint64_t grouped_weight_bytes(const GroupedKernel& kernel, const GroupedShape& shape);
void grouped_weights(const GroupedKernel& kernel, const GroupedShape& shape, const int8_t* packed,
                     size_t k, int8_t* weights);

// Returns the most output rows of a call: their pixels, padded and as the kernel wants them, stay
// in the first-level cache.
size_t grouped_rows_per_call(const GroupedKernel& kernel, const GroupedShape& shape);
// Saturates.
uint64_t grouped_scratch_bytes(const GroupedKernel& kernel, const GroupedShape& shape);

// Returns all rows compiled in, best first. *count receives their number, which may be 0: there is
// no scalar row, as the gemm family does these convolutions on every instruction set.
const GroupedKernel* grouped_kernels(size_t* count);

// Returns the first row of the best set among `isas` that has any, or null.
const GroupedKernel* select_grouped(IsaSet isas, size_t group);

}  // namespace qrt

#endif  // QRT_KERNELS_GROUPED_GROUPED_H_
