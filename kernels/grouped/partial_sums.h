// SPDX-License-Identifier: Apache-2.0
// Forms of grouped_tile.h on x86 (grouped.h draws the products): V gives the vectors,
//
//   Vector, kCells                        cells of 128 bits
//   load(p), broadcast(p)                 weights; a cell of pixels to all cells
//   zero(), add(a, b)
//   dot(acc, a, w)                        acc += a * w by dwords
//   swap_dwords(v), swap_pairs(v)         dwords 1 0 3 2 and 2 3 0 1 of every cell
//   order<kSums>(v, out)                  whole sums to the order of the channels
//
// kAccumulators of them hold the sums of one output pixel's sub-block, kSums for every vector of whole
// sums, of kHeld pixels of a tile at a time. kSplit: the sub-blocks of a panel read a cell each, side by
// side.
#ifndef QRT_KERNELS_GROUPED_PARTIAL_SUMS_H_
#define QRT_KERNELS_GROUPED_PARTIAL_SUMS_H_

#include "kernels/grouped/grouped_tile.h"

namespace qrt {
namespace {

template <class V, int kSums, int kAccumulators, int kTile, int kHeld, bool kSplit>
struct PartialSums : V {
  static constexpr int kPixels = kTile;
  static constexpr int kVectors = 4 / V::kCells;  // vectors of a panel
  static constexpr int kWhole = kAccumulators / kSums;
  static constexpr int kBlocks = kVectors / kWhole;
  using Vector = typename V::Vector;

  // Adds up the partial sums of a vector's four accumulators: accumulator x has in dword h a part
  // of the output that accumulator x ^ h has in dword 0.
  QRT_INLINE Vector whole(const Vector* part) {
    if constexpr (kSums == 1) {
      return part[0];
    } else {
      const Vector pair = V::add(part[0], V::swap_dwords(part[1]));
      if constexpr (kSums == 2) {
        return pair;
      } else {
        return V::add(pair, V::swap_pairs(V::add(part[2], V::swap_dwords(part[3]))));
      }
    }
  }

  QRT_INLINE void sums(const uint8_t* const (&pixel)[kTile], const uint32_t* steps, size_t n,
                       const int8_t* weights, Vector (&acc)[kTile][kVectors]) {
    const size_t block_bytes = n * kAccumulators * sizeof(Vector);
    QRT_UNROLL
    for (int first = 0; first < kTile; first += kHeld) {
      QRT_UNROLL
      for (int block = 0; block < kBlocks; ++block) {
        const int8_t* w = weights + static_cast<size_t>(block) * block_bytes;
        Vector part[kHeld][kAccumulators];
        QRT_UNROLL
        for (int i = 0; i < kHeld; ++i) {
          QRT_UNROLL
          for (int a = 0; a < kAccumulators; ++a) part[i][a] = V::zero();
        }
        for (size_t step = 0; step < n; ++step) {
          const size_t at = steps[step] + (kSplit ? 16 * static_cast<size_t>(block) : 0);
          // Beside the sums, registers hold the pixels or the weights, whichever are fewer, and one
          // more operand.
          if constexpr (kHeld < kAccumulators) {
            Vector x[kHeld];
            QRT_UNROLL
            for (int i = 0; i < kHeld; ++i) x[i] = V::broadcast(pixel[first + i] + at);
            QRT_UNROLL
            for (int a = 0; a < kAccumulators; ++a, w += sizeof(Vector)) {
              const Vector b = V::load(w);
              QRT_UNROLL
              for (int i = 0; i < kHeld; ++i) V::dot(part[i][a], x[i], b);
            }
          } else {
            Vector b[kAccumulators];
            QRT_UNROLL
            for (int a = 0; a < kAccumulators; ++a, w += sizeof(Vector)) b[a] = V::load(w);
            QRT_UNROLL
            for (int i = 0; i < kHeld; ++i) {
              const Vector x = V::broadcast(pixel[first + i] + at);
              QRT_UNROLL
              for (int a = 0; a < kAccumulators; ++a) V::dot(part[i][a], x, b[a]);
            }
          }
        }
        QRT_UNROLL
        for (int i = 0; i < kHeld; ++i) {
          Vector ready[kWhole];
          QRT_UNROLL
          for (int v = 0; v < kWhole; ++v) ready[v] = whole(part[i] + v * kSums);
          V::template order<kSums>(ready, &acc[first + i][block * kWhole]);
        }
      }
    }
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GROUPED_PARTIAL_SUMS_H_
