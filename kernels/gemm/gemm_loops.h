// SPDX-License-Identifier: Apache-2.0
// A whole product by the tiles of gemm_tile.h: blocks of rows that stay in L2, panels of weights within
// them, the tile for row and channel tails. P is a policy of gemm_tile.h.
//
// Everything here is in an anonymous namespace: the object files of two sets must not share code.
#ifndef QRT_KERNELS_GEMM_GEMM_LOOPS_H_
#define QRT_KERNELS_GEMM_GEMM_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/few_rows.h"

namespace qrt {
namespace {

// The left-hand bytes of a block of rows, which are read again for every panel of weights: they
// stay in L2 beside the panel.
constexpr size_t kRowBlockBytes = 384 * 1024;

// Calls the function for the number of rows, kLeast .. MR.
template <class P, int NV, int MR, int kLeast>
void run_column_of(size_t rows, const Column<P>& column) {
  if constexpr (MR >= kLeast) {
    if (rows == MR) return run_column<P, MR, NV>(column);
    run_column_of<P, NV, MR - 1, kLeast>(rows, column);
  }
}

// Distributes rows row_begin .. row_end over tiles of at most MR: evenly, so that none is too small
// to hide the latency of the dot product.
struct RowSplit {
  size_t tiles, short_rows, long_tiles, row_begin;
};

// Multiplies the rows by one panel of NV vectors, in tiles of kLeast rows or more.
template <class P, int MR, int NV, int kLeast = 1>
void run_panel(const GemmArgs& g, const Output<P>& output, const RowSplit& s, size_t channel,
               size_t columns, const Fetch& fetch) {
  const int8_t* weights = g.weights + channel / kBlock * (g.taps * g.kc * kBlock);
  if constexpr (NV * P::kLanes < static_cast<int>(kBlock)) weights += channel % kBlock * 4;
  if (s.long_tiles > 0)
    run_column_of<P, NV, MR, kLeast>(s.short_rows + 1, {&g, &output, s.row_begin, s.long_tiles, 0,
                                                        channel, columns, weights, fetch});
  run_column_of<P, NV, MR, kLeast>(
      s.short_rows, {&g, &output, s.row_begin + s.long_tiles * (s.short_rows + 1),
                     s.tiles - s.long_tiles, s.long_tiles, channel, columns, weights, fetch});
}

// Rows row_begin .. row_end against every panel of NV vectors. A tail of one block of channels takes
// narrow tiles. Narrow, if not void, has policies with the Epilogue of P for tiles of kLeastRows to MR
// rows: Half for 1 to 8 channels, BlockAndHalf, of two vectors, for 17 to 24.
template <class P, int MR, int NV, class Narrow>
void run_rows(const GemmArgs& g, size_t row_begin, size_t row_end, const Output<P>& output) {
  constexpr size_t kPanel = static_cast<size_t>(NV) * P::kLanes;
  constexpr int kBlockVectors = static_cast<int>(kBlock) / P::kLanes;
  const size_t block_bytes = g.taps * g.kc * kBlock;
  const size_t rows = row_end - row_begin, tiles = (rows + MR - 1) / MR;
  const RowSplit split = {tiles, rows / tiles, rows % tiles, row_begin};
  const size_t ahead_tiles = g.ahead == nullptr ? 0 : tiles / 2, panel_tiles = tiles - ahead_tiles;
  Fetch fetch = {nullptr, panel_tiles, kPanel * 4 / panel_tiles, nullptr, 0};
  // The bytes that these rows have to prefetch of g.ahead, the same for each panel.
  size_t ahead_bytes = 0;
  if (ahead_tiles > 0) {
    const size_t steps = ahead_tiles * (g.taps * g.kc / 4), panels = (g.n + kPanel - 1) / kPanel;
    ahead_bytes = g.ahead_bytes * rows / g.m / panels;
    fetch.ahead = g.ahead + g.ahead_bytes * row_begin / g.m;
    fetch.ahead_step = ahead_bytes / steps + 1;
  }
  for (size_t j = 0; j < g.n; j += kPanel, fetch.ahead += ahead_bytes) {
    const size_t columns = g.n - j < kPanel ? g.n - j : kPanel;
    fetch.panel = g.weights + (j + kPanel) / kBlock * block_bytes;
    if constexpr (!std::is_void<Narrow>::value) {
      constexpr size_t kHalf = kBlock / 2;
      if (split.short_rows >= Narrow::kLeastRows && (columns - 1) % kBlock < kHalf) {
        if (columns <= kHalf)
          run_panel<typename Narrow::Half, MR, 1, Narrow::kLeastRows>(g, output, split, j, columns,
                                                                      fetch);
        else
          run_panel<typename Narrow::BlockAndHalf, MR, 2, Narrow::kLeastRows>(g, output, split, j,
                                                                              columns, fetch);
        continue;
      }
    }
    if (columns <= kBlock && kPanel > kBlock)
      run_panel<P, MR, kBlockVectors>(g, output, split, j, columns, fetch);
    else
      run_panel<P, MR, NV>(g, output, split, j, columns, fetch);
  }
}

// Returns how many rows to multiply by every panel of weights, a multiple of a tile's rows.
QRT_INLINE size_t rows_of_block(const GemmArgs& g, size_t tile_rows) {
  const size_t tiles = kRowBlockBytes / (g.taps * g.kc) / tile_rows;
  return tile_rows * (tiles < 4 ? 4 : tiles);
}

// Narrow: see run_rows().
template <class P, int MR, int NV, class Narrow = void>
QRT_INLINE void gemm(const GemmArgs& g) {
  const Output<P> output(g);
  if (g.m <= P::kFewRows) return multiply_few_rows<P>(g, output);
  const size_t block = rows_of_block(g, MR);
  for (size_t i = 0; i < g.m; i += block) {
    run_rows<P, MR, NV, Narrow>(g, i, g.m - i < block ? g.m : i + block, output);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_GEMM_LOOPS_H_
