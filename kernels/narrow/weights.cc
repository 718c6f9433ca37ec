// SPDX-License-Identifier: Apache-2.0
// Converts packed weights of the gemm family to the form of the narrow family, and computes sizes.
#include <string.h>

#include "kernels/narrow/narrow.h"
#include "kernels/narrow/scratch.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4;

// The weights of a tap that are not zero, for every tap of an output: the rows and columns they take.
struct Window {
  size_t top, bottom, left, right;  // top > bottom: none

  Window(const NarrowLayer& layer, size_t o)
      : top(layer.kernel_h), bottom(0), left(layer.kernel_w), right(0) {
    for (size_t y = 0; y < layer.kernel_h; ++y)
      for (size_t x = 0; x < layer.kernel_w; ++x) {
        size_t i = 0;
        while (i < layer.in_c && layer.at(o, y, x, i) == 0) ++i;
        if (i == layer.in_c) continue;
        if (y < top) top = y;
        if (y > bottom) bottom = y;
        if (x < left) left = x;
        if (x > right) right = x;
      }
  }
  size_t height() const { return top > bottom ? 1 : bottom - top + 1; }
  size_t width() const { return left > right ? 1 : right - left + 1; }
};

size_t least(size_t a, size_t b) { return a < b ? a : b; }
size_t most(size_t a, size_t b) { return a > b ? a : b; }

}  // namespace

__attribute__((noinline)) int8_t NarrowLayer::at(size_t o, size_t ky, size_t kx, size_t i) const {
  const size_t taps = row_taps ? kernel_h : kernel_h * kernel_w;
  const size_t tap = row_taps ? ky : ky * kernel_w + kx, k = row_taps ? kx * in_c + i : i;
  const size_t groups = ((row_taps ? kernel_w * in_c : in_c) + kGroup - 1) / kGroup;
  const size_t block = (o / kBlock * taps + tap) * groups + k / kGroup;
  return packed[(block * kBlock + o % kBlock) * kGroup + k % kGroup];
}

bool narrow_is_joined(const NarrowLayer& layer, size_t pixels) {
  const size_t outputs = layer.out_c / pixels, width = layer.kernel_w;
  if (layer.out_c % pixels != 0 || width < pixels) return false;
  for (size_t o = 0; o < layer.out_c; ++o) {
    const size_t first = o / outputs, end = width - pixels;
    for (size_t y = 0; y < layer.kernel_h; ++y)
      for (size_t x = 0; x < width; ++x)
        for (size_t i = 0; i < layer.in_c; ++i) {
          const bool is_inside = x >= first && x - first <= end;
          const int8_t expected = is_inside ? layer.at(o % outputs, y, x - first, i) : int8_t{0};
          if (layer.at(o, y, x, i) != expected) return false;
        }
  }
  return true;
}

void find_windows_of_outputs(const NarrowLayer& layer, NarrowShape* shape,
                             WindowOffset* window_offsets) {
  shape->kernel_h = shape->kernel_w = 1;
  for (size_t o = 0; o < shape->out_c; ++o) {
    const Window window(layer, o);
    shape->kernel_h = most(shape->kernel_h, window.height());
    shape->kernel_w = most(shape->kernel_w, window.width());
  }
  shape->most = {0, 0};
  for (size_t o = 0; o < shape->out_c; ++o) {
    const Window window(layer, o);
    const size_t y = least(window.top, layer.kernel_h - shape->kernel_h);
    const size_t x = least(window.left, layer.kernel_w - shape->kernel_w);
    window_offsets[o] = {static_cast<uint16_t>(y), static_cast<uint16_t>(x)};
    shape->most.y = static_cast<uint16_t>(most(shape->most.y, y));
    shape->most.x = static_cast<uint16_t>(most(shape->most.x, x));
  }
}

uint64_t narrow_weight_bytes(const NarrowShape& shape) {
  return uint64_t{shape.steps()} * shape.out_c * kGroup;
}

void narrow_weights(const NarrowLayer& layer, const NarrowShape& shape,
                    const WindowOffset* window_offsets, int8_t* weights) {
  const NarrowBlocks blocks(shape.out_c);
  for (size_t block = 0, first = 0; block < blocks.count; first += blocks.size(block++))
    for (size_t y = 0; y < shape.kernel_h; ++y)
      for (size_t dword = 0; dword < shape.dwords(); ++dword)
        for (size_t x = 0; x < shape.kernel_w; ++x)
          for (size_t o = first; o < first + blocks.size(block); ++o)
            for (size_t i = kGroup * dword; i < kGroup * (dword + 1); ++i)
              *weights++ = i < shape.in_c
                               ? layer.at(o, y + window_offsets[o].y, x + window_offsets[o].x, i)
                               : int8_t{0};
}

size_t narrow_rows_per_call(const NarrowShape& shape) {
  constexpr size_t kGoodBytes = 256 << 10;
  const auto fits = [&](size_t rows) {
    return rows <= shape.out_h && NarrowScratch(shape, rows).bytes() <= kGoodBytes;
  };
  size_t rows = 0;
  while (fits(rows + 1)) ++rows;
  return rows;
}

size_t narrow_scratch_bytes(const NarrowShape& shape) {
  return NarrowScratch(shape, narrow_rows_per_call(shape)).bytes();
}

NarrowWork narrow_work(const NarrowShape& shape) {
  const size_t rows = narrow_rows_per_call(shape), strips = (shape.out_h + rows - 1) / rows;
  const NarrowScratch scratch(shape, (shape.out_h + strips - 1) / strips);
  return {strips * scratch.blocks() * kNarrowPositions,
          strips * shape.padded_h(scratch.rows) * shape.padded_w() * shape.dwords()};
}

}  // namespace qrt
