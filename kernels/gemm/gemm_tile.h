// SPDX-License-Identifier: Apache-2.0
// The register tile that every vector gemm kernel instantiates. An instruction set is a policy P:
//
//   kLanes                      channels of one accumulator vector (a divisor of 16)
//   kPhases                     passes over a k step, each with its own part of the operands
//   kLhsBytes                   bytes of one k of a left-hand row
//   kNothing                    the left-hand byte whose products are 0; -1 where it is no use to
//                               know that padding is made of it
//   kLhsSteps                   k steps in a left-hand register; beyond 1: multiply_groups()
//                               multiplies whole registers of them
//   kHalfVectors                how many of a tile's vectors, the last ones, have channels in their
//                               lower half alone: dot_half() multiplies those
//   Acc, Lhs, Rhs               registers: accumulators, 4 k of one row, 4 k of kLanes channels
//   load_acc, load_rhs, splat_lhs, dot
//   prefetch_far(p)             fetches the cache line of weights at p into the second-level cache
//   and what store_tile.h and, for kernels with products of few rows, few_rows.h ask for
//
// Register tile, MR rows by NV vectors; each k step of 4 reads NV vectors of weights and MR splats:
//
//              w[v][k..k+3]   v = 0 .. NV-1
//            +---------------------------+
//   a[i][k..]| acc[i][v] += splat . w[v] |   i = 0 .. MR-1
//            +---------------------------+
//
// gemm_loops.h walks the tiles of a product. Everything here is in an anonymous namespace: the object
// files of two sets must not share code.
#ifndef QRT_KERNELS_GEMM_GEMM_TILE_H_
#define QRT_KERNELS_GEMM_GEMM_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/store_tile.h"

namespace qrt {
namespace {

// The bytes that the tiles of a panel prefetch into the second-level cache: the first tiles the next
// panel, an even share of it in every k step, the others the bytes that the caller wants ahead.
struct Fetch {
  const int8_t* panel;
  size_t panel_tiles, panel_step;  // bytes a k step
  const int8_t* ahead;
  size_t ahead_step;
};

// A column of tiles: `tiles` tiles of MR rows from `row` on, all against one panel of weights.
template <class P>
struct Column {
  const GemmArgs* g;
  const Output<P>* output;
  size_t row, tiles;
  size_t first_tile;        // index of the column's first tile among the tiles that share the panel
  size_t channel, columns;  // first channel, channels to store (<= NV * kLanes)
  const int8_t* weights;    // those of `channel`
  Fetch fetch;
};

// Rows row .. row + MR - 1 of a tap. The empty assembly keeps the compiler from computing MR
// addresses ahead of the loop over taps, which costs more than it saves.
template <int MR>
QRT_INLINE void load_rows(const GemmArgs& g, size_t row, size_t tap, const uint8_t* (&a)[MR]) {
  if (g.indirection == nullptr) {
    const uint8_t* p = g.a + row * g.a_stride + tap * g.a_tap_stride;
    QRT_UNROLL
    for (int i = 0; i < MR; ++i, p += g.a_stride) {
      __asm__("" : "+r"(p));
      a[i] = p;
    }
  } else {
    const uint8_t* const* p = g.indirection + row * g.taps + tap;
    QRT_UNROLL
    for (int i = 0; i < MR; ++i, p += g.taps) {
      __asm__("" : "+r"(p));
      a[i] = *p;
    }
    const ptrdiff_t offset = g.a_offset;
    if (offset == 0) return;
    const uint8_t* const zero = g.zero;
    QRT_UNROLL
    for (int i = 0; i < MR; ++i) {
      // Computed before it is chosen, so that the choice is no branch, which would be mispredicted at borders.
      const uint8_t* moved = a[i] + offset;
      __asm__("" : "+r"(moved));
      a[i] = a[i] == zero ? zero : moved;
    }
  }
}

template <int MR>
QRT_INLINE bool are_all(const uint8_t* const (&a)[MR], const uint8_t* zero) {
  for (const uint8_t* row : a)
    if (row != zero) return false;
  return true;
}

template <class P, int MR, int NV>
void run_column(const Column<P>& column) {
  constexpr int kPerBlock = static_cast<int>(kBlock) / P::kLanes;
  const GemmArgs& g = *column.g;
  const size_t taps = g.taps, kc = g.kc, block_bytes = taps * kc * kBlock;
  const size_t c_stride = g.c_stride;
  const typename P::Epilogue* const starts = column.output->in_registers();
  const typename P::Epilogue* const epilogue = epilogue_of_tile<P, MR>(*column.output);
  typename P::Acc bias[NV];
  QRT_UNROLL
  for (int v = 0; v < NV; ++v) {
    bias[v] = P::load_acc(g.bias + column.channel + static_cast<size_t>(v) * P::kLanes);
    if (starts != nullptr) bias[v] = starts->start(bias[v]);
  }
  typename P::template Store<NV> store;
  if (epilogue != nullptr) store.set(*epilogue, column.channel, column.columns);
  const int8_t* const weights = column.weights;
  size_t row = column.row;
  uint8_t* c = static_cast<uint8_t*>(g.c) + row * c_stride;
  // Padding adds nothing: a tile that lies above or below the image at a tap leaves that out.
  const bool skips_padding =
      P::kNothing >= 0 && g.indirection != nullptr && g.zero != nullptr && *g.zero == P::kNothing;
  const Fetch& fetch = column.fetch;
  const size_t k_steps = taps * kc / 4;
  size_t next_step = fetch.panel_step, ahead_tile = fetch.panel_tiles - column.first_tile;
  const int8_t* next = fetch.panel + column.first_tile * k_steps * next_step;
  if (column.first_tile > fetch.panel_tiles) {
    next_step = fetch.ahead_step;
    next = fetch.ahead + (column.first_tile - fetch.panel_tiles) * k_steps * next_step;
  }
  for (size_t tile = 0; tile < column.tiles; ++tile, row += MR, c += MR * c_stride) {
    if (tile == ahead_tile) next = fetch.ahead, next_step = fetch.ahead_step;
    typename P::Acc acc[MR][NV];
    QRT_UNROLL
    for (int i = 0; i < MR; ++i) {
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) acc[i][v] = bias[v];
    }
    const int8_t* w = weights;
    for (size_t tap = 0; tap < taps; ++tap) {
      const uint8_t* a[MR];
      load_rows<MR>(g, row, tap, a);
      if (skips_padding && are_all(a, g.zero)) {
        w += kc * kBlock;
        next += kc / 4 * next_step;
        continue;
      }
      size_t k = 0;
      if constexpr (P::kLhsSteps > 1) {
        const size_t groups = kc / (4 * P::kLhsSteps), group_step = P::kLhsSteps * next_step;
        if (groups > 0) {
          P::multiply_groups(acc, a, w, groups, next, group_step);
          k = groups * 4 * P::kLhsSteps;
          w += k * kBlock;
          next += groups * group_step;
        }
      }
      const auto step = [&](size_t ahead) QRT_INLINE_LAMBDA {
        P::prefetch_far(next);
        next += next_step;
        QRT_UNROLL
        for (int phase = 0; phase < P::kPhases; ++phase) {
          typename P::Rhs b[NV];
          QRT_UNROLL
          for (int v = 0; v < NV; ++v) {
            b[v] =
                P::load_rhs(w + ahead * kBlock + static_cast<size_t>(v / kPerBlock) * block_bytes +
                                static_cast<size_t>(v % kPerBlock) * 4 * P::kLanes,
                            phase);
          }
          QRT_UNROLL
          for (int i = 0; i < MR; ++i) {
            const typename P::Lhs x = P::splat_lhs(a[i] + (k + ahead) * P::kLhsBytes, phase);
            QRT_UNROLL
            for (int v = 0; v < NV; ++v) {
              if constexpr (P::kHalfVectors > 0) {
                if (v >= NV - P::kHalfVectors) {
                  P::dot_half(acc[i][v], x, b[v]);
                  continue;
                }
              }
              P::dot(acc[i][v], x, b[v]);
            }
          }
        }
      };
      // Two steps at a time, so that the loop's own instructions take turns with the multipliers at
      // their ports.
      if constexpr (P::kLhsSteps == 1 && P::kPhases == 1) {
        for (; k + 8 <= kc; k += 8, w += 8 * kBlock) step(0), step(4);
      }
      for (; k < kc; k += 4, w += 4 * kBlock) step(0);
    }
    if (epilogue != nullptr) {
      store.rows(acc, c + column.channel, c_stride);
    } else {
      store_through_memory<P, MR, NV>(g, *column.output, column.channel, column.columns, acc, c);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_GEMM_TILE_H_
