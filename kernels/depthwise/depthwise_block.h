// SPDX-License-Identifier: Apache-2.0
// One block of channels of a depthwise convolution, and its weights and constants in scratch memory
// in the order of plan.h: what happens before the first pixel is read. Part of depthwise_tile.h.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_BLOCK_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_BLOCK_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise.h"
#include "kernels/depthwise/plan.h"
#include "kernels/isa/inline.h"
#include "kernels/isa/requantize_tile.h"

// Marks functions whose registers are allotted by themselves: g++ 12 gives up on a function with several such loops.
#define QRT_NOINLINE __attribute__((noinline))

namespace qrt {
namespace {

// f(0), f(1), ...: loops over registers. g++ 12 keeps an array in registers only if every index is
// a constant before its loop passes run, which #pragma GCC unroll is too late for.
#if defined(QRT_NO_UNROLL)
template <int kCount, class F>
inline void unroll(const F& f) {
  for (int i = 0; i < kCount; ++i) f(i);
}
#else
template <int kValue>
struct Index {
  constexpr operator int() const { return kValue; }
};

template <int kCount, int kFirst = 0, class F>
QRT_INLINE void unroll(const F& f) {
  if constexpr (kFirst < kCount) {
    f(Index<kFirst>());
    unroll<kCount, kFirst + 1>(f);
  }
}
#endif

// Epilogues. kPlain: zero point 0 and the full range, which the packs limit to by themselves.
// kFused: the same by a policy's own means (kFuses), or nothing below the zero point. kFixed: the fixed-point requantisations of a
// policy's own (kFixes); kFixedFromZero: with zero point 0 and the full range; kAffine: an affine
// fit of affine/affine.h.
enum class Store { kPlain, kFused, kClamp, kFixed, kFixedFromZero, kAffine, kGeneric };

// One block of channels: where it is and what was prepared for it.
struct Block {
  const DepthwiseArgs& args;
  const DepthwisePlan& plan;
  size_t channels;           // number of channels of the whole output
  size_t c, n;               // this block's first channel and number of channels
  size_t bands, band_bytes;  // bands of a register, and output bytes from one to the next
  Store store;
  StageForms forms;  // kGeneric
};

// Bands of a block: of some policies known to the compiler.
template <class V>
QRT_INLINE size_t bands_of(const Block& b) {
  return V::kStoresWhole ? b.bands : V::kBands;
}

// The weights of a quad in every lane, [lanes][4 channels][4 rows]: a compiler's vector extension,
// the same on every architecture.
template <class V>
struct Quads {
  typedef uint32_t Unsigned __attribute__((vector_size(16 * V::kTile.lanes)));
  typedef int32_t Signed __attribute__((vector_size(16 * V::kTile.lanes)));

  // Loads 64 bytes per lane, 16 of them to each quad.
  QRT_INLINE void load(const uint8_t* const (&p)[V::kTile.lanes], Unsigned (&v)[4]) {
    if constexpr (V::kHolds) {
      typename V::Data quads[4];
      V::load_quads(p, quads);
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA { memcpy(&v[q], &quads[q], sizeof(v[q])); });
    } else {
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        const uint8_t* at[V::kTile.lanes];
        for (size_t l = 0; l < V::kTile.lanes; ++l) at[l] = p[l] + q * 16;
        const typename V::Row row = V::load_lanes(at);
        memcpy(&v[q], &row, sizeof(row));
      });
    }
  }

  // Moves a quad down by `shift` rows, 1..3; `previous` supplies the upper ones.
  QRT_INLINE Unsigned shift_rows(Unsigned quad, Unsigned previous, size_t shift) {
    const uint32_t left = static_cast<uint32_t>(8 * shift);
    return (quad << left) | (previous >> (32 - left));
  }

  // Returns row i of every quad, sign-extended.
  QRT_INLINE Signed row(Unsigned quad, size_t i) {
    return reinterpret_cast<Signed>(quad << static_cast<uint32_t>(24 - 8 * i)) >> 24;
  }

  // Stores rows first..first + group_rows - 1 as a cell.
  QRT_INLINE void store(Unsigned quad, size_t first, uint8_t* cell) {
    if constexpr (V::kTile.group_rows == 4) {
      memcpy(cell, &quad, sizeof(quad));
    } else if constexpr (V::kTile.group_rows == 2) {
      const Unsigned words = (reinterpret_cast<Unsigned>(row(quad, first)) & 0xffff) |
                             reinterpret_cast<Unsigned>(row(quad, first + 1)) << 16;
      memcpy(cell, &words, sizeof(words));
    } else {
      const Signed ints = row(quad, first);
      int32_t v[4 * V::kTile.lanes];
      memcpy(v, &ints, sizeof(v));
      for (size_t i = 0; i < 4 * V::kTile.lanes; ++i) {
        const int16_t w = static_cast<int16_t>(v[i]);
        memcpy(cell + 2 * i, &w, 2);
      }
    }
  }

  // Stores a quad: all of it, or two rows as the upper half of one whose lower half has others.
  QRT_INLINE void store_half(Unsigned quad, bool is_second, uint8_t* cell) {
    Unsigned lower = {};
    if (is_second) {
      memcpy(&lower, cell, sizeof(lower));
      quad <<= 16;
    }
    quad |= lower;
    memcpy(cell, &quad, sizeof(quad));
  }
};

// Packs a row of taps of 16 channels as the weights of a column: the lowest byte of every quad.
template <class V>
QRT_NOINLINE void pack_taps(const uint8_t* row, size_t taps, uint8_t* column) {
  using Quad = typename Quads<V>::Unsigned;
  for (size_t first = 0; first < taps; first += 4) {
    for (size_t at = 0; at < 64; at += sizeof(Quad)) {
      Quad quad = {};
      for (size_t i = 0; i < 4 && first + i < taps; ++i) {
        Quad tap;
        memcpy(&tap, row + (first + i) * 64 + at, sizeof(tap));
        quad |= tap << static_cast<uint32_t>(8 * i);
      }
      memcpy(column + first * 16 + at, &quad, sizeof(quad));
    }
  }
}

// Weights and constants of a block to scratch, in the lane order of the interleaved columns.
template <class V>
QRT_NOINLINE void prepare(const Block& b) {
  constexpr size_t kLanes = V::kTile.lanes, kGroupRows = V::kTile.group_rows;
  constexpr size_t kCell = V::kTile.quad_bytes;
  using Q = Quads<V>;
  const DepthwiseShape& s = b.args.shape;
  const size_t pass_rows = b.plan.pass_rows;
  const size_t shift = b.plan.line.columns > 0 ? 1 : s.stride_h;

  // Lanes past the last 16 channels repeat the first ones: what stands behind these in memory must
  // not decide which epilogue serves.
  const size_t last_lane = kLanes / bands_of<V>(b) - 1;
  const auto lane = [&](size_t l) QRT_INLINE_LAMBDA {
    const size_t own = l & last_lane;
    return own * 16 < b.n ? own : 0;
  };
  const auto copy_constants = [&](const void* array, uint8_t* to) {
    const uint8_t* p[kLanes];
    for (size_t l = 0; l < kLanes; ++l) p[l] = static_cast<const uint8_t*>(array) + lane(l) * 64;
    typename Q::Unsigned v[4];
    Q::load(p, v);
    unroll<4>([&](auto q)
                  QRT_INLINE_LAMBDA { memcpy(to + q * sizeof(v[q]), &v[q], sizeof(v[q])); });
  };
  copy_constants(b.args.bias + b.c, b.args.scratch);
  if constexpr (V::kFixes) {
    if (b.store == Store::kFixed || b.store == Store::kFixedFromZero) {
      float arrays[3][16 * kLanes];
      V::fix(b.args.requant, b.c, b.n, arrays);
      for (size_t i = 0; i < 3; ++i)
        copy_constants(arrays[i], b.args.scratch + (i + 1) * 64 * kLanes);
    }
  }
  if constexpr (V::kHasAffine) {
    if (b.store == Store::kAffine) {
      copy_constants(b.args.requant.slope + b.c, b.args.scratch + 64 * kLanes);
      copy_constants(b.args.requant.intercept + b.c, b.args.scratch + 2 * 64 * kLanes);
    }
  }
  if (b.store == Store::kPlain || b.store == Store::kClamp)
    copy_constants(b.args.requant.scale + b.c, b.args.scratch + 64 * kLanes);

  // A line is one column of taps.
  const DepthwiseRow& line = b.plan.line;
  const bool is_line = line.columns > 0;
  const size_t kernel_w = is_line ? 1 : s.kernel_w, groups = is_line ? line.columns : b.plan.groups;
  const size_t quads = line.is_packed ? (s.kernel_w + 3) / 4 : (s.kernel_h + 3) / 4 * s.kernel_w;
  const size_t ceil_blocks = (b.channels + 15) / 16;
  const uint8_t* weights[kLanes];
  for (size_t l = 0; l < kLanes; ++l)
    weights[l] =
        reinterpret_cast<const uint8_t*>(b.args.weights) + (b.c / 16 + lane(l)) * quads * 64;
  if (is_line && !line.is_packed) {
    uint8_t* packed = b.args.scratch + b.plan.columns_offset;  // holds no columns yet
    for (const uint8_t*& w : weights) {
      pack_taps<V>(w, s.kernel_w, packed);
      w = packed;
      packed += (s.kernel_w + 3) / 4 * 64;
    }
  }
  const auto load = [&](size_t at, typename Q::Unsigned(&v)[4]) QRT_INLINE_LAMBDA {
    const uint8_t* p[kLanes];
    for (size_t l = 0; l < kLanes; ++l) p[l] = weights[l] + at * 64;
    Q::load(p, v);
  };
  const size_t row_cells = b.plan.weight_row_bytes;
  const size_t term_bytes = b.plan.is_paired ? (kernel_w + (kernel_w + 1) / 2) * 4 * kCell
                                             : kernel_w * groups * 4 * kCell;
  uint8_t* cells_begin = b.args.scratch + b.plan.weights_offset;
  for (size_t term = 0; term < s.terms; ++term, cells_begin += term_bytes) {
    uint8_t* cells = cells_begin;
    for (size_t kx = 0; kx < kernel_w; ++kx) {
      for (size_t g = 0; g < groups; ++g) {
        const size_t quad = g * kGroupRows / 4, first = g * kGroupRows % 4;
        typename Q::Unsigned own[4], previous[4] = {};
        load(quad * kernel_w + kx, own);
        if (pass_rows == 2 && quad > 0) load((quad - 1) * kernel_w + kx, previous);
        if constexpr (V::kTile.pairs) {
          if (b.plan.is_paired) {
            uint8_t* const paired = cells_begin + (g == 0 ? kx : kernel_w + kx / 2) * 4 * kCell;
            const bool is_second = g == 1 && kx % 2 == 1;
            unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
              Q::store_half(own[q], is_second, paired + q * kCell);
              if (pass_rows == 2)
                Q::store_half(Q::shift_rows(own[q], previous[q], shift), is_second,
                              paired + q * kCell + row_cells);
            });
            continue;
          }
        }
        for (size_t r = 0; r < pass_rows; ++r) {
          unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
            if (r > 0) own[q] = Q::shift_rows(own[q], previous[q], shift);
            Q::store(own[q], first, cells + r * row_cells + q * kCell);
          });
        }
        cells += 4 * kCell;
      }
    }
    for (const uint8_t*& w : weights) w += ceil_blocks * quads * 64;
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_BLOCK_H_
