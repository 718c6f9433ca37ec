// SPDX-License-Identifier: Apache-2.0
// The inner loop of the depthwise family for every kernel, compute_area() from interleaved columns in
// memory, and its epilogues. V: the policy of depthwise_tile.h. Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_LOOPS_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise_columns.h"
#include "kernels/isa/requantize_tile.h"

namespace qrt {
namespace {

// The values that an inner loop reads, copied so that the compiler knows they do not change.
struct Loop {
  const uint8_t* constants;
  const uint8_t* weights;
  size_t weight_row_bytes;
  size_t terms;  // number of passes over the taps, each with the next weights
  // Runs of columns with `taps` columns each, and bytes from one run to the next.
  size_t outer, outer_step;
  size_t taps, tap_step;        // columns of a run, and bytes from one to the next
  size_t more_taps, more_step;  // taps and step in every later row of columns
  size_t pixel_step;            // bytes of columns from one output pixel to the next
  // Channels and bytes per row of the output, whose rows are row_step() apart.
  size_t channels, row_bytes;
};

// Returns p, hiding from the compiler that it is the same in each iteration of a loop: g++ 12 would
// move the addresses of all weights out of the loop, one register each, and spill them.
template <class T>
QRT_INLINE T opaque(T p) {
  asm volatile("" : "+r"(p));
  return p;
}

// Computes one output pixel of the first `bands` bands, which are band_bytes apart.
template <class V, Store kStore>
QRT_INLINE void store_output(const Block& b, const Loop& loop, const typename V::Finish& finish,
                             const typename V::Acc (&acc)[4], uint8_t* out, size_t band_bytes,
                             size_t bands) {
  constexpr size_t kInts = 16 * V::kTile.lanes;
  if constexpr (V::kHolds && kStore != Store::kGeneric) {
    const typename V::template Constants<kStore> constants(loop.constants);
    finish.template store<kStore>(acc, constants, out, band_bytes, bands);
  } else if constexpr (kStore == Store::kFused) {
    finish.store_fused(acc, typename V::Fused(loop.constants), out, band_bytes, bands);
  } else if constexpr (kStore == Store::kFixed || kStore == Store::kFixedFromZero) {
    finish.template store_fixed<kStore == Store::kFixedFromZero>(acc, loop.constants, out,
                                                                 band_bytes, bands);
  } else if constexpr (kStore == Store::kGeneric) {
    int32_t result[kInts];
    V::store_acc(acc, result);
    requantize_tile<typename V::Lanes>(b.args.requant, b.forms, b.c, result,
                                       bands < b.bands ? bands : b.bands, b.band_bytes, b.n, out,
                                       band_bytes);
  } else {
    finish.template store<kStore == Store::kClamp>(acc, loop.constants + 4 * kInts, out, band_bytes,
                                                   bands);
  }
}

// Returns whether the epilogue stores whole registers, also where only a part of a block exists:
// then copy_partial() copies that part, so that no epilogue has to know of it.
template <class V, Store kStore>
constexpr bool stores_whole() {
  return V::kStoresWhole && kStore != Store::kGeneric;
}

template <class V>
QRT_NOINLINE void copy_partial(const uint8_t* part, const Block& b, size_t row_bytes, size_t rows,
                               uint8_t* out) {
  for (size_t i = 0; i < rows; ++i, out += row_bytes)
    V::store_partial(out, V::load(part + i * b.band_bytes), b.n);
}

// Computes kRows x kPixels output pixels of every band from their interleaved columns. kTaps: the
// number of taps, 0 if only the loop knows it.
template <class V, int kRows, int kPixels, int kTaps, Store kStore>
QRT_INLINE void compute(const Block& b, const Loop& loop, const typename V::Finish& finish,
                        const uint8_t* columns, uint8_t* out, size_t rows_left) {
  constexpr size_t kCell = V::kTile.quad_bytes, kVector = V::kTile.lanes * 16;
  typename V::Acc acc[kRows][kPixels][4];
  unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA {
        acc[r][x][q] = V::load_acc(loop.constants + q * kVector);
      });
    });
  });
  const uint8_t* weights[kRows];
  unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
    weights[r] = opaque(loop.weights + r * loop.weight_row_bytes);
  });
  if constexpr (V::kOwnTaps) {
    for (size_t term = 0; term < loop.terms; ++term) {
      for (size_t o = 0; o < loop.outer; ++o) {
        V::multiply_taps(acc, columns + o * loop.outer_step, loop.pixel_step, weights, loop.taps);
        for (const uint8_t*& w : weights) w += loop.taps * 4 * kCell;
      }
    }
  } else {
    const auto tap = [&](const uint8_t* data, size_t offset) QRT_INLINE_LAMBDA {
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        typename V::Data d[kPixels];
        unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA {
          d[x] = V::load_data(data + x * loop.pixel_step + q * kCell);
        });
        unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
          const auto w = V::load_weights(weights[r] + offset + q * kCell);
          unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA { V::dot(acc[r][x][q], d[x], w); });
        });
      });
    };
    if constexpr (kTaps > 0) {
      unroll<kTaps>([&](auto t) QRT_INLINE_LAMBDA { tap(columns + t * 4 * kCell, t * 4 * kCell); });
    } else {
      for (size_t term = 0; term < loop.terms; ++term) {
        size_t taps = loop.taps, step = V::kTile.pairs ? loop.tap_step : 4 * kCell;
        for (size_t o = 0; o < loop.outer; ++o) {
          const uint8_t* data = columns + o * loop.outer_step;
          for (size_t t = 0; t < taps; ++t) {
            tap(data, 0);
            data += step;
            for (const uint8_t*& w : weights) w += 4 * kCell;
          }
          if (V::kTile.pairs) taps = loop.more_taps, step = loop.more_step;
        }
      }
    }
  }
  if constexpr (stores_whole<V, kStore>()) {
    static_assert(kPixels == 1);
    constexpr size_t kBytes = 16 * V::kTile.lanes;
    uint8_t part[(kRows + 1) * kBytes];  // copy_partial() reads registers
    const size_t part_bytes = b.band_bytes;
    const bool is_whole = b.n == part_bytes && rows_left >= kRows * b.bands;
    uint8_t* const to = is_whole ? out : part;
    const size_t row_bytes = is_whole ? loop.row_bytes : part_bytes;
    const size_t half = b.bands == 1 ? kBytes / 2 : kRows * row_bytes;
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      store_output<V, kStore>(b, loop, finish, acc[r][0], to + r * row_bytes, half, b.bands);
    });
    if (!is_whole) {
      const size_t most = kRows * b.bands, rows = rows_left < most ? rows_left : most;
      copy_partial<V>(part, b, loop.row_bytes, rows, out);
    }
  } else {
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA {
        store_output<V, kStore>(b, loop, finish, acc[r][x],
                                out + r * loop.row_bytes + x * loop.channels,
                                kRows * loop.row_bytes, (rows_left + kRows - 1 - r) / kRows);
      });
    });
  }
}

// Computes kRows x kHalfPixels output pixels of every band, two of the four quads at a time:
// registers then hold the accumulators of several pixels, and a product takes less than one load.
// The requantised words of the first two quads wait for the others in registers, or, with
// V::kFewRegisters, in memory. band_bytes: output bytes from band to band.
template <class V, int kRows, int kTaps, Store kStore>
QRT_INLINE void compute_halves(const Block& b, const Loop& loop, const typename V::Finish& finish,
                               const uint8_t* columns, uint8_t* out, size_t band_bytes,
                               size_t rows_left) {
  constexpr size_t kCell = V::kTile.quad_bytes, kVector = V::kTile.lanes * 16;
  constexpr int kPixels = V::kHalfPixels;
  typename V::Data memory[kRows * kPixels];
  typename V::Data* const words = V::kFewRegisters ? opaque(memory) : memory;
  unroll<2>([&](auto half) QRT_INLINE_LAMBDA {
    typename V::Acc acc[kRows][kPixels][2];
    unroll<2>([&](auto q) QRT_INLINE_LAMBDA {
      const auto start = V::load_acc(loop.constants + (half * 2 + q) * kVector);
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
        unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA { acc[r][x][q] = start; });
      });
    });
    const uint8_t* weights = loop.weights + half * 2 * kCell;
    const auto tap = [&](const uint8_t* data, size_t offset) QRT_INLINE_LAMBDA {
      unroll<2>([&](auto q) QRT_INLINE_LAMBDA {
        typename V::Data w[kRows];
        unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
          w[r] = V::load_data(weights + offset + r * loop.weight_row_bytes + q * kCell);
        });
        unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA {
          const auto d = V::load_data(data + x * loop.pixel_step + q * kCell);
          unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { V::dot(acc[r][x][q], d, w[r]); });
        });
      });
    };
    const uint8_t* const first = columns + half * 2 * kCell;
    if constexpr (kTaps > 0) {
      unroll<kTaps>([&](auto t) QRT_INLINE_LAMBDA { tap(first + t * 4 * kCell, t * 4 * kCell); });
    } else {
      for (size_t term = 0; term < loop.terms; ++term) {
        size_t taps = loop.taps, step = loop.tap_step;
        for (size_t o = 0; o < loop.outer; ++o) {
          const uint8_t* data = first + o * loop.outer_step;
          for (size_t t = 0; t < taps; ++t) {
            tap(data, 0);
            data += step;
            weights += 4 * kCell;
          }
          taps = loop.more_taps, step = loop.more_step;
        }
      }
    }
    const typename V::template Constants<kStore> constants(loop.constants);
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA {
        const auto own = finish.template words<kStore>(acc[r][x], constants, half * 2);
        if (half == 0) {
          words[r * kPixels + x] = own;
        } else {
          finish.template store<kStore>(words[r * kPixels + x], own,
                                        out + r * loop.row_bytes + x * loop.channels, band_bytes,
                                        (rows_left + kRows - 1 - r) / kRows);
        }
      });
    });
  });
}

template <class V, int kRows, int kTaps, Store kStore>
QRT_NOINLINE void compute_area(const Block& b, const Loop& shared, const Area& area) {
  const Loop loop = shared;
  // Fixed point has constants of its own: where registers are few the others stay in memory.
  constexpr bool kFinishInMemory = V::kFewRegisters && kStore == Store::kFixed;
  const typename V::Finish own(b.args.requant, b.n);
  const typename V::Finish& finish = kFinishInMemory ? *opaque(&own) : own;
  const uint8_t* columns = b.args.scratch + b.plan.columns_offset;
  uint8_t* out = b.args.output + (area.y * b.args.shape.out_w + area.x) * b.channels + b.c;
  const size_t rows_left = area.left;
  size_t i = 0;
  if constexpr (V::kHalfPixels > 0 && kStore != Store::kGeneric) {
    constexpr size_t kPixels = V::kHalfPixels, kBytes = 16 * V::kTile.lanes;
    const bool is_whole = b.n == b.band_bytes && rows_left >= kRows * b.bands;
    const size_t outputs = V::kStoresWhole && !is_whole ? 0 : area.outputs;
    const size_t band_bytes = V::kStoresWhole && b.bands == 1 ? kBytes / 2 : kRows * loop.row_bytes;
    // The last ones may overlap those before.
    for (; outputs >= kPixels && i + kPixels / 2 < outputs; i += kPixels) {
      const size_t x = i + kPixels <= outputs ? i : outputs - kPixels;
      compute_halves<V, kRows, kTaps, kStore>(b, loop, finish, columns + x * loop.pixel_step,
                                              out + x * loop.channels, band_bytes, rows_left);
    }
    columns += i * loop.pixel_step;
    out += i * loop.channels;
  }
  for (; i + V::kOutputs <= area.outputs; i += V::kOutputs) {
    compute<V, kRows, V::kOutputs, kTaps, kStore>(b, loop, finish, columns, out, rows_left);
    columns += V::kOutputs * loop.pixel_step;
    out += V::kOutputs * loop.channels;
  }
  if constexpr (V::kOutputs > 1) {
    for (; i < area.outputs; ++i) {
      compute<V, kRows, 1, kTaps, kStore>(b, loop, finish, columns, out, rows_left);
      columns += loop.pixel_step;
      out += loop.channels;
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_LOOPS_H_
