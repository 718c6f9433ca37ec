// SPDX-License-Identifier: Apache-2.0
// The skeleton of the Winograd kernels: blocks of tiles through the transforms of winograd.h, the
// products of product.h, outputs. A kernel file gives a policy P of gemm_tile.h whose operands are
// pairs of int16; and
//
//   kTileRows, kTileVectors   tiles and vectors of channels of a register tile
//   load_pixels(p)            int16 of a vector of channels, as the gemm family's row of this set
//                             reads them
//
// Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_WINOGRAD_WINOGRAD_TILE_H_
#define QRT_KERNELS_WINOGRAD_WINOGRAD_TILE_H_

#include <string.h>

#include "kernels/winograd/product.h"
#include "kernels/winograd/scratch.h"

namespace qrt {
namespace {

constexpr size_t kPanel = 16;

// Words and sums are added modulo 2^16 and 2^32.
template <class P>
struct Vectors {
  static constexpr size_t kBytes = P::kLanes * sizeof(int32_t);
  static constexpr int kOfPanel = static_cast<int>(kPanel) / P::kLanes;
  // A tile between its two transforms takes 24 of AVX-512's 32 registers.
  static constexpr bool kHoldTile = kBytes == 64;
  typedef uint16_t Words __attribute__((vector_size(sizeof(decltype(P::load_pixels(nullptr))))));
  typedef uint32_t Sums __attribute__((vector_size(kBytes)));
  typedef int32_t Signed __attribute__((vector_size(kBytes)));
};

// Multiplies six vectors by B' of winograd.h.
template <class Words>
QRT_INLINE void transform_pixels(const Words (&d)[6], Words (&f)[6]) {
  const Words even = d[4] - (d[2] << 2), odd = d[3] - (d[1] << 2);
  const Words outer = d[4] - d[2], half = d[3] - d[1], inner = half + half;
  f[0] = ((d[0] - d[2]) << 2) + outer;
  f[1] = even + odd;
  f[2] = even - odd;
  f[3] = outer + inner;
  f[4] = outer - inner;
  f[5] = d[5] - d[3] - (inner + inner);
}

// Rows 1 to 4 of it, and rows 0 and 5.
template <class Words>
QRT_INLINE void transform_inner(const Words (&d)[6], Words (&f)[4]) {
  const Words even = d[4] - (d[2] << 2), odd = d[3] - (d[1] << 2);
  const Words outer = d[4] - d[2], half = d[3] - d[1], inner = half + half;
  f[0] = even + odd;
  f[1] = even - odd;
  f[2] = outer + inner;
  f[3] = outer - inner;
}
template <class Words>
QRT_INLINE void transform_outer(const Words (&d)[6], Words (&f)[2]) {
  f[0] = ((d[0] - d[2]) << 2) + (d[4] - d[2]);
  f[1] = d[5] - d[3] - ((d[3] - d[1]) << 2);
}

// Multiplies six vectors by A' of winograd.h.
template <class Sums>
QRT_INLINE void transform_sums(const Sums (&m)[6], Sums (&y)[4]) {
  const Sums a = m[1] + m[2], b = m[1] - m[2], c = m[3] + m[4], d = m[3] - m[4];
  const Sums last = m[5] + (m[5] << 1);
  y[0] = (c + (m[0] << 1)) + ((m[0] + a) << 2);
  y[1] = ((b << 1) + d) << 1;
  y[2] = (a + c) << 2;
  y[3] = (b + ((d + last) << 1)) << 2;
}

// Divides: returns acc for the 576 * acc, or 24 * acc, that transform_sums() leaves in two directions or one.
template <class P, int kRows>
QRT_INLINE typename P::Acc exact_acc(typename Vectors<P>::Sums v) {
  // 9 * 0x38e38e39 = 3 * 0xaaaaaaab = 1 modulo 2^32
  constexpr uint32_t kInverse = kRows == 6 ? 0x38e38e39 : 0xaaaaaaab;
  const auto multiple = (typename Vectors<P>::Signed)(v * kInverse);
  return (typename P::Acc)(multiple >> (kRows == 6 ? 6 : 3));
}

// The place of a tile: its first output, and how many rows and pixels of outputs it has.
struct TileExtent {
  size_t image, y, x, rows, pixels;
};

struct Block {
  const WinogradArgs* args;
  size_t tiles;
  uint8_t *pixels, *sums, *tile;  // parts of the scratch memory
  size_t pixel_stride, sum_stride;
  TileExtent extents[kWinogradMostTiles];
};

QRT_INLINE size_t first_output(size_t number, size_t out, size_t dilation, size_t tile) {
  const size_t phases = out < dilation ? out : dilation;
  return number / phases * dilation * tile + number % phases;
}

// Returns the number of outputs of a tile from `first` on: none where the last places of a dilation
// are not filled.
QRT_INLINE size_t outputs_from(size_t first, size_t out, size_t dilation, size_t tile) {
  const size_t left = first < out ? (out - first + dilation - 1) / dilation : 0;
  return left < tile ? left : tile;
}

__attribute__((noinline)) void place_tiles(Block* block) {
  const WinogradShape& s = block->args->shape;
  const size_t tiles_w = s.tiles_w(), tiles = s.tiles_h() * tiles_w;
  for (size_t i = 0; i < block->tiles; ++i) {
    const size_t number = block->args->tile_begin + i, in_image = number % tiles;
    const size_t y = first_output(in_image / tiles_w, s.out_h, s.dilation_h, s.tile_h()),
                 x = first_output(in_image % tiles_w, s.out_w, s.dilation_w, kWinogradTile);
    block->extents[i] = {number / tiles, y, x, outputs_from(y, s.out_h, s.dilation_h, s.tile_h()),
                         outputs_from(x, s.out_w, s.dilation_w, kWinogradTile)};
  }
}

// Finds the kRows x 6 pixels of a tile.
template <int kRows>
QRT_INLINE void find_pixels(const WinogradArgs& args, const TileExtent& extent,
                            const uint8_t* (&pixel)[kRows][6]) {
  const WinogradShape& s = args.shape;
  // Coordinates before the image wrap around to values beyond its size.
  const size_t first_y = extent.y - s.pad_top, first_x = extent.x - s.pad_left;
  const size_t height = (kRows - 1) * s.dilation_h, width = 5 * s.dilation_w;
  const uint8_t* const image = args.x + extent.image * s.in_h * s.in_w * args.x_pitch;
  if (first_y < s.in_h && height < s.in_h - first_y && first_x < s.in_w &&
      width < s.in_w - first_x) {
    const uint8_t* row = image + (first_y * s.in_w + first_x) * args.x_pitch;
    const size_t right = s.dilation_w * args.x_pitch, down = s.dilation_h * s.in_w * args.x_pitch;
    for (size_t r = 0; r < kRows; ++r, row += down)
      for (size_t c = 0; c < 6; ++c) pixel[r][c] = row + c * right;
    return;
  }
  for (size_t r = 0; r < kRows; ++r) {
    const size_t y = first_y + r * s.dilation_h;
    for (size_t c = 0; c < 6; ++c) {
      const size_t x = first_x + c * s.dilation_w;
      pixel[r][c] = y < s.in_h && x < s.in_w ? image + (y * s.in_w + x) * args.x_pitch : args.zero;
    }
  }
}

// Transforms a vector of channels, from k on, of a tile's pixels: first rows 1 to 4, then the
// others, so that they stay in registers.
template <class P>
QRT_INLINE void fill_vector(const Block& block, const uint8_t* const (&pixel)[6][6], size_t k,
                            uint8_t* out) {
  using Words = typename Vectors<P>::Words;
  const size_t stride = block.pixel_stride;
  const auto store_row = [&](const Words(&d)[6], size_t row) QRT_INLINE_LAMBDA {
    Words f[6];
    transform_pixels(d, f);
    uint8_t* to = out + row * 6 * stride;
    QRT_UNROLL
    for (int c = 0; c < 6; ++c, to += stride) memcpy(to, &f[c], sizeof(Words));
  };
  Words inner[4][6], outer[2][6];
  QRT_UNROLL
  for (int c = 0; c < 6; ++c) {
    Words d[6], f[4];
    QRT_UNROLL
    for (int r = 1; r < 5; ++r) d[r] = (Words)P::load_pixels(pixel[r][c] + k);
    transform_inner(d, f);
    QRT_UNROLL
    for (int r = 0; r < 4; ++r) inner[r][c] = f[r];
  }
  QRT_UNROLL
  for (int r = 0; r < 4; ++r) store_row(inner[r], static_cast<size_t>(r) + 1);
  QRT_UNROLL
  for (int c = 0; c < 6; ++c) {
    Words d[6], f[2];
    QRT_UNROLL
    for (int r = 0; r < 6; ++r) d[r] = (Words)P::load_pixels(pixel[r][c] + k);
    transform_outer(d, f);
    outer[0][c] = f[0], outer[1][c] = f[1];
  }
  store_row(outer[0], 0);
  store_row(outer[1], 5);
}

// Transforms the pixels of tile number `i` of the block. kRows: 6, or 1 for a kernel of one row.
template <class P, int kRows>
void fill_pixels(const Block& block, size_t i) {
  using Words = typename Vectors<P>::Words;
  const WinogradArgs& args = *block.args;
  const WinogradShape& s = args.shape;
  const uint8_t* pixel[kRows][6];
  find_pixels<kRows>(args, block.extents[i], pixel);
  Words* const tile = reinterpret_cast<Words*>(block.tile);
  uint8_t* out = block.pixels + i * winograd_channels(s) * sizeof(int16_t);
  for (size_t k = 0; k < s.in_c; k += sizeof(Words) / 2, out += sizeof(Words)) {
    if constexpr (Vectors<P>::kHoldTile && kRows == 6) {
      fill_vector<P>(block, pixel, k, out);
      continue;
    }
    for (size_t c = 0; c < 6 && kRows == 6; ++c) {
      Words d[6], f[6];
      QRT_UNROLL
      for (int r = 0; r < kRows; ++r) d[r] = (Words)P::load_pixels(pixel[r][c] + k);
      transform_pixels(d, f);
      QRT_UNROLL
      for (int r = 0; r < 6; ++r) tile[r * 6 + static_cast<int>(c)] = f[r];
    }
    uint8_t* to = out;
    for (size_t r = 0; r < kRows; ++r) {
      Words d[6], f[6];
      QRT_UNROLL
      for (int c = 0; c < 6; ++c) {
        d[c] = kRows == 6 ? tile[r * 6 + static_cast<size_t>(c)]
                          : (Words)P::load_pixels(pixel[r][c] + k);
      }
      transform_pixels(d, f);
      QRT_UNROLL
      for (int c = 0; c < 6; ++c, to += block.pixel_stride) memcpy(to, &f[c], sizeof(Words));
    }
  }
}

// The outputs of a panel of 16 channels, and how its sums become them.
template <class P>
struct Panel {
  const GemmArgs* outputs;
  const Output<P>* output;
  size_t channel, columns;
  // Constants for requantisation in registers.
  typename P::template Store<Vectors<P>::kOfPanel> store;
};

// Transforms the sums of a tile, `sum_stride` bytes apart, to 4x4 outputs of one vector of channels, all
// in registers. c: the first output's channel; outputs are `pitch` bytes apart, rows of them row_pitch.
template <class P, typename P::Epilogue::Form kForm>
__attribute__((noinline)) void store_tile_as(const typename P::template Store<1>& store,
                                             const uint8_t* sums, size_t sum_stride,
                                             typename P::Acc bias, uint8_t* c, size_t pitch,
                                             size_t row_pitch) {
  using Sums = typename Vectors<P>::Sums;
  Sums tile[4][6];
  QRT_UNROLL
  for (int column = 0; column < 6; ++column) {
    Sums m[6], y[4];
    QRT_UNROLL
    for (int r = 0; r < 6; ++r)
      memcpy(&m[r], sums + static_cast<size_t>(r * 6 + column) * sum_stride, sizeof m[r]);
    transform_sums(m, y);
    QRT_UNROLL
    for (int r = 0; r < 4; ++r) tile[r][column] = y[r];
  }
  QRT_UNROLL
  for (int r = 0; r < 4; ++r, c += row_pitch) {
    Sums out[4];
    typename P::Acc acc[4][1];
    transform_sums(tile[r], out);
    QRT_UNROLL
    for (int p = 0; p < 4; ++p) acc[p][0] = P::add(exact_acc<P, 6>(out[p]), bias);
    store.template rows_as<kForm>(acc, c, pitch);
  }
}

// Transforms and stores the outputs of tile number `i` of the block, for the panel's channels,
// whose sums begin in column `column` of the chunk.
template <class P, int kRows>
void store_tile(const Block& block, const Panel<P>& panel, size_t i, size_t column) {
  using Sums = typename Vectors<P>::Sums;
  constexpr int kVectors = Vectors<P>::kOfPanel;
  const WinogradArgs& args = *block.args;
  const WinogradShape& s = args.shape;
  const TileExtent& extent = block.extents[i];
  const size_t rows = extent.rows, pixels = extent.pixels;
  if (pixels == 0) return;
  const size_t channel = panel.channel, pitch = panel.outputs->c_stride;
  const size_t row_pitch = s.dilation_h * s.out_w * args.y_pitch;
  const typename P::Epilogue* const epilogue = panel.output->in_registers();
  uint8_t* y = args.y + ((extent.image * s.out_h + extent.y) * s.out_w + extent.x) * args.y_pitch;
  if constexpr (Vectors<P>::kHoldTile && kRows == 6) {
    using Form = typename P::Epilogue::Form;
    if (epilogue != nullptr && (epilogue->form == Form::kFused || epilogue->is_plain())) {
      const auto bias = epilogue->start(P::load_acc(args.bias + channel));
      const uint8_t* const sums = block.sums + (i * kWinogradColumns + column) * sizeof(int32_t);
      const auto store_as = epilogue->form == Form::kFused ? store_tile_as<P, Form::kFused>
                                                           : store_tile_as<P, Form::kPlain>;
      const auto& store = panel.store;
      if (rows == 4 && pixels == 4)
        return store_as(store, sums, block.sum_stride, bias, y + channel, pitch, row_pitch);
      uint8_t part[4][4][kPanel];
      store_as(store, sums, block.sum_stride, bias, part[0][0], kPanel, sizeof part[0]);
      for (size_t r = 0; r < rows; ++r, y += row_pitch)
        for (size_t p = 0; p < pixels; ++p)
          memcpy(y + p * pitch + channel, part[r][p], panel.columns);
      return;
    }
  }
  Sums* const tile = reinterpret_cast<Sums*>(block.tile);
  const uint8_t* const sums = block.sums + (i * kWinogradColumns + column) * sizeof(int32_t);
  const auto sum = [&](size_t position, size_t v) QRT_INLINE_LAMBDA {
    Sums m;
    memcpy(&m, sums + position * block.sum_stride + v * sizeof m, sizeof m);
    return m;
  };
  for (size_t v = 0; v < kVectors && kRows == 6; ++v) {
    for (size_t c = 0; c < 6; ++c) {
      Sums m[6], y[4];
      QRT_UNROLL
      for (int r = 0; r < 6; ++r) m[r] = sum(static_cast<size_t>(r) * 6 + c, v);
      transform_sums(m, y);
      QRT_UNROLL
      for (int r = 0; r < 4; ++r) tile[(static_cast<size_t>(r) * 6 + c) * kVectors + v] = y[r];
    }
  }
  for (size_t r = 0; r < rows; ++r, y += row_pitch) {
    typename P::Acc acc[4][kVectors];
    QRT_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      auto bias = P::load_acc(args.bias + channel + static_cast<size_t>(v) * P::kLanes);
      if (epilogue != nullptr) bias = epilogue->start(bias);
      Sums m[6], out[4];
      QRT_UNROLL
      for (int c = 0; c < 6; ++c) {
        const size_t at = static_cast<size_t>(c);
        m[c] = kRows == 6 ? tile[(r * 6 + at) * kVectors + static_cast<size_t>(v)]
                          : sum(at, static_cast<size_t>(v));
      }
      transform_sums(m, out);
      QRT_UNROLL
      for (int p = 0; p < 4; ++p) acc[p][v] = P::add(exact_acc<P, kRows>(out[p]), bias);
    }
    if (epilogue == nullptr) {
      store_through_memory<P, 4, kVectors>(*panel.outputs, *panel.output, channel, panel.columns,
                                           acc, y, pixels);
      continue;
    }
    uint8_t part[4 * kPanel];
    const bool whole = pixels == 4;
    panel.store.rows(acc, whole ? y + channel : part, whole ? pitch : kPanel);
    for (size_t p = 0; p < pixels && !whole; ++p)
      memcpy(y + p * pitch + channel, part + p * kPanel, panel.columns);
  }
}

template <class P, int kRows>
void run_block(const WinogradArgs& args) {
  const WinogradShape& s = args.shape;
  Block block;
  block.args = &args;
  block.tiles = args.tile_end - args.tile_begin;
  block.pixel_stride = winograd_pixel_stride(s, block.tiles);
  block.sum_stride = winograd_sum_stride(block.tiles);
  block.tile = args.scratch;
  block.pixels = block.tile + kWinogradTileBytes;
  block.sums = block.pixels + s.positions() * block.pixel_stride;
  place_tiles(&block);
  for (size_t i = 0; i < block.tiles; ++i) fill_pixels<P, kRows>(block, i);

  Product product = {};
  product.rows = block.tiles;
  product.row_bytes = winograd_channels(s) * sizeof(int16_t);
  product.kc = s.kc() * sizeof(int16_t);
  product.sum_bytes = kWinogradColumns * sizeof(int32_t);
  GemmArgs outputs = {};
  outputs.n = s.out_c;
  outputs.taps = s.terms * s.taps();
  outputs.kc = s.kc();
  outputs.requant = args.requant;
  outputs.bias = args.bias;
  outputs.c_stride = s.dilation_w * args.y_pitch;  // bytes from one output of a tile to the next
  const Output<P> output(outputs);

  constexpr size_t kColumns = static_cast<size_t>(P::kTileVectors) * P::kLanes;
  static_assert(kColumns <= kWinogradColumns, "the sums have room for so many");
  const int8_t* const weights = reinterpret_cast<const int8_t*>(args.weights);
  const size_t all = (s.out_c + kPanel - 1) / kPanel * kPanel, position_bytes = all * product.kc;
  const size_t end = args.channel_end < s.out_c ? args.channel_end : all;
  for (size_t first = args.channel_begin; first < end; first += kColumns) {
    const size_t columns = end - first < kColumns ? end - first : kColumns;
    product.weights = weights + first * product.kc;
    for (size_t p = 0; p < s.positions(); ++p, product.weights = product.next) {
      product.next = p + 1 < s.positions()    ? product.weights + position_bytes
                     : first + kColumns < end ? weights + (first + kColumns) * product.kc
                                              : weights + args.channel_begin * product.kc;
      product.pixels = block.pixels + p * block.pixel_stride;
      product.sums = block.sums + p * block.sum_stride;
      if (columns == kColumns)
        multiply<P, P::kTileVectors>(product);
      else
        multiply<P, Vectors<P>::kOfPanel>(product);
    }
    for (size_t column = 0; column < columns; column += kPanel) {
      const size_t channel = first + column, left = s.out_c - channel;
      Panel<P> panel = {&outputs, &output, channel, left < kPanel ? left : kPanel, {}};
      if (const auto* epilogue = output.in_registers())
        panel.store.set(*epilogue, channel, panel.columns);
      for (size_t i = 0; i < block.tiles; ++i) store_tile<P, kRows>(block, panel, i, column);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_WINOGRAD_WINOGRAD_TILE_H_
