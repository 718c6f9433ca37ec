// The skeleton that every vector gemm kernel instantiates: register tile, blocking, choice of the
// tile for row and channel tails. What differs between instruction sets is a policy P:
//
//   kLanes                      channels of one accumulator vector (a divisor of 16)
//   kFewRows, kFewSteps         products of so few rows are bound by the stream of weights; their
//                               independent k chains (rows times chains)
//   kPhases                     passes over a k step, each with its own part of the operands
//   kLhsBytes                   bytes of one k of a left-hand row
//   kNothing                    the left-hand byte whose products are 0; -1 where it is no use to
//                               know that padding is made of it
//   kLhsSteps                   k steps in a left-hand register; beyond 1: multiply_groups()
//                               multiplies whole registers of them
//   kHalfVectors                how many of a tile's vectors, the last ones, have channels in their
//                               lower half alone: dot_half() multiplies those
//   Acc, Lhs, Rhs               registers: accumulators, 4 k of one row, 4 k of kLanes channels
//   load_acc, load_rhs, splat_lhs, dot, add, spill
//   Epilogue                    requantisation in accumulator registers: handles(), make(), and
//                               start(bias), where its accumulators start
//   Lanes                       policy of isa/requantize_tile.h, for what Epilogue does not handle
//   Store<NV>                   an Epilogue for NV vectors of channels: rows(acc, c, c_stride)
//   kStoreRows                  tiles of so many rows have a Store in their code, as they come from
//                               many rows; if more than 1, the others share
//                               store_sums(epilogue, channel, sums, rows, width, columns, c, c_stride),
//                               the same from sums in memory
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
#include <type_traits>

#include "kernels/gemm/gemm.h"
#include "kernels/isa/inline.h"
#include "kernels/isa/requantize_tile.h"
#include "kernels/requantize_scalar.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16;  // channels of a packed block

// Left-hand bytes that are walked for every panel of weights: they stay in L2 beside the panel.
constexpr size_t kRowBlockBytes = 384 * 1024;

// How a call's accumulators become outputs.
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
  StageForms forms = {};     // where nothing is requantised in registers
};
template <class P>
using Output = OutputOf<typename P::Epilogue>;

// What the tiles of a panel fetch into the second-level cache: the first ones the next panel, an
// even share of it in every k step, the others what the caller wants ahead.
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
  size_t first_tile;        // of this column among the tiles that share the panel
  size_t channel, columns;  // first channel, channels to store (<= NV * kLanes)
  const int8_t* weights;    // of `channel`
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
      // Ready before it is chosen, so that this is no branch: borders would mispredict.
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

// The first `columns` of `width` accumulators in each row of a tile, channels from `channel` on.
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

// Accumulators to outputs by passes over the tile in memory.
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

// The epilogue in the registers of a tile of MR rows; nullptr: through memory.
template <class P, int MR>
QRT_INLINE const typename P::Epilogue* epilogue_of_tile(const Output<P>& output) {
  return MR >= P::kStoreRows ? output.in_registers() : nullptr;
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
      // Two steps at a time: the loop's own instructions take turns of the multipliers' ports.
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

// Weights that few rows fetch ahead. Fewer come from the second-level cache, which is as fast as
// their loads: prefetches would only be more of those.
constexpr size_t kFarWeights = 256 * 1024;

// Few rows: bound by the stream of weights, which is read in the order of memory, NB blocks of
// channels at a time, from block `j` / 16 on. kFewSteps k steps have accumulators of their own, to
// hide the latency of the dot product. What is not requantised in registers waits in memory for
// kFewColumns others: the passes over a tile cost as much for one block of a row. Returns where the
// blocks that are left start.
template <class P, int MR, int NB>
size_t run_few_rows(const Column<P>& column, size_t j, bool is_far) {
  constexpr int kPerBlock = static_cast<int>(kBlock) / P::kLanes, NV = NB * kPerBlock;
  constexpr int kSteps = P::kFewSteps / (MR * NB) > 1 ? P::kFewSteps / (MR * NB) : 1;
  constexpr size_t kFewColumns = 256, kColumns = NB * kBlock;
  const GemmArgs& g = *column.g;
  const typename P::Epilogue* const starts = column.output->in_registers();
  const typename P::Epilogue* const epilogue = epilogue_of_tile<P, MR>(*column.output);
  const size_t block_bytes = g.taps * g.kc * kBlock;
  const int8_t* w = column.weights + j / kBlock * block_bytes;
  uint8_t* const c = static_cast<uint8_t*>(g.c) + column.row * g.c_stride;
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
      load_rows<MR>(g, column.row, tap, a);
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
        store_memory<P>(g, *column.output, first, memory, MR, width, j + columns - first, c);
    }
  }
  return end;
}

// A function for each number of rows kLeast .. MR.
template <class P, int NV, int MR, int kLeast>
void run_column_of(size_t rows, const Column<P>& column) {
  if constexpr (MR >= kLeast) {
    if (rows == MR) return run_column<P, MR, NV>(column);
    run_column_of<P, NV, MR - 1, kLeast>(rows, column);
  }
}

template <class P, int MR>
void run_few_rows_of(size_t rows, const Column<P>& column) {
  if constexpr (MR > 0) {
    if (rows == MR) {
      const GemmArgs& g = *column.g;
      const bool is_far = g.taps * g.kc * g.n >= kFarWeights;
      size_t j = 0;
      if constexpr (MR == 1 && P::kFewBlocks > 1) {
        if (!is_far) j = run_few_rows<P, MR, P::kFewBlocks>(column, j, false);
      }
      run_few_rows<P, MR, 1>(column, j, is_far);
      return;
    }
    run_few_rows_of<P, MR - 1>(rows, column);
  }
}

// How rows row_begin .. row_end are spread over tiles of at most MR: evenly, so that none is too
// small to hide the latency of the dot product.
struct Spread {
  size_t tiles, short_rows, long_tiles, row_begin;
};

// The rows against one panel of NV vectors, in tiles of kLeast rows or more.
template <class P, int MR, int NV, int kLeast = 1>
void run_panel(const GemmArgs& g, const Output<P>& output, const Spread& s, size_t channel,
               size_t columns, const Fetch& fetch) {
  const int8_t* weights = g.weights + channel / kBlock * (g.taps * g.kc * kBlock);
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
  const Spread spread = {tiles, rows / tiles, rows % tiles, row_begin};
  const size_t ahead_tiles = g.ahead == nullptr ? 0 : tiles / 2, panel_tiles = tiles - ahead_tiles;
  Fetch fetch = {nullptr, panel_tiles, kPanel * 4 / panel_tiles, nullptr, 0};
  // These rows' share of what is wanted ahead, the same for each panel.
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
      if (spread.short_rows >= Narrow::kLeastRows && (columns - 1) % kBlock < kHalf) {
        if (columns <= kHalf)
          run_panel<typename Narrow::Half, MR, 1, Narrow::kLeastRows>(g, output, spread, j, columns,
                                                                      fetch);
        else
          run_panel<typename Narrow::BlockAndHalf, MR, 2, Narrow::kLeastRows>(g, output, spread, j,
                                                                              columns, fetch);
        continue;
      }
    }
    if (columns <= kBlock && kPanel > kBlock)
      run_panel<P, MR, kBlockVectors>(g, output, spread, j, columns, fetch);
    else
      run_panel<P, MR, NV>(g, output, spread, j, columns, fetch);
  }
}

// Rows to walk for every panel of weights, a multiple of a tile's rows.
QRT_INLINE size_t rows_of_block(const GemmArgs& g, size_t tile_rows) {
  const size_t tiles = kRowBlockBytes / (g.taps * g.kc) / tile_rows;
  return tile_rows * (tiles < 4 ? 4 : tiles);
}

// Narrow: see run_rows().
template <class P, int MR, int NV, class Narrow = void>
QRT_INLINE void gemm(const GemmArgs& g) {
  const Output<P> output(g);
  if (g.m <= P::kFewRows) {
    run_few_rows_of<P, P::kFewRows>(g.m, {&g, &output, 0, 1, 0, 0, g.n, g.weights, {}});
    return;
  }
  const size_t block = rows_of_block(g, MR);
  for (size_t i = 0; i < g.m; i += block) {
    run_rows<P, MR, NV, Narrow>(g, i, g.m - i < block ? g.m : i + block, output);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_GEMM_TILE_H_
