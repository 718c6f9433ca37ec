// SPDX-License-Identifier: Apache-2.0
// Products of few rows: bound by the stream of weights, which is read in the order of memory. A policy P
// (gemm_tile.h) gives:
//
//   kFewRows, kFewSteps         products of so few rows are taken here; their independent dependency
//                               chains (rows times chains along k)
//   kFewBlocks                  blocks of channels that one row takes at a time while its weights come
//                               from a cache
//   zero(), add(a, b)           accumulators
//   prefetch(p, bytes)          fetches weights, kPrefetchBytes ahead, into the first-level cache
//
// Everything here is in an anonymous namespace: the object files of two sets must not share code.
#ifndef QRT_KERNELS_GEMM_FEW_ROWS_H_
#define QRT_KERNELS_GEMM_FEW_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm_tile.h"

namespace qrt {
namespace {

// Weights that few rows fetch ahead. Fewer come from the second-level cache, which is as fast as
// their loads: prefetches would only be more of those.
constexpr size_t kFarWeights = 256 * 1024;

// Multiplies MR rows by NB blocks of channels at a time, from block `j` / 16 on. kFewSteps k steps
// have accumulators of their own, to hide the latency of the dot product. Sums that are not
// requantised in registers wait in memory until there are kFewColumns: the passes over a tile cost
// as much for one block of a row. Returns where the remaining blocks begin.
template <class P, int MR, int NB>
size_t run_few_rows(const GemmArgs& g, const Output<P>& output, size_t j, bool is_far) {
  constexpr int kPerBlock = static_cast<int>(kBlock) / P::kLanes, NV = NB * kPerBlock;
  constexpr int kSteps = P::kFewSteps / (MR * NB) > 1 ? P::kFewSteps / (MR * NB) : 1;
  constexpr size_t kFewColumns = 256, kColumns = NB * kBlock;
  const typename P::Epilogue* const starts = output.in_registers();
  const typename P::Epilogue* const epilogue = epilogue_of_tile<P, MR>(output);
  const size_t block_bytes = g.taps * g.kc * kBlock;
  const int8_t* w = g.weights + j / kBlock * block_bytes;
  uint8_t* const c = static_cast<uint8_t*>(g.c);
  alignas(64) int32_t memory[MR * kFewColumns];
  const size_t all = (g.n + kBlock - 1) / kBlock * kBlock,
               end = j + (all - j) / kColumns * kColumns;
  size_t first = j, width = 0;  // the columns in memory, whole blocks
  for (; j < end; j += kColumns, w += (NB - 1) * block_bytes) {
    if (j == first + width) {
      first = j;
      width = end - j < kFewColumns ? end - j : kFewColumns;
    }
    typename P::Acc acc[MR][NV], part[kSteps][MR][NV];
    QRT_UNROLL
    for (int s = 0; s < kSteps; ++s) {
      QRT_UNROLL
      for (int i = 0; i < MR; ++i) {
        QRT_UNROLL
        for (int v = 0; v < NV; ++v) {
          part[s][i][v] =
              s == 0 ? P::load_acc(g.bias + j + static_cast<size_t>(v) * P::kLanes) : P::zero();
          if (s == 0 && starts != nullptr) part[s][i][v] = starts->start(part[s][i][v]);
        }
      }
    }
    const auto step = [&](int s, const uint8_t* const(&a)[MR], size_t k) QRT_INLINE_LAMBDA {
      QRT_UNROLL
      for (int phase = 0; phase < P::kPhases; ++phase) {
        typename P::Rhs b[NV];
        QRT_UNROLL
        for (int v = 0; v < NV; ++v) {
          b[v] = P::load_rhs(w + static_cast<size_t>(v / kPerBlock) * block_bytes +
                                 static_cast<size_t>(v % kPerBlock) * 4 * P::kLanes,
                             phase);
        }
        QRT_UNROLL
        for (int i = 0; i < MR; ++i) {
          const typename P::Lhs x = P::splat_lhs(a[i] + k * P::kLhsBytes, phase);
          QRT_UNROLL
          for (int v = 0; v < NV; ++v) P::dot(part[s][i][v], x, b[v]);
        }
      }
      w += 4 * kBlock;
    };
    for (size_t tap = 0; tap < g.taps; ++tap) {
      const uint8_t* a[MR];
      load_rows<MR>(g, 0, tap, a);
      size_t k = 0;
      for (; k + 4 * kSteps <= g.kc; k += 4 * kSteps) {
        if (is_far) P::prefetch(w + P::kPrefetchBytes, 4 * kBlock * kSteps);
        QRT_UNROLL
        for (int s = 0; s < kSteps; ++s) step(s, a, k + 4 * static_cast<size_t>(s));
      }
      for (; k < g.kc; k += 4) step(0, a, k);
    }
    QRT_UNROLL
    for (int i = 0; i < MR; ++i) {
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) {
        acc[i][v] = part[0][i][v];
        QRT_UNROLL
        for (int s = 1; s < kSteps; ++s) acc[i][v] = P::add(acc[i][v], part[s][i][v]);
      }
    }
    const size_t columns = g.n - j < kColumns ? g.n - j : kColumns;
    if (epilogue != nullptr) {
      typename P::template Store<NV> store;
      store.set(*epilogue, j, columns);
      store.rows(acc, c + j, g.c_stride);
    } else {
      QRT_UNROLL
      for (int i = 0; i < MR; ++i) {
        QRT_UNROLL
        for (int v = 0; v < NV; ++v)
          P::spill(acc[i][v], memory + static_cast<size_t>(i) * width + (j - first) +
                                  static_cast<size_t>(v) * P::kLanes);
      }
      if (j + kColumns == first + width)
        store_memory<P>(g, output, first, memory, MR, width, j + columns - first, c);
    }
  }
  return end;
}

// Computes a product of at most kFewRows rows, by a function for each number of them.
template <class P, int MR = P::kFewRows>
void multiply_few_rows(const GemmArgs& g, const Output<P>& output) {
  if constexpr (MR > 0) {
    if (g.m == MR) {
      const bool is_far = g.taps * g.kc * g.n >= kFarWeights;
      size_t j = 0;
      if constexpr (MR == 1 && P::kFewBlocks > 1) {
        if (!is_far) j = run_few_rows<P, MR, P::kFewBlocks>(g, output, j, false);
      }
      run_few_rows<P, MR, 1>(g, output, j, is_far);
      return;
    }
    multiply_few_rows<P, MR - 1>(g, output);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_FEW_ROWS_H_
