// SPDX-License-Identifier: Apache-2.0
// Contract of the narrow family: convolutions of stride 1 with few outputs, by any kernel, dilation and
// padding.
//
//   acc[y][x][o] = bias[o] + sum over ky, kx and inputs i of w[o][ky][kx][i] *
//                  in[y + (move_o.y + ky) * dilation_h - pad_top]
//                    [x + (move_o.x + kx) * dilation_w - pad_left][i]
//   output[y][x][o] = requantize(acc[y][x][o]) as uint8, where the kernel handles that
//
// Positions outside the image read the zero point. uint8 times int8, sums in int32 modulo 2^32:
// outputs are those of gemm.h, bit for bit, which has 16 outputs in a vector, or 8, and zeros for those
// that there are not. Here a vector holds one output of neighbouring pixels:
//
//   planes     the padded image, a dword of four inputs for each pixel, one plane for every four
//              inputs, row after row
//   position   a pixel of a plane, counted through all of its rows; the inputs of tap (ky, kx) of
//              neighbouring positions are neighbours, ky * dilation_h * padded_w + kx * dilation_w further
//
//               position p .. p + 15
//             +----------------------+
//   weight .  | acc += splat . plane |   a dword of weights of one output, tap and four inputs
//             +----------------------+
//
// The positions between the rows' ends are computed, too, and not stored. `move` serves transposed
// convolutions: their outputs have windows of one size within a kernel that holds them all. Every output
// is computed where its window lies, and stored where it belongs.
#ifndef QRT_KERNELS_NARROW_NARROW_H_
#define QRT_KERNELS_NARROW_NARROW_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"
#include "kernels/requant.h"
#include "kernels/window2d.h"

namespace qrt {

constexpr size_t kNarrowMostOutputs = 32;  // the most outputs of a layer that may gain

struct WindowOffset {
  uint16_t y, x;  // taps
};

// The kernel is an output's window, and strides are 1.
struct NarrowShape : Window2D {
  size_t in_c, out_c;
  WindowOffset most = {0, 0};  // the greatest offset of all outputs' windows

  size_t dwords() const { return (in_c + 3) / 4; }  // dwords of a pixel
  size_t steps() const { return kernel_h * kernel_w * dwords(); }
  // Return the width of the padded image in pixels, and how many rows of it `rows` output rows
  // need.
  size_t padded_w() const { return out_w + (most.x + kernel_w - 1) * dilation_w; }
  size_t padded_h(size_t rows) const { return rows + (most.y + kernel_h - 1) * dilation_h; }
  // From a position to where the window of an output with this move begins.
  size_t place(WindowOffset offset) const {
    return offset.y * dilation_h * padded_w() + offset.x * dilation_w;
  }
};

// Output rows row_begin .. row_end - 1 of one image, at most narrow_rows_per_call().
struct NarrowArgs {
  NarrowShape shape;
  const uint8_t* x;  // the image; its pixels may be over-read by up to 64 bytes
  size_t x_pitch;    // bytes from pixel to pixel
  uint8_t zero_point;
  const int8_t* weights;               // in the layout of narrow_weights()
  const WindowOffset* window_offsets;  // one for every output
  const int32_t* bias;  // readable to the next multiple of 64 channels, as the requantisation's
  Requant requant;
  uint8_t* y;  // the image
  size_t y_pitch;
  size_t row_begin, row_end;
  uint8_t* scratch;  // narrow_scratch_bytes(), aligned to 64
};

struct NarrowKernel {
  const char* name;
  Isa isa;
  // Returns whether the kernel has a form for this requantisation of so many outputs.
  bool (*handles)(const Requant& requant, size_t outputs);
  void (*fn)(const NarrowArgs& args);
};

// Weights of one group in the layout of gemm_pack(), whose taps are pixels, or, with row_taps, rows
// of pixels. out_c may be less than the packed outputs: then it is a layer of the first ones.
struct NarrowLayer {
  const int8_t* packed;
  size_t in_c, out_c, kernel_h, kernel_w;
  bool row_taps;

  int8_t at(size_t o, size_t ky, size_t kx, size_t i) const;
};

// Returns whether the outputs are those of `pixels` neighbouring pixels (a converter joins them): output
// o of pixel q is output q * out_c / pixels + o, and has the weights of pixel 0 q columns further on.
bool narrow_is_joined(const NarrowLayer& layer, size_t pixels);

// Finds the smallest window for all weights that are not zero, and where every output has it: sets
// kernel_h, kernel_w and most of the shape, and moves[out_c].
void find_windows_of_outputs(const NarrowLayer& layer, NarrowShape* shape,
                             WindowOffset* window_offsets);

uint64_t narrow_weight_bytes(const NarrowShape& shape);
void narrow_weights(const NarrowLayer& layer, const NarrowShape& shape,
                    const WindowOffset* window_offsets, int8_t* weights);

// Returns the most output rows of a call whose planes stay in the second-level cache; 0: not even
// those of one row do.
size_t narrow_rows_per_call(const NarrowShape& shape);
size_t narrow_scratch_bytes(const NarrowShape& shape);

// The work of an image: positions of which every output is computed, dwords that are put into planes.
// REQUIRES: narrow_rows_per_call() > 0.
struct NarrowWork {
  size_t positions, dwords;
};
NarrowWork narrow_work(const NarrowShape& shape);

// Returns all rows compiled in, best first. *count receives their number, which may be 0: there is
// no scalar row, as the gemm family does these convolutions on every instruction set.
const NarrowKernel* narrow_kernels(size_t* count);

// Returns the best row of `isas`, or null.
const NarrowKernel* select_narrow(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_NARROW_NARROW_H_
