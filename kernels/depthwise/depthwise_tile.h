// SPDX-License-Identifier: Apache-2.0
// The skeleton of every vector kernel of the depthwise family: blocks of channels, passes over rows,
// and the choice of loops (depthwise_loops.h) and epilogue; plan.h draws its data. A kernel file
// gives a policy V, which is all that depends on the instruction set:
//
//   kTile                                  its DepthwiseTile
//   kBands                                 output rows side by side in one register, see below;
//                                          kStoresWhole: or one
//   kOutputs                               output pixels of a row computed together
//   Row, load_row<bands>(p[bands])         16 * lanes bytes of image rows, a band from each address
//   load_lanes(p[lanes])                   a Row from 16 bytes at each address
//   load_repeated(p[lanes], order)         of these in each lane those that `order` numbers
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
//     Fused(constants)                     what store_fused() takes then
//     kFusesAboveZeroPoint                 also where only the lower limit is the zero point
//   kHasAffine                             whether there is Store::kAffine
//   kFixes                                 whether there are, for Store::kFixed and kFixedFromZero,
//     can_fix(requant, c, n)               whether they serve n channels from c on
//     fix(requant, c, n, float[3][])       their constants, in channel order
//   Finish(requant, n)                     constants of the epilogue for n channels, with
//     store<kClamp>(acc[4], scale, out, band_bytes, bands)    requantise; store n bytes per band
//     store_fixed<kFromZero>(acc[4], constants, out, band_bytes, bands)
//   kStoresWhole                           whether these store all 16 * lanes bytes whatever n is, their
//                                          upper half band_bytes behind the lower; if so, there are
//     store_partial(p, load(q), n)            stores the first n bytes of a register
//   kHolds                                 whether there are, instead of Fused and all these stores,
//     Constants<store>(constants)          what an epilogue reads, kHeld: in registers
//     store<store>(acc[4], Constants<store>, out, band_bytes, bands)
//     words<store>(acc[2], Constants<store>, q)     half of it, of quads q and q + 1, and
//     store<store>(words, words, out, band_bytes, bands)    the rest
//     load_quads(p[4], Data[4])            four quads from the 64 bytes at each address
//     interleave_two(rows, Row[2])         two rows to words (kTile.pairs), and two columns'
//     interleave_words(words, words, Data[4])               words to cells
//   kHalfPixels                            of how many pixels of a row compute_area() takes half of the
//                                          quads at a time; 0: it does not
//   kFewRegisters                          whether the words of half of the quads wait in memory then
//     dot(acc, data, Data)                 also with the weights in a register
//   store_acc(acc[4], int32 out)           accumulators in channel order
//   Lanes                                  policy of isa/requantize_tile.h, for the other epilogues
//
// Bands: where few channels are left, the lanes of a register hold the same channels of several
// output rows, so that 16 channels keep a 64-byte register busy.
//
// Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise_loops.h"
#include "kernels/depthwise/depthwise_row.h"
#include "kernels/depthwise/depthwise_slide.h"

namespace qrt {
namespace {

// The loops of one epilogue; element i of an array is for passes of i + 1 rows. A block chooses its
// loops once, so that the code around them is compiled once for all epilogues.
template <class V>
struct Loops {
  using Slide = void (*)(const Block& b, const Loop& loop, const Area& area,
                         const SourceRow<V> (&image)[V::kTile.group_rows]);
  using Compute = void (*)(const Block& b, const Loop& loop, const Area& area);

  Slide slide[2], slide_inside[2];  // null where V has none
  Compute compute[2], compute_3x3[2];
  void (*line)(const Block& b, const Loop& loop, size_t y);  // null where there is none
};

template <class V, Store kStore, int kRows, bool kInside>
constexpr typename Loops<V>::Slide slide_of() {
  if constexpr (!V::kSlides || kStore == Store::kGeneric) {
    return nullptr;
  } else if constexpr (V::kOwnTaps) {
    return V::template slide<kRows, kStore, kInside>;
  } else {
    return slide<V, kRows, kStore, kInside>;
  }
}

template <class V, Store kStore>
constexpr auto row_loops_of() -> decltype(Loops<V>::line) {
  if constexpr (has_row_loops<V>() && kStore != Store::kGeneric)
    return compute_short_row<V, kStore>;
  else
    return nullptr;
}

template <class V>
constexpr int kTaps3x3 = 3 * ((3 + V::kTile.group_rows - 1) / V::kTile.group_rows);

// Registers that hold three columns have slide() for 3x3, pixels that take half of the quads their
// own loop; others the number of taps in the code.
template <class V, Store kStore>
constexpr bool counts_taps() {
  return !V::kSlides && !V::kOwnTaps && V::kHalfPixels == 0 && kStore != Store::kGeneric;
}

template <class V, Store kStore, int kRows>
constexpr typename Loops<V>::Compute compute_3x3_of() {
  return compute_area < V, kRows, counts_taps<V, kStore>() ? kTaps3x3<V> : 0, kStore > ;
}

// Returns the loop that computes. Kernels other than 3x3 limit the result even where that changes
// nothing: it takes little beside so many taps, and saves code.
template <class V, Store kStore, int kRows>
constexpr typename Loops<V>::Compute compute_of() {
  constexpr Store kLimited = kStore == Store::kPlain           ? Store::kClamp
                             : kStore == Store::kFixedFromZero ? Store::kFixed
                                                               : kStore;
  return compute_area < V, kRows, 0, counts_taps<V, kStore>() ? kLimited : kStore > ;
}

template <class V, Store kStore>
Loops<V> loops_of() {
  constexpr int kTwo = V::kTile.group_rows > 1 ? 2 : 1;  // rows of a pass
  return {{slide_of<V, kStore, 1, false>(), slide_of<V, kStore, kTwo, false>()},
          {slide_of<V, kStore, 1, true>(), slide_of<V, kStore, kTwo, true>()},
          {compute_of<V, kStore, 1>(), compute_of<V, kStore, kTwo>()},
          {compute_3x3_of<V, kStore, 1>(), compute_3x3_of<V, kStore, kTwo>()},
          row_loops_of<V, kStore>()};
}

// Returns whether slide() computes the shape. It takes the columns of a dilated kernel one phase at
// a time, which is too slow where these are few.
template <class V>
bool can_slide(const DepthwiseShape& s) {
  const bool fits =
      s.kernel_w == kSlideWidth && s.kernel_h <= kSlideHeight && s.multiplier == 1 && s.terms == 1;
  const bool is_dilated = s.dilation_w > 1;
  return fits && (!is_dilated || (!V::kOwnTaps && s.stride_w == 1 && s.dilation_w <= s.in_w &&
                                  3 * s.dilation_w <= s.out_w));
}

// Returns how many passes from this one on have all rows and bands inside the image, and all of them
// wanted; 0: this one has not. loaded: rows that slide() reads, also where the kernel has fewer.
template <class V>
size_t count_passes(const Block& b, const Area& area,
                    const SourceRow<V> (&image)[V::kTile.group_rows], size_t loaded) {
  const DepthwiseShape& s = b.args.shape;
  const size_t own = s.kernel_h + (area.rows - 1) * s.stride_h;
  if (!is_regular<V>(image, static_cast<int>(own < loaded ? own : loaded))) return 0;
  const size_t step = row_step<V>(b) * s.stride_h, first = area.y * s.stride_h - s.pad_top;
  const size_t last = first + (V::kBands - 1) * area.rows * step + (loaded - 1) * s.dilation_h;
  if (last >= s.in_h) return 0;
  const size_t pass_rows = area.rows * V::kBands;
  const size_t fit = (s.in_h - 1 - last) / (pass_rows * step) + 1, wanted = area.left / pass_rows;
  const size_t passes = fit < wanted ? fit : wanted;
  return passes > 0 ? passes : 1;  // a last one may have a single band
}

// Computes one or more passes and returns their number. Changes `area` in place, since vector loads
// of a fresh copy would have to wait for its scalar stores.
template <class V>
size_t compute_pass(const Block& b, const Loop& loop, const Loops<V>& loops,
                    const Pixels<V>& pixels, Area& area) {
  constexpr size_t kGroupRows = V::kTile.group_rows;
  const DepthwiseShape& s = b.args.shape;
  if constexpr (V::kSlides) {
    if (loops.slide[0] != nullptr && can_slide<V>(s)) {
      SourceRow<V> image[kGroupRows];
      find_rows(b, pixels, area, 0, image);
      bool inside = true;
      for (const SourceRow<V>& row : image)
        for (size_t step : row.step) inside &= step != 0;
      if constexpr (!V::kOwnTaps) {
        const size_t passes = count_passes<V>(b, area, image, area.rows == 1 ? 3 : 4);
        inside = passes > 0;
        if (inside) area.passes = passes;
        area.pass_bytes = area.rows * V::kBands * row_step<V>(b) * s.stride_h * s.in_w * s.in_c;
      }
      const auto slide = (inside ? loops.slide_inside : loops.slide)[area.rows - 1];
      if (V::kOwnTaps || s.dilation_w == 1) {
        slide(b, loop, area, image);
        return area.passes;
      }
      if constexpr (!V::kOwnTaps) {
        ptrdiff_t at = 0;
        for (; area.x < s.dilation_w; ++area.x) {
          const ptrdiff_t begin = static_cast<ptrdiff_t>(Phase(s, area.x).begin);
          for (SourceRow<V>& row : image)
            for (int k = 0; k < V::kBands; ++k)
              row.p[k] += (begin - at) * static_cast<ptrdiff_t>(row.step[k]);
          at = begin;
          slide(b, loop, area, image);
        }
        return area.passes;
      }
    }
  }
  const bool is_3x3 = loop.outer == 1 && loop.taps == kTaps3x3<V> && loop.terms == 1;
  const auto compute = (is_3x3 ? loops.compute_3x3 : loops.compute)[area.rows - 1];
  for (; area.x < s.out_w; area.x += b.plan.tile_outputs) {
    const size_t left = s.out_w - area.x;
    area.outputs = left < b.plan.tile_outputs ? left : b.plan.tile_outputs;
    interleave_area(b, pixels, area);
    compute(b, loop, area);
  }
  return 1;
}

template <class V>
QRT_NOINLINE void compute_rows(const Block& b, const Loops<V>& loops, size_t y, size_t end) {
  const DepthwiseShape& s = b.args.shape;
  const DepthwisePlan& p = b.plan;
  const bool is_line = p.line.columns > 0;
  // Undilated columns are contiguous, as are their weights: one loop over all groups.
  const bool contiguous = is_line || s.dilation_w == 1;
  constexpr size_t kGroup = 4 * V::kTile.quad_bytes;
  const bool is_paired = V::kTile.pairs && p.is_paired;
  const size_t taps = is_line       ? p.line.columns
                      : !contiguous ? p.groups
                      : is_paired   ? s.kernel_w
                                    : s.kernel_w * p.groups;
  const Loop loop = {b.args.scratch,
                     b.args.scratch + p.weights_offset,
                     p.weight_row_bytes,
                     s.terms,
                     is_paired    ? 2
                     : contiguous ? 1
                                  : s.kernel_w,
                     is_paired ? kGroup : p.kernel_step * p.column_bytes,
                     taps,
                     is_paired ? p.column_bytes : kGroup,
                     is_paired ? (taps + 1) / 2 : taps,
                     is_paired ? 2 * p.column_bytes : kGroup,
                     s.stride_w * p.column_bytes,
                     b.channels,
                     row_step<V>(b) * s.out_w * b.channels};
  const Pixels<V> pixels(b);
  if (is_line) {
    if constexpr (has_row_loops<V>()) {
      if (loops.line != nullptr && is_short_row<V>(p, s, b.n)) {
        for (; y < end; ++y) loops.line(b, loop, y);
        return;
      }
    }
    const bool is_3x3 = taps == kTaps3x3<V> && !p.line.is_far;
    return compute_long_row(b, pixels, loop, is_3x3 ? loops.compute_3x3 : loops.compute, y, end);
  }
  const size_t bands = bands_of<V>(b);
  const size_t step = row_step<V>(b), firsts = step < end - y ? step : end - y;
  for (size_t i = 0; i < firsts; ++i) {
    for (size_t at = y + i; at < end;) {
      const size_t left = (end - at + step - 1) / step;
      const size_t rows = V::kTile.group_rows > 1 && p.pass_rows == 2 && left > bands ? 2 : 1;
      Area area = {at, left, rows, 0, 0, 1, 0};
      at += compute_pass<V>(b, loop, loops, pixels, area) * rows * bands * step;
    }
  }
}

// Returns the epilogue of a block, before its constants are known.
template <class V>
Store store_of(const Requant& r, size_t c, size_t n) {
  const bool full = r.zero_point == 0 && r.lo == 0 && r.hi == 255;
  Store store = Store::kGeneric;
  if (!kIntegerOnly && r.kind == RequantKind::kF32 && r.round == Round::kHalfEven &&
      !r.zero_point_before)
    store = full ? Store::kPlain : Store::kClamp;
  if constexpr (V::kFixes) {
    if (V::can_fix(r, c, n)) store = full && V::kBands < 4 ? Store::kFixedFromZero : Store::kFixed;
  }
  if constexpr (V::kHasAffine) {
    if (r.slope != nullptr) store = Store::kAffine;
  }
  return store;
}

template <class V>
Loops<V> loops_of(Store store) {
  switch (store) {
    case Store::kFused:
      if constexpr (!kIntegerOnly && V::kFuses) return loops_of<V, Store::kFused>();
      break;
    case Store::kFixed:
      if constexpr (V::kFixes) return loops_of<V, Store::kFixed>();
      break;
    case Store::kFixedFromZero:
      // Vectors of four bands have no code for this form: their layers, of few channels, take kFixed.
      if constexpr (V::kFixes && V::kBands < 4) return loops_of<V, Store::kFixedFromZero>();
      break;
    case Store::kAffine:
      if constexpr (V::kHasAffine) return loops_of<V, Store::kAffine>();
      break;
    case Store::kPlain:
      if constexpr (!kIntegerOnly && !V::kFuses) return loops_of<V, Store::kPlain>();
      break;
    case Store::kClamp:
      if constexpr (!kIntegerOnly) return loops_of<V, Store::kClamp>();
      break;
    case Store::kGeneric: break;
  }
  return loops_of<V, Store::kGeneric>();
}

// Prepares a block: writes its constants and weights to scratch memory, and chooses an epilogue
// that they allow.
template <class V>
QRT_NOINLINE Loops<V> begin_block(Block& b) {
  const DepthwiseArgs& args = b.args;
  const Requant& r = args.requant;
  b.store = store_of<V>(r, b.c, b.n);
  prepare<V>(b);
  if constexpr (!kIntegerOnly) {
    if (b.store == Store::kPlain || b.store == Store::kClamp) {
      const size_t taps = args.shape.products();
      // |sum of x * w| <= 255 * 128 per tap
      if (!V::is_bounded(args.scratch, static_cast<float>(32640 * taps))) b.store = Store::kGeneric;
      if constexpr (V::kFuses) {
        // Channels that cannot be fused are rare, and limiting them to the full range changes nothing.
        const bool is_above = V::kFusesAboveZeroPoint && r.lo == r.zero_point;
        if (b.store == Store::kPlain || (b.store == Store::kClamp && is_above))
          b.store = V::fuse(args.scratch, taps) ? Store::kFused : Store::kClamp;
      }
    }
  }
  if (b.store == Store::kGeneric) b.forms = forms_of(r, b.c, b.n);
  return loops_of<V>(b.store);
}

// Computes the block of channels c.. for output rows y..end - 1, by the last policy whose bands
// hold the channels that are left.
template <class V, class... Narrower>
void compute_block(const DepthwiseArgs& args, const DepthwisePlan& plan, size_t channels, size_t c,
                   size_t n, size_t y, size_t end) {
  if constexpr (sizeof...(Narrower) > 0) {
    const bool is_wide =
        has_row_loops<V>() && is_short_row<V>(plan, args.shape, n);  // has no use for bands
    if (!is_wide && n <= 16 * V::kTile.lanes / (2 * V::kBands))
      return compute_block<Narrower...>(args, plan, channels, c, n, y, end);
  }
  const bool is_narrow = n <= 16 * V::kTile.lanes / V::kBands;
  const size_t bands = V::kStoresWhole && !is_narrow ? 1 : V::kBands;
  Block b = {args, plan, channels, c, n, bands, 16 * V::kTile.lanes / bands, Store::kGeneric, {}};
  const Loops<V> loops = begin_block<V>(b);
  compute_rows<V>(b, loops, y, end);
}

template <class V, class... Narrower>
QRT_NOINLINE void run(const DepthwiseArgs& args, const DepthwisePlan& plan) {
  constexpr size_t kBlock = 16 * V::kTile.lanes;
  const size_t channels = args.shape.in_c * args.shape.multiplier;
  for (size_t y = args.row_begin; y < args.row_end; y += plan.strip_rows) {
    const size_t end = args.row_end - y < plan.strip_rows ? args.row_end : y + plan.strip_rows;
    for (size_t c = 0; c < channels; c += kBlock) {
      const size_t n = channels - c < kBlock ? channels - c : kBlock;
      compute_block<V, Narrower...>(args, plan, channels, c, n, y, end);
    }
  }
}

// Runs the whole call. V, Narrower...: one policy with 1, 2, ... bands, or one with kStoresWhole.
template <class V, class... Narrower>
void run(const DepthwiseArgs& args) {
  const DepthwisePlan plan = depthwise_plan(V::kTile, args.shape);
  if (!plan.line.is_packed) return run<V, Narrower...>(args, plan);
  DepthwiseArgs row = args;  // the call as a row, whose outputs are the rows to compute
  row.shape = depthwise_as_row(args.shape);
  row.shape.out_w = args.row_end - args.row_begin;
  row.shape.pad_left -= args.row_begin * row.shape.stride_w;  // may wrap: the image is further
  row.output += args.row_begin * args.shape.in_c * args.shape.multiplier;
  row.row_begin = 0, row.row_end = 1;
  run<V, Narrower...>(row, plan);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_TILE_H_
