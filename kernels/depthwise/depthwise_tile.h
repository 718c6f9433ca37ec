// The skeleton of every vector kernel of the depthwise family; plan.h draws its data. A kernel file
// gives a policy V, which is all that depends on the instruction set:
//
//   kTile                                  its DepthwiseTile
//   kBands                                 output rows side by side in one register, see below
//   kOutputs                               output pixels of a row computed together
//   Row, load_row(p[kBands])               16 * lanes bytes of image rows, a band from each address
//   load_lanes(p[lanes])                   a Row from 16 bytes at each address
//   Data, load_data(p), store_data(p, v)   one cell
//   interleave(rows, Data[4])              group_rows rows to the cells of a column
//   Acc, load_acc(p)                       int32 of the 4 channels per lane of a cell
//   load_weights(p)                        one cell, or where it is if `dot` takes it from memory
//   dot(acc, data, weights)                acc += data * weights
//   kOwnTaps                               whether there is, instead of these three,
//     multiply_taps(acc[rows][pixels][4], data, pixel_step, weights[rows], taps)    its own loop
//     slide<rows, store, inside>(b, loop, area, image)       (kSlides) and its own slide()
//   kSlides                                whether registers hold three columns and the
//                                          accumulators of two rows; if so, there is
//   dot(acc, data, p)                      also with the weights in memory
//   is_bounded(constants, reach)           (|bias| + reach) * scale < 2^31 for the whole block
//   kFuses                                 whether there are, for Store::kFused,
//     fuse(constants, taps)                its constants from bias and scale; false: not for these
//     Fused(constants)                     what store_fused<kAffine>() takes then
//   kHasAffine                                 whether store_fused<true>() is for Store::kAffine
//   kFixes                                 whether there are, for Store::kFixed and kFixedFromZero,
//     can_fix(requant, c, n)               whether they serve n channels from c on
//     fix(requant, c, n, float[3][])       their constants, in channel order
//   Finish(requant, n)                     constants of the epilogue for n channels, with
//     store<kClamp>(acc[4], scale, out, band_bytes, bands)    requantise; store n bytes per band
//     store_fixed<kFromZero>(acc[4], constants, out, band_bytes, bands)
//   store_acc(acc[4], int32 out)           accumulators in channel order
//   Lanes                                  policy of isa/requantize_tile.h, for the other epilogues
//
// Bands: where few channels are left, the lanes of a register hold the same channels of several
// output rows, so that 16 channels keep a 64-byte register busy.
//
// Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise_block.h"
#include "kernels/isa/requantize_tile.h"

namespace qrt {
namespace {

// Which channels of a pixel a block reads: its own, or each input channel `multiplier` times.
template <class V>
class Pixels {
 public:
  explicit Pixels(const Block& b) : first_(b.c), repeats_(b.args.shape.multiplier != 1) {
    if (!repeats_) return;
    const size_t multiplier = b.args.shape.multiplier;
    first_ = b.c / multiplier;
    // Channels that do not exist repeat the last that does.
    for (size_t i = 0; i < kBytes; ++i)
      source_[i] = static_cast<uint8_t>((b.c + (i < b.n ? i : b.n - 1)) / multiplier - first_);
  }
  size_t first() const { return first_; }
  bool repeats() const { return repeats_; }

  QRT_NOINLINE typename V::Row repeat(const uint8_t* const* p) const {
    uint8_t repeated[V::kBands][kBytes];
    const uint8_t* rows[V::kBands];
    for (int k = 0; k < V::kBands; ++k) {
      if (source_[kBytes - 1] == 0)
        memset(repeated[k], p[k][0], kBytes);
      else
        for (size_t i = 0; i < kBytes; ++i) repeated[k][i] = p[k][source_[i]];
      rows[k] = repeated[k];
    }
    return V::load_row(rows);
  }

 private:
  static constexpr size_t kBytes = 16 * V::kTile.lanes / V::kBands;
  size_t first_;
  bool repeats_;
  uint8_t source_[kBytes];
};

// One image row of a group: where its pixels are, one address per band, and the bytes from one to
// the next (0 for a row of padding).
template <class V>
struct SourceRow {
  const uint8_t* p[V::kBands];
  size_t step[V::kBands];
};

// `count` columns of one group, from image column `ix` on; columns outside the image are padding.
template <class V, bool kRepeats>
QRT_NOINLINE void interleave_columns(const Block& b, const Pixels<V>& pixels,
                                     const SourceRow<V> (&source)[V::kTile.group_rows],
                                     ptrdiff_t ix, size_t count, uint8_t* cells) {
  constexpr int kRows = V::kTile.group_rows;
  const ptrdiff_t width = static_cast<ptrdiff_t>(b.args.shape.in_w);
  const size_t column_bytes = b.plan.column_bytes;
  const uint8_t* zero[V::kBands];
  for (const uint8_t*& z : zero) z = b.args.zero + pixels.first();
  const auto store = [](const typename V::Row(&row)[kRows], uint8_t* to) QRT_INLINE_LAMBDA {
    typename V::Data column[4];
    V::interleave(row, column);
    unroll<4>([&](auto q)
                  QRT_INLINE_LAMBDA { V::store_data(to + q * V::kTile.quad_bytes, column[q]); });
  };
  const auto load = [&](const uint8_t* const* p) QRT_INLINE_LAMBDA {
    if constexpr (kRepeats)
      return pixels.repeat(p);
    else
      return V::load_row(p);
  };
  size_t i = 0;
  const auto border = [&](ptrdiff_t until) {
    for (; i < count && ix + static_cast<ptrdiff_t>(i) < until; ++i) {
      typename V::Row row[kRows];
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { row[r] = load(zero); });
      store(row, cells + i * column_bytes);
    }
  };
  border(0);
  if (i < count && ix + static_cast<ptrdiff_t>(i) < width) {
    const size_t start = static_cast<size_t>(ix + static_cast<ptrdiff_t>(i));
    const size_t inside = static_cast<size_t>(width) - start;
    const size_t end = count - i < inside ? count : i + inside;
    SourceRow<V> next[kRows];
    for (int r = 0; r < kRows; ++r) {
      next[r] = source[r];
      for (int k = 0; k < V::kBands; ++k) next[r].p[k] += start * next[r].step[k];
    }
    for (; i < end; ++i) {
      typename V::Row row[kRows];
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
        row[r] = load(next[r].p);
        unroll<V::kBands>([&](auto k) QRT_INLINE_LAMBDA { next[r].p[k] += next[r].step[k]; });
      });
      store(row, cells + i * column_bytes);
    }
  }
  border(PTRDIFF_MAX);
}

// Output rows y + band * rows + 0..rows - 1 (rows: 1 or 2 in every band) of pixels x.., of which
// those before `end` are wanted.
struct Area {
  size_t y, end, rows, x, outputs;
};

// The image rows of group g of an area. Where no output needs one, because its weights are zero or
// its band is not stored, any other serves: the last row of the kernel, the first band.
template <class V>
QRT_INLINE void find_rows(const Block& b, const Pixels<V>& pixels, const Area& area, size_t g,
                          SourceRow<V> (&source)[V::kTile.group_rows]) {
  constexpr size_t kRows = V::kTile.group_rows;
  const DepthwiseShape& s = b.args.shape;
  const size_t last = s.kernel_h + (area.rows - 1) * s.stride_h - 1;
  for (size_t r = 0; r < kRows; ++r) {
    const size_t ky = g * kRows + r < last ? g * kRows + r : last;
    for (size_t k = 0; k < V::kBands; ++k) {
      const size_t band_y = area.y + k * area.rows, y = band_y < area.end ? band_y : area.y;
      const size_t iy = y * s.stride_h + ky * s.dilation_h - s.pad_top;  // huge above the image
      const bool inside = iy < s.in_h;
      source[r].p[k] =
          (inside ? b.args.input + iy * s.in_w * s.in_c : b.args.zero) + pixels.first();
      source[r].step[k] = inside ? s.in_c : 0;
    }
  }
}

// The columns that the output pixels of an area need.
template <class V>
void interleave_area(const Block& b, const Pixels<V>& pixels, const Area& area) {
  const DepthwiseShape& s = b.args.shape;
  const ptrdiff_t ix =
      static_cast<ptrdiff_t>(area.x * s.stride_w) - static_cast<ptrdiff_t>(s.pad_left);
  const size_t count = (area.outputs - 1) * s.stride_w + b.plan.span;
  for (size_t g = 0; g < b.plan.groups; ++g) {
    SourceRow<V> source[V::kTile.group_rows];
    find_rows(b, pixels, area, g, source);
    uint8_t* cells = b.args.scratch + b.plan.columns_offset + g * 4 * V::kTile.quad_bytes;
    if (pixels.repeats())
      interleave_columns<V, true>(b, pixels, source, ix, count, cells);
    else
      interleave_columns<V, false>(b, pixels, source, ix, count, cells);
  }
}

// What the inner loop needs, copied so that the compiler knows it does not change.
struct Loop {
  const uint8_t* constants;
  const uint8_t* weights;
  size_t weight_row_bytes;
  size_t outer, outer_step;    // kernel columns, if their distance is not that of the taps
  size_t taps;                 // in a row of columns that is contiguous
  size_t pixel_step;           // bytes of columns from one output pixel to the next
  size_t channels, row_bytes;  // of the output
};

// p, which the compiler then does not know to be the same in each iteration of a loop: g++ 12 moves
// the addresses of all weights out of it, one register each, and spills them.
template <class T>
QRT_INLINE T opaque(T p) {
  asm volatile("" : "+r"(p));
  return p;
}

// One output pixel of the first `bands` bands, which are band_bytes apart.
template <class V, Store kStore>
QRT_INLINE void store_output(const Block& b, const Loop& loop, const typename V::Finish& finish,
                             const typename V::Acc (&acc)[4], uint8_t* out, size_t band_bytes,
                             size_t bands) {
  constexpr size_t kInts = 16 * V::kTile.lanes;
  if constexpr (kStore == Store::kFused || kStore == Store::kAffine) {
    finish.template store_fused<kStore == Store::kAffine>(acc, typename V::Fused(loop.constants),
                                                          out, band_bytes, bands);
  } else if constexpr (kStore == Store::kFixed || kStore == Store::kFixedFromZero) {
    finish.template store_fixed<kStore == Store::kFixedFromZero>(acc, loop.constants, out,
                                                                 band_bytes, bands);
  } else if constexpr (kStore == Store::kGeneric) {
    int32_t result[kInts];
    V::store_acc(acc, result);
    requantize_tile<typename V::Lanes>(b.args.requant, b.forms, b.c, result,
                                       bands < V::kBands ? bands : V::kBands, kInts / V::kBands,
                                       b.n, out, band_bytes);
  } else {
    finish.template store<kStore == Store::kClamp>(acc, loop.constants + 4 * kInts, out, band_bytes,
                                                   bands);
  }
}

// kRows x kPixels output pixels of every band from their interleaved columns. kTaps: the number of
// taps, 0 if only the loop knows it.
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
    for (size_t o = 0; o < loop.outer; ++o) {
      V::multiply_taps(acc, columns + o * loop.outer_step, loop.pixel_step, weights, loop.taps);
      for (const uint8_t*& w : weights) w += loop.taps * 4 * kCell;
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
      for (size_t o = 0; o < loop.outer; ++o) {
        const uint8_t* data = columns + o * loop.outer_step;
        for (size_t t = 0; t < loop.taps; ++t) {
          tap(data, 0);
          data += 4 * kCell;
          for (const uint8_t*& w : weights) w += 4 * kCell;
        }
      }
    }
  }
  unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
    unroll<kPixels>([&](auto x) QRT_INLINE_LAMBDA {
      store_output<V, kStore>(b, loop, finish, acc[r][x],
                              out + r * loop.row_bytes + x * loop.channels, kRows * loop.row_bytes,
                              (rows_left + kRows - 1 - r) / kRows);
    });
  });
}

template <class V, int kRows, int kTaps, Store kStore>
QRT_NOINLINE void compute_area(const Block& b, const Loop& shared, const Area& area) {
  const Loop loop = shared;
  const typename V::Finish finish(b.args.requant, b.n);
  const uint8_t* columns = b.args.scratch + b.plan.columns_offset;
  uint8_t* out = b.args.output + (area.y * b.args.shape.out_w + area.x) * b.channels + b.c;
  const size_t rows_left = area.end - area.y;
  size_t i = 0;
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

// The constants of slide(): from memory for every output, but of Store::kFused and kAffine in
// registers.
template <class V, Store kStore,
          bool kInRegisters = kStore == Store::kFused || kStore == Store::kAffine>
struct Held {
  explicit Held(const Loop& l) : loop(l) {}
  __attribute__((always_inline)) typename V::Acc start(int q) const {
    return V::load_acc(loop.constants + static_cast<size_t>(q) * V::kTile.lanes * 16);
  }
  __attribute__((always_inline)) void store(const Block& b, const typename V::Finish& finish,
                                            const typename V::Acc (&acc)[4], uint8_t* out,
                                            size_t band_bytes, size_t bands) const {
    store_output<V, kStore>(b, loop, finish, acc, out, band_bytes, bands);
  }
  const Loop& loop;
};

template <class V, Store kStore>
struct Held<V, kStore, true> {
  explicit __attribute__((always_inline)) Held(const Loop& loop) : fused(loop.constants) {
    unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
      bias[q] = V::load_acc(loop.constants + static_cast<size_t>(q) * V::kTile.lanes * 16);
    });
  }
  __attribute__((always_inline)) typename V::Acc start(int q) const { return bias[q]; }
  __attribute__((always_inline)) void store(const Block&, const typename V::Finish& finish,
                                            const typename V::Acc (&acc)[4], uint8_t* out,
                                            size_t band_bytes, size_t bands) const {
    finish.template store_fused<kStore == Store::kAffine>(acc, fused, out, band_bytes, bands);
  }
  typename V::Acc bias[4];
  typename V::Fused fused;
};

// Whole rows of a kernel of up to 4 rows of 3 taps, multiplier 1: each column is interleaved in
// registers and leaves them after the third output that it touches. kInside: no row of `image` is
// padding, so that one offset moves all addresses; with one each, g++ 12 keeps them in memory.
template <class V, int kRows, Store kStore, bool kInside>
QRT_NOINLINE void slide(const Block& b, const Loop& loop, const Area& area,
                        const SourceRow<V> (&image)[V::kTile.group_rows]) {
  constexpr size_t kCell = V::kTile.quad_bytes;
  constexpr int kGroupRows = V::kTile.group_rows;
  const DepthwiseShape& s = b.args.shape;
  const typename V::Finish finish(b.args.requant, b.n);
  const size_t rows_left = area.end - area.y;
  uint8_t* out = b.args.output + area.y * loop.row_bytes + b.c;
  SourceRow<V> next[kGroupRows];
  for (SourceRow<V>& row : next) {
    for (int k = 0; k < V::kBands; ++k) {
      row.p[k] = b.args.zero + b.c;
      row.step[k] = 0;
    }
  }
  size_t offset = 0, step = 0;
  // At column `turn` of the image the source changes: to the image at 0, to padding at its width.
  const ptrdiff_t width = static_cast<ptrdiff_t>(s.in_w);
  ptrdiff_t ix = -static_cast<ptrdiff_t>(s.pad_left), turn = 0;
  const Held<V, kStore> held(loop);
  typename V::Data column[3][4] = {};
  size_t missing = 3;  // columns before the next output
  for (size_t left = s.out_w; left > 0; ++ix) {
    if (__builtin_expect(ix == turn, 0)) {
      unroll<kGroupRows>([&](auto r) QRT_INLINE_LAMBDA {
        unroll<V::kBands>([&](auto k) QRT_INLINE_LAMBDA {
          // One by one: in vectors they would look like accumulators on the stack to the
          // disassembly test.
          next[r].p[k] = opaque(turn == 0 ? image[r].p[k] : b.args.zero + b.c);
          next[r].step[k] = turn == 0 ? image[r].step[k] : 0;
        });
      });
      offset = 0;
      step = turn == 0 ? s.in_c : 0;
      turn = width;
    }
    // Of more than there are registers, each from memory where it is needed: g++ 12 would copy them
    // within the stack.
    const SourceRow<V>* from = next;
    if (V::kBands > 1) from = opaque(from);
    typename V::Row row[kGroupRows];
    unroll<kGroupRows>([&](auto r) QRT_INLINE_LAMBDA {
      const uint8_t* p[V::kBands];
      unroll<V::kBands>([&](auto k) QRT_INLINE_LAMBDA {
        p[k] = from[r].p[k] + offset;
        if (!kInside) next[r].p[k] += next[r].step[k];
      });
      row[r] = V::load_row(p);
    });
    if (kInside) offset += step;
    unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
      column[0][q] = column[1][q];
      column[1][q] = column[2][q];
    });
    V::interleave(row, column[2]);
    if (--missing > 0) continue;
    missing = s.stride_w;
    --left;
    typename V::Acc acc[kRows][4];
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
      const uint8_t* weights = opaque(loop.weights + r * loop.weight_row_bytes);
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        acc[r][q] = held.start(q);
        unroll<3>([&](auto kx) QRT_INLINE_LAMBDA {
          V::dot(acc[r][q], column[kx][q], weights + (kx * 4 + q) * kCell);
        });
      });
      held.store(b, finish, acc[r], out + r * loop.row_bytes, kRows * loop.row_bytes,
                 (rows_left + kRows - 1 - r) / kRows);
    });
    out += loop.channels;
  }
}

template <class V, int kRows, Store kStore>
void compute_pass(const Block& b, const Loop& loop, const Pixels<V>& pixels, Area area) {
  constexpr size_t kGroupRows = V::kTile.group_rows;
  constexpr int kTaps3x3 = 3 * ((3 + kGroupRows - 1) / kGroupRows);
  const DepthwiseShape& s = b.args.shape;
  if constexpr (V::kSlides && kStore != Store::kGeneric) {
    if (s.kernel_w == 3 && b.plan.groups == 1 && s.dilation_w == 1 && s.multiplier == 1) {
      SourceRow<V> image[kGroupRows];
      find_rows(b, pixels, area, 0, image);
      bool inside = true;
      for (const SourceRow<V>& row : image)
        for (size_t step : row.step) inside &= step != 0;
      if constexpr (V::kOwnTaps) {
        return inside ? V::template slide<kRows, kStore, true>(b, loop, area, image)
                      : V::template slide<kRows, kStore, false>(b, loop, area, image);
      } else {
        return inside ? slide<V, kRows, kStore, true>(b, loop, area, image)
                      : slide<V, kRows, kStore, false>(b, loop, area, image);
      }
    }
  }
  for (; area.x < s.out_w; area.x += b.plan.tile_outputs) {
    const size_t left = s.out_w - area.x;
    area.outputs = left < b.plan.tile_outputs ? left : b.plan.tile_outputs;
    interleave_area(b, pixels, area);
    if (!V::kSlides && !V::kOwnTaps && kStore != Store::kGeneric && loop.outer == 1 &&
        loop.taps == kTaps3x3)
      compute_area<V, kRows, kTaps3x3, kStore>(b, loop, area);
    else
      compute_area<V, kRows, 0, kStore>(b, loop, area);
  }
}

template <class V, Store kStore>
void compute_rows(const Block& b, size_t y, size_t end) {
  const Pixels<V> pixels(b);
  const DepthwiseShape& s = b.args.shape;
  const DepthwisePlan& p = b.plan;
  // Undilated columns are contiguous, as are their weights: one loop over all groups.
  const bool contiguous = s.dilation_w == 1;
  const Loop loop = {b.args.scratch,
                     b.args.scratch + p.weights_offset,
                     p.weight_row_bytes,
                     contiguous ? 1 : s.kernel_w,
                     s.dilation_w * p.column_bytes,
                     contiguous ? s.kernel_w * p.groups : p.groups,
                     s.stride_w * p.column_bytes,
                     b.channels,
                     s.out_w * b.channels};
  for (size_t rows = 0; y < end; y += rows * V::kBands) {
    rows = p.pass_rows == 2 && end - y > V::kBands ? 2 : 1;
    if (V::kTile.group_rows > 1 && rows == 2)
      compute_pass<V, 2, kStore>(b, loop, pixels, {y, end, 2, 0, 0});
    else
      compute_pass<V, 1, kStore>(b, loop, pixels, {y, end, 1, 0, 0});
  }
}

template <class V>
void run_block(const DepthwiseArgs& args, const DepthwisePlan& plan, size_t channels, size_t c,
               size_t n, size_t y, size_t end) {
  const Requant& r = args.requant;
  Block b = {args, plan, channels, c, n, Store::kGeneric, {}};
  const bool full = r.zero_point == 0 && r.lo == 0 && r.hi == 255;
  if (!kIntegerOnly && r.kind == RequantKind::kF32 && r.round == Round::kHalfEven &&
      !r.zero_point_before)
    b.store = full ? Store::kPlain : Store::kClamp;
  if constexpr (V::kFixes) {
    if (V::can_fix(r, c, n)) b.store = full ? Store::kFixedFromZero : Store::kFixed;
  }
  if constexpr (V::kHasAffine) {
    if (r.slope != nullptr) b.store = Store::kAffine;
  }
  prepare<V>(b);
  if constexpr (V::kHasAffine) {
    if (b.store == Store::kAffine) return compute_rows<V, Store::kAffine>(b, y, end);
  }
  if constexpr (V::kFixes) {
    if (b.store == Store::kFixed) return compute_rows<V, Store::kFixed>(b, y, end);
    if (b.store == Store::kFixedFromZero) return compute_rows<V, Store::kFixedFromZero>(b, y, end);
  }
  // |sum of x * w| <= 255 * 128 per tap
  if constexpr (!kIntegerOnly) {
    const float reach = static_cast<float>(32640 * args.shape.kernel_h * args.shape.kernel_w);
    if (b.store != Store::kGeneric && !V::is_bounded(args.scratch, reach))
      b.store = Store::kGeneric;
    if constexpr (V::kFuses) {
      if (b.store == Store::kPlain &&
          V::fuse(args.scratch, args.shape.kernel_h * args.shape.kernel_w))
        return compute_rows<V, Store::kFused>(b, y, end);
    }
    if (b.store == Store::kPlain) return compute_rows<V, Store::kPlain>(b, y, end);
    if (b.store == Store::kClamp) return compute_rows<V, Store::kClamp>(b, y, end);
  }
  b.forms = forms_of(r, c, n);
  compute_rows<V, Store::kGeneric>(b, y, end);
}

// The block of channels c.. for output rows y..end - 1, by the last policy whose bands hold the
// channels that are left.
template <class V, class... Narrower>
void compute_block(const DepthwiseArgs& args, const DepthwisePlan& plan, size_t channels, size_t c,
                   size_t n, size_t y, size_t end) {
  if constexpr (sizeof...(Narrower) > 0) {
    if (n <= 16 * V::kTile.lanes / (2 * V::kBands))
      return compute_block<Narrower...>(args, plan, channels, c, n, y, end);
  }
  run_block<V>(args, plan, channels, c, n, y, end);
}

// The whole call. V, Narrower...: one policy with 1, 2, ... bands.
template <class V, class... Narrower>
void run(const DepthwiseArgs& args) {
  constexpr size_t kBlock = 16 * V::kTile.lanes;
  const size_t channels = args.shape.in_c * args.shape.multiplier;
  const DepthwisePlan plan = depthwise_plan(V::kTile, args.shape);
  for (size_t y = args.row_begin; y < args.row_end; y += plan.strip_rows) {
    const size_t end = args.row_end - y < plan.strip_rows ? args.row_end : y + plan.strip_rows;
    for (size_t c = 0; c < channels; c += kBlock) {
      const size_t n = channels - c < kBlock ? channels - c : kBlock;
      compute_block<V, Narrower...>(args, plan, channels, c, n, y, end);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_
