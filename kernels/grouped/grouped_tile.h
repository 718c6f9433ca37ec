// SPDX-License-Identifier: Apache-2.0
// The skeleton of the grouped kernels: padded pixels of a panel, tiles of outputs, their epilogue. A
// kernel file gives a form F:
//
//   Policy                       of gemm_tile.h: accumulators of whole sums and their epilogue
//   kVectors                     of them to a panel
//   kPixels                      outputs of a tile
//   kElementBytes                of a pixel's channel in scratch memory
//   copy(from, to)               16 channels of a pixel
//   sums(pixel, steps, n, w, acc)  the sums of a panel from n steps, without bias
//
// Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_GROUPED_GROUPED_TILE_H_
#define QRT_KERNELS_GROUPED_GROUPED_TILE_H_

#include <string.h>

#include "kernels/gemm/gemm_tile.h"
#include "kernels/grouped/scratch.h"

namespace qrt {
namespace {

struct RowRange {
  const GroupedArgs& args;
  GroupedScratch scratch;
  const uint32_t* outputs;  // where the pixels of an output begin
  const uint32_t* steps;
  const uint8_t* pixels;
};

// Finds the places of outputs' pixels, which all panels share.
__attribute__((noinline)) void find_offsets(const GroupedScratch& scratch, uint32_t* outputs,
                                            uint32_t* steps) {
  const GroupedShape& s = scratch.shape;
  const size_t pixel = kGroupedPanel * scratch.element_bytes, row = scratch.row_bytes();
  for (size_t y = 0; y < scratch.rows; ++y)
    for (size_t x = 0; x < s.out_w; ++x)
      *outputs++ = static_cast<uint32_t>(y * s.stride_h * row + x * s.stride_w * pixel);
  for (size_t i = scratch.outputs(); i < kGroupedTile; ++i, ++outputs) *outputs = outputs[-1];
  for (size_t y = 0; y < s.kernel_h; ++y)
    for (size_t x = 0; x < s.kernel_w; ++x)
      for (size_t cell = 0; cell < scratch.cells(); ++cell)
        *steps++ =
            static_cast<uint32_t>(y * s.dilation_h * row + x * s.dilation_w * pixel + cell * 16);
}

template <class F>
QRT_INLINE uint8_t* copy_pixels(const uint8_t* from, size_t pitch, size_t pixels, uint8_t* to) {
  for (size_t i = 0; i < pixels; ++i, from += pitch, to += kGroupedPanel * F::kElementBytes)
    F::copy(from, to);
  return to;
}

// The rows of the image that the range of rows needs, of the panel from `channel` on, with their padding.
template <class F>
__attribute__((noinline)) void fill_pixels(const GroupedArgs& args, const GroupedScratch& scratch,
                                           size_t channel, uint8_t* to) {
  const GroupedShape& s = args.shape;
  const size_t width = s.padded_w(), left = s.pad_left < width ? s.pad_left : width;
  const size_t inside = s.in_w < width - left ? s.in_w : width - left;
  uint8_t zero[kGroupedPanel];
  memset(zero, args.zero_point, sizeof zero);
  for (size_t r = 0; r < s.padded_h(scratch.rows); ++r) {
    // Rows before the image wrap around to values beyond its size.
    const size_t y = args.row_begin * s.stride_h + r - s.pad_top;
    if (y >= s.in_h) {
      to = copy_pixels<F>(zero, 0, width, to);
      continue;
    }
    to = copy_pixels<F>(zero, 0, left, to);
    to = copy_pixels<F>(args.x + y * s.in_w * args.x_pitch + channel, args.x_pitch, inside, to);
    to = copy_pixels<F>(zero, 0, width - left - inside, to);
  }
}

// Computes the outputs of a panel. The last tile begins so early that it is a whole one; where
// there is none, the last pixel is repeated, and what there is of it stored.
template <class F>
__attribute__((noinline)) void run_panel(const RowRange& range, const GemmArgs& outputs,
                                         const Output<typename F::Policy>& output, size_t channel,
                                         const int8_t* weights) {
  using P = typename F::Policy;
  constexpr size_t kPixels = F::kPixels;
  static_assert(kPixels <= kGroupedTile, "places of repeated pixels");
  constexpr int kVectors = F::kVectors;
  const size_t left = outputs.n - channel, columns = left < kGroupedPanel ? left : kGroupedPanel;
  const typename P::Epilogue* const epilogue = output.in_registers();
  typename P::template Store<kVectors> store;
  if (epilogue != nullptr) store.set(*epilogue, channel, columns);
  typename P::Acc bias[kVectors];
  QRT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    bias[v] = P::load_acc(outputs.bias + channel + static_cast<size_t>(v) * P::kLanes);
    if (epilogue != nullptr) bias[v] = epilogue->start(bias[v]);
  }
  const size_t all = range.scratch.outputs(), steps = range.scratch.steps();
  const size_t pitch = outputs.c_stride;
  for (size_t done = 0; done < all; done += kPixels) {
    const size_t first = all - done >= kPixels ? done : all < kPixels ? 0 : all - kPixels;
    const uint8_t* pixel[kPixels];
    QRT_UNROLL
    for (size_t i = 0; i < kPixels; ++i) pixel[i] = range.pixels + range.outputs[first + i];
    typename P::Acc acc[kPixels][kVectors];
    F::sums(pixel, range.steps, steps, weights, acc);
    QRT_UNROLL
    for (size_t i = 0; i < kPixels; ++i) {
      QRT_UNROLL
      for (int v = 0; v < kVectors; ++v) acc[i][v] = P::add(acc[i][v], bias[v]);
    }
    uint8_t* const y = static_cast<uint8_t*>(outputs.c) + first * pitch;
    if (epilogue == nullptr) {
      store_through_memory<P, F::kPixels, kVectors>(outputs, output, channel, columns, acc, y,
                                                    all < kPixels ? all : kPixels);
    } else if (all >= kPixels) {
      store.rows(acc, y + channel, pitch);
    } else {
      uint8_t part[kPixels * kGroupedPanel];
      store.rows(acc, part, kGroupedPanel);
      for (size_t i = 0; i < all; ++i)
        memcpy(y + i * pitch + channel, part + i * kGroupedPanel, columns);
    }
  }
}

template <class F>
QRT_INLINE void run_row_range(const GroupedArgs& args) {
  const GroupedShape& s = args.shape;
  const GroupedScratch scratch(F::kElementBytes, s, args.row_end - args.row_begin);
  uint32_t* const offsets = reinterpret_cast<uint32_t*>(args.scratch);
  uint32_t* const steps = reinterpret_cast<uint32_t*>(args.scratch + scratch.steps_at());
  uint8_t* const pixels = args.scratch + scratch.pixels_at();
  find_offsets(scratch, offsets, steps);
  const RowRange range = {args, scratch, offsets, steps, pixels};

  GemmArgs outputs = {};
  outputs.n = s.channels;
  outputs.taps = s.taps();
  outputs.kc = s.group;
  outputs.bias = args.bias;
  outputs.requant = args.requant;
  outputs.c = args.y + args.row_begin * s.out_w * args.y_pitch;
  outputs.c_stride = args.y_pitch;
  const Output<typename F::Policy> output(outputs);
  const int8_t* weights = args.weights;
  const size_t panel_bytes = kGroupedPanel * s.taps() * s.group * F::kElementBytes;
  for (size_t c = 0; c < s.channels; c += kGroupedPanel, weights += panel_bytes) {
    fill_pixels<F>(args, scratch, c, pixels);
    run_panel<F>(range, outputs, output, c, weights);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GROUPED_GROUPED_TILE_H_
