// SPDX-License-Identifier: Apache-2.0
// Turns the accumulators of a tile into outputs: in registers, or through memory, by passes over the
// tile. A policy P (gemm_tile.h) gives:
//
//   Epilogue                    requantisation in accumulator registers: handles(), make(), and
//                               start(bias), where its accumulators start
//   Lanes                       policy of isa/requantize_tile.h, for what Epilogue does not handle
//   Store<NV>                   an Epilogue for NV vectors of channels: rows(acc, c, c_stride)
//   kStoreRows                  tiles of so many rows have a Store in their code, as they come from
//                               many rows; if more than 1, the others share
//                               store_sums(epilogue, channel, sums, rows, width, columns, c, c_stride),
//                               the same from sums in memory
//   spill(acc, p)               stores an accumulator vector at p
//
// Everything here is in an anonymous namespace: the object files of two sets must not share code.
#ifndef QRT_KERNELS_GEMM_STORE_TILE_H_
#define QRT_KERNELS_GEMM_STORE_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/isa/inline.h"
#include "kernels/isa/requantize_tile.h"
#include "kernels/requantize_scalar.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16;  // channels of a packed block

// The way in which a call's accumulators become outputs.
template <class Epilogue>
struct OutputOf {
  explicit __attribute__((noinline)) OutputOf(const GemmArgs& g) : epilogue(nullptr) {
    if (Epilogue::handles(g.requant, g.n)) {
      registers = Epilogue::make(g.requant, g.bias, g.n, g.taps * g.kc);
      epilogue = &registers;
    } else {
      forms = forms_of(g.requant, 0, g.n);
    }
  }
  OutputOf(const OutputOf&) = delete;

  // nullptr: through memory.
  const Epilogue* in_registers() const { return kIntegerOnly ? nullptr : epilogue; }

  Epilogue registers;
  const Epilogue* epilogue;  // &registers, or nullptr
  StageForms forms = {};     // used where nothing is requantised in registers
};
template <class P>
using Output = OutputOf<typename P::Epilogue>;

// Requantises and stores the first `columns` of `width` accumulators in each row of a tile,
// channels from `channel` on.
template <class P>
__attribute__((noinline)) void store_memory(const GemmArgs& g, const Output<P>& output,
                                            size_t channel, int32_t* memory, size_t rows,
                                            size_t width, size_t columns, uint8_t* c) {
  if constexpr (P::kStoreRows > 1) {
    if (const auto* epilogue = output.in_registers()) {
      return P::store_sums(*epilogue, channel, memory, rows, width, columns, c + channel,
                           g.c_stride);
    }
  }
  if (g.requant.kind == RequantKind::kAcc) {
    requantize_scalar(g.requant, channel, memory, width, rows, columns,
                      c + channel * sizeof(int32_t), g.c_stride);
  } else if (g.requant.kind == RequantKind::kFloat) {
    float_tile<typename P::Lanes>(g.requant, channel, memory, rows, width, columns,
                                  c + channel * sizeof(float), g.c_stride);
  } else {
    requantize_tile<typename P::Lanes>(g.requant, output.forms, channel, memory, rows, width,
                                       columns, c + channel, g.c_stride);
  }
}

// Stores accumulators as outputs: writes the tile to memory, and requantises it there.
template <class P, int MR, int NV>
QRT_INLINE void store_through_memory(const GemmArgs& g, const Output<P>& output, size_t channel,
                                     size_t columns, const typename P::Acc (&acc)[MR][NV],
                                     uint8_t* c, size_t rows = MR) {
  constexpr size_t kTileColumns = static_cast<size_t>(NV) * P::kLanes;
  constexpr size_t kColumns = (kTileColumns + kBlock - 1) / kBlock * kBlock;
  if (g.requant.kind == RequantKind::kAcc && rows == MR && columns == kTileColumns) {
    QRT_UNROLL
    for (int i = 0; i < MR; ++i, c += g.c_stride) {
      int32_t* const y = reinterpret_cast<int32_t*>(c) + channel;
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) P::spill(acc[i][v], y + v * P::kLanes);
    }
    return;
  }
  alignas(64) int32_t memory[MR * kColumns];
  if (kTileColumns < kColumns) __builtin_memset(memory, 0, sizeof memory);
  QRT_UNROLL
  for (int i = 0; i < MR; ++i) {
    QRT_UNROLL
    for (int v = 0; v < NV; ++v)
      P::spill(acc[i][v], memory + static_cast<size_t>(i) * kColumns + v * P::kLanes);
  }
  store_memory<P>(g, output, channel, memory, rows, kColumns, columns, c);
}

// Returns the epilogue in the registers of a tile of MR rows; nullptr: through memory.
template <class P, int MR>
QRT_INLINE const typename P::Epilogue* epilogue_of_tile(const Output<P>& output) {
  return MR >= P::kStoreRows ? output.in_registers() : nullptr;
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_STORE_TILE_H_
