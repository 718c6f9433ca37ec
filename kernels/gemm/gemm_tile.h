// The skeleton that every vector gemm kernel instantiates: register tile, blocking, choice of the
// tile for row and channel tails. What differs between instruction sets is a policy P:
//
//   kLanes                      channels of one accumulator vector (kBlock is a multiple)
//   Acc, Lhs, Rhs               registers: accumulators, 4 k of one row, 4 k of kLanes channels
//   load_acc, load_rhs, splat_lhs, dot
//   Epilogue                    vector requantisation: handles(), make()
//   store<MR, NV>(...)          accumulators to outputs by an Epilogue
//   spill(acc, int32_t*)        accumulators to memory, for requantisations without a vector form
//
// Register tile, MR rows by NV vectors; each k step of 4 reads NV lines of weights and MR splats:
//
//              w[v][k..k+3]   v = 0 .. NV-1
//            +---------------------------+
//   a[i][k..]| acc[i][v] += splat . line |   i = 0 .. MR-1
//            +---------------------------+
//
// Everything here is in an anonymous namespace: the object files of two sets must not share code.
#ifndef QRT_KERNELS_GEMM_GEMM_TILE_H_
#define QRT_KERNELS_GEMM_GEMM_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/store.h"

#if defined(__clang__)
#define QRT_UNROLL _Pragma("unroll")
#else
#define QRT_UNROLL _Pragma("GCC unroll 32")
#endif

namespace qrt {
namespace {

constexpr size_t kBlock = 16;  // channels of a packed block

// Bytes of left-hand rows that are walked for every panel of weights: they stay in L2 beside the
// panel.
constexpr size_t kRowBlockBytes = 384 * 1024;

// One tile's place.
template <class P>
struct Tile {
  const GemmArgs* g;
  const typename P::Epilogue* epilogue;  // nullptr: through memory
  size_t row, channel;                   // first of each
  size_t columns;                        // channels to store, <= NV * kLanes
  const int8_t* weights;                 // of `channel`
  const int8_t* prefetch;                // weights wanted next
};

template <class P, int MR>
inline __attribute__((always_inline)) void load_rows(const GemmArgs& g, size_t row, size_t tap,
                                                     const uint8_t* (&a)[MR]) {
  if (g.indirection == nullptr) {
    const uint8_t* first = g.a + row * g.a_stride + tap * g.a_tap_stride;
    QRT_UNROLL
    for (int i = 0; i < MR; ++i) a[i] = first + static_cast<size_t>(i) * g.a_stride;
  } else {
    const uint8_t* const* p = g.indirection + row * g.taps + tap;
    QRT_UNROLL
    for (int i = 0; i < MR; ++i) {
      const uint8_t* r = p[static_cast<size_t>(i) * g.taps];
      a[i] = r == g.zero ? r : r + g.a_offset;
    }
  }
}

template <class P, int MR, int NV>
void run_tile(const Tile<P>& t) {
  const GemmArgs& g = *t.g;
  const size_t block_bytes = g.taps * g.kc * kBlock;
  typename P::Acc acc[MR][NV];
  QRT_UNROLL
  for (int v = 0; v < NV; ++v) {
    acc[0][v] = P::load_acc(g.bias + t.channel + static_cast<size_t>(v) * P::kLanes);
    QRT_UNROLL
    for (int i = 1; i < MR; ++i) acc[i][v] = acc[0][v];
  }
  const int8_t* w = t.weights;
  for (size_t tap = 0; tap < g.taps; ++tap) {
    const uint8_t* a[MR];
    load_rows<P, MR>(g, t.row, tap, a);
    for (size_t k = 0; k < g.kc; k += 4, w += 4 * kBlock) {
      typename P::Rhs b[NV];
      QRT_UNROLL
      for (int v = 0; v < NV; ++v) {
        constexpr int kPerBlock = static_cast<int>(kBlock) / P::kLanes;
        b[v] = P::load_rhs(w + static_cast<size_t>(v / kPerBlock) * block_bytes +
                           static_cast<size_t>(v % kPerBlock) * 4 * P::kLanes);
      }
      QRT_UNROLL
      for (int i = 0; i < MR; ++i) {
        const typename P::Lhs x = P::splat_lhs(a[i] + k);
        QRT_UNROLL
        for (int v = 0; v < NV; ++v) P::dot(acc[i][v], x, b[v]);
      }
    }
  }
  uint8_t* c = static_cast<uint8_t*>(g.c) + t.row * g.c_stride;
  if (t.epilogue != nullptr) {
    P::template store<MR, NV>(*t.epilogue, acc, t.channel, t.columns, c + t.channel, g.c_stride);
    return;
  }
  alignas(64) int32_t memory[MR * NV * P::kLanes];
  QRT_UNROLL
  for (int i = 0; i < MR; ++i) {
    QRT_UNROLL
    for (int v = 0; v < NV; ++v) P::spill(acc[i][v], memory + (i * NV + v) * P::kLanes);
  }
  const size_t element = g.requant.kind == RequantKind::kAcc ? sizeof(int32_t) : 1;
  gemm_store_tile(g.requant, t.channel, memory, NV * P::kLanes, MR, t.columns,
                  c + t.channel * element, g.c_stride);
}

// Tiles of 1 .. MR rows, by number of rows.
template <class P, int NV, int... Rows>
struct Tiles {
  static constexpr void (*kRun[])(const Tile<P>&) = {nullptr, run_tile<P, Rows, NV>...};
};

template <class P, int NV, int MR, int... Rows>
struct TilesUpTo : TilesUpTo<P, NV, MR - 1, MR, Rows...> {};
template <class P, int NV, int... Rows>
struct TilesUpTo<P, NV, 0, Rows...> : Tiles<P, NV, Rows...> {};

// MR x NV tiles over the whole product. Rows are spread evenly over the tiles, so that no tile is
// too small to hide the latency of the dot product; a channel tail of few blocks takes a narrower
// tile. Order: blocks of rows; in one, panels of weights (the panel stays in L1 or L2 while all
// tiles of the block of rows use it).
template <class P, int MR, int NV>
void gemm_tiles(const GemmArgs& g, size_t row_begin, size_t row_end,
                const typename P::Epilogue* epilogue) {
  constexpr size_t kPanel = static_cast<size_t>(NV) * P::kLanes;
  constexpr int kBlockVectors = static_cast<int>(kBlock) / P::kLanes;
  const size_t block_bytes = g.taps * g.kc * kBlock;
  const size_t rows = row_end - row_begin, tiles = (rows + MR - 1) / MR;
  const size_t short_rows = rows / tiles, long_tiles = rows % tiles;
  for (size_t j = 0; j < g.n; j += kPanel) {
    const size_t columns = g.n - j < kPanel ? g.n - j : kPanel;
    const bool narrow = columns <= kBlock && kPanel > kBlock;
    const int8_t* panel = g.weights + j / kBlock * block_bytes;
    size_t row = row_begin;
    for (size_t i = 0; i < tiles; ++i) {
      const size_t count = short_rows + (i < long_tiles ? 1 : 0);
      const Tile<P> tile = {&g, epilogue, row, j, columns, panel, nullptr};
      if (narrow) {
        TilesUpTo<P, kBlockVectors, MR>::kRun[count](tile);
      } else {
        TilesUpTo<P, NV, MR>::kRun[count](tile);
      }
      row += count;
    }
  }
}

template <class P, int MR, int NV>
inline void gemm(const GemmArgs& g) {
  typename P::Epilogue vector_epilogue;
  const typename P::Epilogue* epilogue = nullptr;
  if (P::Epilogue::handles(g.requant)) {
    vector_epilogue = P::Epilogue::make(g.requant, g.n);
    epilogue = &vector_epilogue;
  }
  const size_t row_bytes = g.taps * g.kc;
  size_t block = kRowBlockBytes / row_bytes / MR * MR;
  if (block < 4 * MR) block = 4 * MR;
  for (size_t i = 0; i < g.m; i += block) {
    gemm_tiles<P, MR, NV>(g, i, g.m - i < block ? g.m : i + block, epilogue);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_GEMM_TILE_H_
