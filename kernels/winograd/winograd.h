// SPDX-License-Identifier: Apache-2.0
// Contract of the winograd family: 3x3 and 1x3 convolutions of stride 1, any dilation and one group,
// by Winograd's F(4x4, 3x3) and F(4, 3) in integers. A tile of 4x4 outputs takes 36 products per
// channel instead of 144:
//
//   v = B' d B                  d: 6x6 pixels of a channel; v fits int16 (at most 17340)
//   u = G w G'                  w: 3x3 weights, sums of up to three int8; u fits int16 (at most 18816)
//   m[p] = sum over channels of v[p] * u[p]               the 36 positions p: products of matrices
//   576 * acc = A' m A          int32 modulo 2^32, as all sums before it
//
//        4  0 -5  0  1  0          1  0  0
//        0 -4 -4  1  1  0         -1 -1 -1           6  4  4  1  1  0
//   B' = 0  4 -4 -1  1  0     G = -1  1 -1      A' = 0  4 -4  2 -2  0
//        0 -2 -1  2  1  0          1  2  4           0  4  4  4  4  0
//        0  2 -1 -2  1  0          1 -2  4           0  4 -4  8 -8 24
//        0  4  0 -5  0  1          0  0  1
//
// These are the usual matrices of the points 0, 1, -1, 2, -2 with the rows of G multiplied by 4, 6,
// 6, 24, 24, 1 and the columns of A' by 24 over that: no fractions, and 24 * 24 = 576 = 64 * 9 times
// the result. 9 has an inverse modulo 2^32, and 64 divides what is left where acc, without the bias,
// lies within -2^25 .. 2^25 - 1: winograd_is_exact(). Then outputs are those of gemm.h, bit for bit.
// A tile of 1x4 outputs takes the transforms of one direction alone: 6 products instead of 12, and 24
// times the result, exact within -2^28 .. 2^28 - 1.
#ifndef QRT_KERNELS_WINOGRAD_WINOGRAD_H_
#define QRT_KERNELS_WINOGRAD_WINOGRAD_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"

namespace qrt {

constexpr size_t kWinogradTile = 4;      // outputs of a tile, in each direction that is transformed
constexpr size_t kWinogradColumns = 32;  // output channels at a time, at most

// Images of [in_h, in_w, in_c] bytes to [out_h, out_w, out_c]. The outputs of a tile lie a dilation
// apart, and tiles side by side begin at neighbouring outputs until these places are filled.
struct WinogradShape {
  size_t in_h, in_w, in_c;
  size_t out_h, out_w, out_c;
  size_t pad_top, pad_left;
  size_t terms = 1;     // int8 summands of a weight, up to 3
  size_t kernel_h = 3;  // or 1; the kernel's width is 3
  size_t dilation_h = 1, dilation_w = 1;

  size_t tile_h() const { return kernel_h == 3 ? kWinogradTile : 1; }
  size_t positions() const { return kernel_h == 3 ? 36 : 6; }  // positions of a transformed tile
  size_t taps() const { return kernel_h * 3; }
  size_t tiles_h() const { return tiles_along(out_h, dilation_h, tile_h()); }
  size_t tiles_w() const { return tiles_along(out_w, dilation_w, kWinogradTile); }
  size_t tiles() const { return tiles_h() * tiles_w(); }
  // Returns input channels of the packed weights.
  size_t kc() const { return (in_c + 3) / 4 * 4; }

  static size_t tiles_along(size_t out, size_t dilation, size_t tile) {
    const size_t period = dilation * tile;
    return (out + period - 1) / period * (out < dilation ? out : dilation);
  }
};

// Returns the bytes of the transformed weights, int16: [positions][ceil(out_c / 16)][kc / 2][16 /
// lanes][2][lanes], the tail of out_c zero.
uint64_t winograd_weight_bytes(const WinogradShape& shape);

// winograd_is_exact() returns whether all sums, without the bias, stay in the range in which
// results are exact; winograd_weights() transforms the weights. Both take them as gemm_pack()
// leaves them, those of all taps for each term. `lanes`: a kernel's weight_lanes.
bool winograd_is_exact(const int8_t* packed, const WinogradShape& shape);
void winograd_weights(const int8_t* packed, const WinogradShape& shape, size_t lanes,
                      int16_t* weights);

// A block of tiles: numbers tile_begin .. tile_end - 1 of all images' tiles, row by row, at most
// winograd_block(); of output channels channel_begin, a multiple of
// kWinogradColumns, to channel_end - 1.
struct WinogradArgs {
  WinogradShape shape;
  const uint8_t* x;     // the first image; pixels may be over-read by up to 64 bytes
  size_t x_pitch;       // bytes from pixel to pixel
  const uint8_t* zero;  // a pixel of input zero points, with 64 readable bytes behind it
  const int16_t* weights;
  const int32_t* bias;  // readable to the next multiple of 64 channels, as the requantisation's
  Requant requant;
  uint8_t* y;  // the first image; int32 with RequantKind::kAcc, float with kFloat
  size_t y_pitch;
  size_t tile_begin, tile_end;
  size_t channel_begin, channel_end;
  uint8_t* scratch;  // winograd_scratch_bytes(), aligned to 64
};

struct WinogradKernel {
  const char* name;
  Isa isa;
  size_t kernel_h;  // kernel height of the shapes that it takes
  // The costs in products of the gemm family's row of the same set: the worth of one product of the
  // definition here, and the time of a tile's transforms for each channel of input and of output.
  double gain, transform_in, transform_out;
  size_t tile_rows;  // rows of a register tile
  size_t weight_lanes;
  bool signed_pixels;  // reads x - 128, as GemmKernel::signed_lhs
  void (*fn)(const WinogradArgs& args);
};

// Tiles of a block: their transformed pixels stay in the second-level cache.
size_t winograd_block(const WinogradKernel& kernel, const WinogradShape& shape);
size_t winograd_scratch_bytes(const WinogradKernel& kernel, const WinogradShape& shape);

// Returns all rows compiled in, best first. *count receives their number, which may be 0: there is
// no scalar row, as the gemm family does these convolutions on every instruction set.
const WinogradKernel* winograd_kernels(size_t* count);

// Returns the row of this very set for such kernels, or null. Products of bytes by VPDPBUSD take
// half as long as those of int16 here: a row of three taps, half the products, would gain nothing.
const WinogradKernel* find_winograd(Isa isa, size_t kernel_h);

}  // namespace qrt

#endif  // QRT_KERNELS_WINOGRAD_WINOGRAD_H_
