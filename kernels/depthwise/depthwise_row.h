// SPDX-License-Identifier: Apache-2.0
// Lines (plan.h), as in convolutions over time: compute_long_row(), and compute_short_row() for up
// to three taps, where one column has all inputs of two outputs and stays in registers. V is a
// policy of depthwise_tile.h, for compute_short_row() with kHolds. Included by kernel files only:
// everything has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_ROW_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_ROW_H_

#include "kernels/depthwise/depthwise_slide.h"

namespace qrt {
namespace {

template <class V>
constexpr bool has_row_loops() {
  return V::kHolds && (V::kBands == 1 || V::kStoresWhole) && V::kTile.group_rows == 4;
}

// Interleaves `count` columns of image row y to `cells`: `step` pixels apart from column `ix` on,
// with bands that begin `band` pixels apart.
template <class V>
void interleave_row(const Block& b, const Pixels<V>& pixels, size_t y, ptrdiff_t ix, size_t step,
                    size_t band, size_t count, uint8_t* cells) {
  constexpr int kRows = V::kTile.group_rows;
  const DepthwiseShape& s = b.args.shape;
  const size_t iy = y * s.stride_h - s.pad_top;  // huge above the image
  const uint8_t* const row = iy < s.in_h ? b.args.input + iy * s.in_w * s.in_c : b.args.zero;
  const ptrdiff_t width = iy < s.in_h ? static_cast<ptrdiff_t>(s.in_w) : 0;
  const size_t bands = bands_of<V>(b);
  while (count > 0) {
    // Distance to the column at which a pixel enters the image or leaves it.
    ptrdiff_t change = PTRDIFF_MAX;
    SourceRow<V> source[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t k = 0; k < bands; ++k) {
        const ptrdiff_t at = ix + static_cast<ptrdiff_t>(r * s.dilation_w + k * band);
        const bool is_inside = at >= 0 && at < width;
        const ptrdiff_t until = at < 0 ? -at : is_inside ? width - at : PTRDIFF_MAX;
        change = until < change ? until : change;
        source[r].p[k] =
            pixels.first() + (is_inside ? row + static_cast<size_t>(at) * s.in_c : b.args.zero);
        source[r].step[k] = is_inside ? step * s.in_c : 0;
      }
    }
    size_t run = (static_cast<size_t>(change) - 1) / step + 1;
    run = run < count ? run : count;
    interleave(b, pixels, source, 0, static_cast<ptrdiff_t>(run), run, cells);
    cells += run * b.plan.column_bytes;
    ix += static_cast<ptrdiff_t>(run * step);
    count -= run;
  }
}

// The order in which compute_long_row() visits the outputs of a row: in sequences, whose passes are
// `advance` outputs apart.
template <class V>
struct RowOrder {
  explicit RowOrder(const Block& b)
      : bands(bands_of<V>(b)),
        dilation(b.args.shape.dilation_w),
        phases(b.plan.line.phases),
        is_far(b.plan.line.is_far),
        two(b.plan.pass_rows == 2 &&
            (bands == 1 || (dilation == 1 && 2 * bands <= V::kTile.group_rows))),
        most((two ? 2 : 1) * bands),
        step(two ? dilation : 1),
        advance(is_far ? bands : phases) {}

  // Returns the column behind the last output of the sequence that starts at x.
  size_t end(size_t x, size_t out_w) const {
    return is_far && two && dilation < out_w - x ? x + dilation : out_w;
  }
  // Returns the start of the sequence behind the one that starts at x.
  size_t next(size_t x, size_t out_w) const {
    if (is_far) return two ? x + 2 * dilation : out_w;
    x += two && dilation > 1 ? 1 : most;
    if (two && x / dilation % 2 == 1) x += dilation;
    return x < phases ? x : out_w;
  }
  // Returns the number of outputs from x on that a pass computes together, `step` apart.
  size_t together(size_t x) const { return two || is_far || most < phases - x ? most : phases - x; }

  size_t bands, dilation, phases;
  bool is_far, two;
  size_t most, step;
  size_t advance;  // from one pass of a sequence to the next
};

// Computes lines of outputs a dilation apart. compute[i] is the function for passes of i + 1 rows.
template <class V>
void compute_long_row(const Block& b, const Pixels<V>& pixels, Loop loop,
                      void (*const (&compute)[2])(const Block&, const Loop&, const Area&), size_t y,
                      size_t end_y) {
  const DepthwiseShape& s = b.args.shape;
  const DepthwiseRow& line = b.plan.line;
  const RowOrder<V> order(b);
  // Columns of an output: one after the other, or one of each run.
  const size_t runs = order.is_far ? line.columns : 1, run_outputs = b.plan.tile_outputs;
  const size_t column_step = order.is_far ? order.advance * s.stride_w : line.step;
  const size_t stride = order.is_far ? 1 : line.stride;
  loop.outer = runs;
  loop.outer_step = run_outputs * b.plan.column_bytes;
  loop.taps = loop.more_taps = line.columns / runs;
  loop.pixel_step = stride * b.plan.column_bytes;
  loop.channels = order.advance * b.channels;
  loop.row_bytes = order.step * b.channels;
  for (; y < end_y; ++y) {
    for (size_t first = 0; first < s.out_w; first = order.next(first, s.out_w)) {
      const size_t end = order.end(first, s.out_w), all = order.together(first);
      const size_t last = (all - 1) * order.step;
      for (size_t x = first; x < end;) {
        // Passes first cover the positions at which all outputs of a pass are inside the row, then
        // the others.
        const size_t left = s.out_w - x, whole = left > last ? left - last : end - x;
        Area area = {y, left > last ? all : (left - 1) / order.step + 1, 1, x, 1, 1, 0};
        area.outputs = ((whole < end - x ? whole : end - x) - 1) / order.advance + 1;
        if (area.outputs > run_outputs) area.outputs = run_outputs;
        if (area.left > order.bands) area.rows = 2;
        const size_t ix = x * s.stride_w - s.pad_left;
        for (size_t i = 0; i < runs; ++i) {
          interleave_row(b, pixels, y, static_cast<ptrdiff_t>(ix + i * line.step), column_step,
                         area.rows * s.stride_w, (area.outputs - 1) * stride + loop.taps,
                         b.args.scratch + b.plan.columns_offset + i * loop.outer_step);
        }
        compute[area.rows - 1](b, loop, area);
        x += area.outputs * order.advance;
      }
    }
  }
}

// Returns whether compute_short_row() takes n channels of the line: registers that are stored whole take
// whole blocks, which have one band.
template <class V>
bool is_short_row(const DepthwisePlan& plan, const DepthwiseShape& s, size_t n) {
  const bool fits = !V::kStoresWhole || n == 16 * V::kTile.lanes;
  return fits && plan.line.columns == 1 && plan.pass_rows == 2 && s.multiplier == 1;
}

// Computes `count` outputs each at `later` and `out`. Writes to `later` first, so that the output
// at `out` stays where both are the same place.
template <class V, Store kStore>
QRT_INLINE void compute_run(const Block& b, const Loop& loop, const Held<V, kStore>& held,
                            const typename V::Finish& finish, SourceRow<V> (&from)[4], size_t count,
                            uint8_t* out, uint8_t* later, size_t out_step) {
  constexpr size_t kCell = V::kTile.quad_bytes, kHalf = 8 * V::kTile.lanes;  // of an output
  for (; count > 0; --count) {
    typename V::Row row[4];
    unroll<4>([&](auto r) QRT_INLINE_LAMBDA {
      row[r] = V::template load_row<1>(from[r].p);
      from[r].p[0] += from[r].step[0];
    });
    typename V::Data data[4];
    V::interleave(row, data);
    unroll<2>([&](auto i) QRT_INLINE_LAMBDA {
      typename V::Acc acc[4];
      const uint8_t* weights = opaque(loop.weights);
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        acc[q] = held.start(q);
        V::dot(acc[q], data[q], weights + ((1 - i) * 4 + q) * kCell);
      });
      finish.template store<kStore>(acc, held.constants(), i == 0 ? later : out, kHalf, 1);
    });
    out += out_step;
    later += out_step;
  }
}

template <class V, Store kStore>
QRT_NOINLINE void compute_short_row(const Block& b, const Loop& shared, size_t y) {
  const Loop loop = shared;
  const DepthwiseShape& s = b.args.shape;
  const typename V::Finish finish(b.args.requant, b.n);
  const Held<V, kStore> held(loop);
  const size_t iy = y * s.stride_h - s.pad_top;  // huge above the image
  const uint8_t* const row = iy < s.in_h ? b.args.input + iy * s.in_w * s.in_c : b.args.zero;
  const ptrdiff_t in_w = iy < s.in_h ? static_cast<ptrdiff_t>(s.in_w) : 0;
  const ptrdiff_t out_w = static_cast<ptrdiff_t>(s.out_w);
  const ptrdiff_t dilation = static_cast<ptrdiff_t>(s.dilation_w);
  const ptrdiff_t pad = static_cast<ptrdiff_t>(s.pad_left);
  // Takes outputs first, first + step, ...: all up to the next dilation, or, where these are few,
  // the outputs of one residue modulo the dilation.
  const bool is_near = dilation < 8;
  const ptrdiff_t step = is_near ? 2 * dilation : 1;
  const ptrdiff_t first_end = is_near && dilation < out_w ? dilation : out_w;
  for (ptrdiff_t first = 0; first < first_end; first += is_near ? 1 : 2 * dilation) {
    const ptrdiff_t end = is_near || out_w - first < dilation ? out_w : first + dilation;
    for (ptrdiff_t x = first; x < end;) {
      // A pass takes as many outputs as have the same inputs outside the image.
      ptrdiff_t until = end;
      const auto limit = [&](ptrdiff_t at) { until = at > x && at < until ? at : until; };
      SourceRow<V> from[4];
      for (ptrdiff_t r = 0; r < 4; ++r) {
        const ptrdiff_t ix = x + r * dilation - pad;
        const bool inside = ix >= 0 && ix < in_w;
        from[r].p[0] = b.c + (inside ? row + ix * static_cast<ptrdiff_t>(s.in_c) : b.args.zero);
        from[r].step[0] = inside ? static_cast<size_t>(step) * s.in_c : 0;
        limit(x - ix);
        limit(x - ix + in_w);
      }
      limit(out_w - dilation);
      uint8_t* const out =
          b.args.output + (y * s.out_w + static_cast<size_t>(x)) * b.channels + b.c;
      uint8_t* const later =
          x + dilation < out_w ? out + static_cast<size_t>(dilation) * b.channels : out;
      const ptrdiff_t count = (until - x + step - 1) / step;
      compute_run<V, kStore>(b, loop, held, finish, from, static_cast<size_t>(count), out, later,
                             static_cast<size_t>(step) * b.channels);
      x += count * step;
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_ROW_H_
