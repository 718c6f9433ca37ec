// SPDX-License-Identifier: Apache-2.0
// Contract of the stem family: convolutions of few inputs, by any kernel, stride and padding, as the first
// layer of a network is one.
//
//   acc[y][x][o] = bias[o] + sum over ky, kx and inputs i of w[o][ky][kx][i] *
//                  in[y * stride_h + ky * dilation_h - pad_top][x * stride_w + kx - pad_left][i]
//   output[y][x][o] = requantize(acc[y][x][o]) as uint8, where the kernel handles that
//
// Positions outside the image read the zero point. uint8 times int8, sums in int32 modulo 2^32: outputs
// are those of gemm.h, bit for bit.
//
// The inputs of a kernel row are neighbours in memory: they are taken by dwords. The bytes that are left
// of each row, one to three, share dwords with those of other rows, which a pass over the image makes
// for every output first: 3x3 of 3 inputs takes 7 dwords instead of 9, 5x5 of one input 7 instead of 10.
//
//   row 0      [ dword ][ dword ] a
//   row 1      [ dword ][ dword ] b          shared     [ a b c . ]
//   row 2      [ dword ][ dword ] c
#ifndef QRT_KERNELS_STEM_STEM_H_
#define QRT_KERNELS_STEM_STEM_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"
#include "kernels/window2d.h"

namespace qrt {

// The greatest distance, in bytes, between the inputs of neighbouring outputs for which rows share dwords.
constexpr size_t kStemMostPixelBytes = 8;

// dilation_w is 1.
struct StemShape : Window2D {
  size_t in_c, out_c;

  size_t pixel_bytes() const { return stride_w * in_c; }
  size_t row_bytes() const { return kernel_w * in_c; }  // size of a kernel row
  size_t rest() const { return row_bytes() % 4; }
  // Returns the number of dwords that rows share for their last bytes; 0: every row has a dword of
  // its own for them.
  size_t shared() const {
    const size_t dwords = (kernel_h * rest() + 3) / 4;
    return pixel_bytes() <= kStemMostPixelBytes && dwords < kernel_h ? dwords : 0;
  }
  size_t row_dwords() const { return (row_bytes() + (shared() > 0 ? 0 : 3)) / 4; }
  size_t steps() const { return kernel_h * row_dwords() + shared(); }
  // Returns how many bytes of a padded image row the outputs of a row need.
  size_t padded_bytes() const { return (out_w - 1) * pixel_bytes() + row_bytes(); }
};

// Output rows row_begin .. row_end - 1 of one image, at most stem_rows_per_call().
struct StemArgs {
  StemShape shape;
  const uint8_t* x;  // the image, dense
  uint8_t zero_point;
  const int8_t* weights;    // in the layout of stem_weights()
  const uint32_t* offsets;  // written by stem_offsets()
  const int32_t* bias;      // readable to the next multiple of 64 channels, as the requantisation's
  Requant requant;
  uint8_t* y;  // the image
  size_t y_pitch;
  size_t row_begin, row_end;
  uint8_t* scratch;  // stem_scratch_bytes(), aligned to 64
};

struct StemKernel {
  const char* name;
  Isa isa;
  // Returns whether the kernel has a form for this requantisation of so many outputs.
  bool (*handles)(const Requant& requant, size_t outputs);
  void (*fn)(const StemArgs& args);
};

// Returns the bytes of the weights, [ceil(out_c / 16)][steps][16][4], and makes them of `packed`,
// which gemm_pack() made with kernel rows as taps.
uint64_t stem_weight_bytes(const StemShape& shape);
void stem_weights(const int8_t* packed, const StemShape& shape, int8_t* weights);

// Computes where in a call's padded rows of the image the inputs of every output begin, and how far
// from there every dword is that is not shared.
size_t stem_offset_count(const StemShape& shape);
void stem_offsets(const StemShape& shape, uint32_t* offsets);

// Returns the most output rows of a call whose inputs stay in the first-level cache.
size_t stem_rows_per_call(const StemShape& shape);
size_t stem_scratch_bytes(const StemShape& shape);

// Returns all rows compiled in, best first. *count receives their number, which may be 0: there is
// no scalar row, as the gemm family does these convolutions on every instruction set.
const StemKernel* stem_kernels(size_t* count);

// Returns the best row of `isas`, or null.
const StemKernel* select_stem(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_STEM_STEM_H_
