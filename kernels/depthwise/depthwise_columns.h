// SPDX-License-Identifier: Apache-2.0
// From image rows to the interleaved columns that plan.h draws: which pixels and channels of the
// image they are, and what stands outside it. V: the policy of depthwise_tile.h. Included by kernel
// files only: everything has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_COLUMNS_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_COLUMNS_H_

#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise_block.h"

namespace qrt {
namespace {

// The channels of a pixel that a block reads: its own, or each input channel `multiplier` times.
// Then 16 channels come from at most 16 bytes, which every lane has in an order of its own.
template <class V>
class Pixels {
 public:
  explicit Pixels(const Block& b) : first_(b.c / b.args.shape.multiplier) {
    const size_t multiplier = b.args.shape.multiplier;
    repeats_ = multiplier != 1;
    if (!repeats_) return;
    const size_t band_lanes = kLanes / bands_of<V>(b);
    uint8_t order[kLanes][16];
    const uint8_t* lanes[kLanes];
    for (size_t l = 0; l < kLanes; ++l) {
      const size_t channel = b.c + l % band_lanes * 16, first = channel / multiplier;
      offset_[l] = first - first_;
      for (size_t i = 0; i < 16; ++i)
        order[l][i] = static_cast<uint8_t>((channel + i) / multiplier - first);
      lanes[l] = order[l];
    }
    order_ = V::load_lanes(lanes);
  }
  size_t first() const { return first_; }
  bool repeats() const { return repeats_; }

  __attribute__((always_inline)) typename V::Row repeat(const uint8_t* const* p) const {
    const uint8_t* lanes[kLanes];
    for (size_t l = 0; l < kLanes; ++l) lanes[l] = p[l / (kLanes / V::kBands)] + offset_[l];
    return V::load_repeated(lanes, order_);
  }

 private:
  static constexpr size_t kLanes = V::kTile.lanes;
  size_t first_;
  bool repeats_;
  size_t offset_[kLanes];
  typename V::Row order_;
};

// One image row of a group: where its pixels are, one address per band, and the bytes from one to
// the next (0 for a row of padding).
template <class V>
struct SourceRow {
  const uint8_t* p[V::kBands];
  size_t step[V::kBands];
};

// The forms of a group that interleave_columns() makes: its columns, also of repeated channels, or
// pairs of columns of its first two rows.
enum class Columns { kOwn, kRepeated, kPaired };

// Interleaves `count` columns of one group, from column `ix` of an image of `width` on; those
// outside it are padding.
template <class V, int kBands, Columns kColumns>
QRT_NOINLINE void interleave_columns(const Block& b, const Pixels<V>& pixels,
                                     const SourceRow<V>* source, ptrdiff_t ix, ptrdiff_t width,
                                     size_t count, uint8_t* cells) {
  constexpr int kRows = kColumns == Columns::kPaired ? 2 : V::kTile.group_rows;
  const size_t column_bytes = b.plan.column_bytes;
  const uint8_t* zero[V::kBands];
  for (const uint8_t*& z : zero) z = b.args.zero + pixels.first();
  typename V::Row before[2] = {};  // the column before, whose other half is the next
  size_t i = 0;
  const auto store = [&](const typename V::Row(&row)[kRows]) QRT_INLINE_LAMBDA {
    typename V::Data column[4];
    uint8_t* to = cells + i * column_bytes;
    if constexpr (kColumns == Columns::kPaired) {
      typename V::Row words[2];
      V::interleave_two(row, words);
      V::interleave_words(before, words, column);
      before[0] = words[0], before[1] = words[1];
      if (i == 0) return;
      to -= column_bytes;
    } else {
      V::interleave(row, column);
    }
    unroll<4>([&](auto q)
                  QRT_INLINE_LAMBDA { V::store_data(to + q * V::kTile.quad_bytes, column[q]); });
  };
  const auto load = [&](const uint8_t* const* p) QRT_INLINE_LAMBDA {
    if constexpr (kColumns == Columns::kRepeated)
      return pixels.repeat(p);
    else
      return V::template load_row<kBands>(p);
  };
  const auto border = [&](ptrdiff_t until) {
    for (; i < count && ix + static_cast<ptrdiff_t>(i) < until; ++i) {
      typename V::Row row[kRows];
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { row[r] = load(zero); });
      store(row);
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
      if constexpr (kColumns == Columns::kRepeated) {  // has one loop for all numbers of bands
        for (size_t k = bands_of<V>(b); k < kBands; ++k) {
          next[r].p[k] = next[r].p[0];
          next[r].step[k] = next[r].step[0];
        }
      }
      for (int k = 0; k < kBands; ++k) next[r].p[k] += start * next[r].step[k];
    }
    for (; i < end; ++i) {
      typename V::Row row[kRows];
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
        row[r] = load(next[r].p);
        unroll<kBands>([&](auto k) QRT_INLINE_LAMBDA { next[r].p[k] += next[r].step[k]; });
      });
      store(row);
    }
  }
  border(PTRDIFF_MAX);
  if constexpr (kColumns == Columns::kPaired) {  // the last has no next
    typename V::Row row[kRows];
    unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA { row[r] = load(zero); });
    store(row);
  }
}

template <int kBands>
struct Bands {
  static constexpr int value = kBands;
};

template <class V>
QRT_NOINLINE void interleave(const Block& b, const Pixels<V>& pixels, const SourceRow<V>* source,
                             ptrdiff_t ix, ptrdiff_t width, size_t count, uint8_t* cells,
                             bool is_paired = false) {
  if (pixels.repeats())
    return interleave_columns<V, V::kBands, Columns::kRepeated>(b, pixels, source, ix, width, count,
                                                                cells);
  const auto columns = [&](auto bands) {
    constexpr int kBands = decltype(bands)::value;
    if constexpr (V::kTile.pairs) {
      if (is_paired)
        return interleave_columns<V, kBands, Columns::kPaired>(b, pixels, source, ix, width, count,
                                                               cells);
    }
    interleave_columns<V, kBands, Columns::kOwn>(b, pixels, source, ix, width, count, cells);
  };
  if (V::kStoresWhole && b.bands == 1)
    columns(Bands<1>());
  else
    columns(Bands<V::kBands>());
}

// `rows` output rows (1 or 2) of every band, from row y on and row_step() apart, of pixels x..; the
// first `left` are wanted.
struct Area {
  size_t y, left, rows, x, outputs;
  size_t passes, pass_bytes;  // slide() alone: passes, and input bytes from one to the next
};

// Returns how many output rows there are from one row of a pass to the next.
template <class V>
QRT_INLINE size_t row_step(const Block& b) {
  return V::kTile.pairs ? b.plan.row_step : 1;
}

// Finds the image rows of group g of an area. Where no output needs a row, because its weights are
// zero or its band is not stored, any other serves: the last row of the kernel, the first band.
template <class V>
QRT_INLINE void find_rows(const Block& b, const Pixels<V>& pixels, const Area& area, size_t g,
                          SourceRow<V> (&source)[V::kTile.group_rows]) {
  constexpr size_t kRows = V::kTile.group_rows;
  const DepthwiseShape& s = b.args.shape;
  const size_t last = s.kernel_h + (area.rows - 1) * s.stride_h - 1;
  for (size_t r = 0; r < kRows; ++r) {
    const size_t ky = g * kRows + r < last ? g * kRows + r : last;
    for (size_t k = 0; k < bands_of<V>(b); ++k) {
      const size_t before = k * area.rows;
      const size_t y = before < area.left ? area.y + before * row_step<V>(b) : area.y;
      const size_t iy = y * s.stride_h + ky * s.dilation_h - s.pad_top;  // huge above the image
      const bool inside = iy < s.in_h;
      source[r].p[k] =
          (inside ? b.args.input + iy * s.in_w * s.in_c : b.args.zero) + pixels.first();
      source[r].step[k] = inside ? s.in_c : 0;
    }
  }
}

// Interleaves the columns that the output pixels of an area need.
template <class V>
void interleave_area(const Block& b, const Pixels<V>& pixels, const Area& area) {
  const DepthwiseShape& s = b.args.shape;
  const ptrdiff_t ix =
      static_cast<ptrdiff_t>(area.x * s.stride_w) - static_cast<ptrdiff_t>(s.pad_left);
  const ptrdiff_t width = static_cast<ptrdiff_t>(s.in_w);
  // Runs of columns, each `dilation_w` further in the image than the one before.
  const size_t runs = b.plan.is_apart ? s.kernel_w : 1;
  const size_t count =
      (area.outputs - 1) * s.stride_w + 1 + (runs > 1 ? 0 : (s.kernel_w - 1) * s.dilation_w);
  for (size_t g = 0; g < b.plan.groups; ++g) {
    SourceRow<V> source[V::kTile.group_rows];
    find_rows(b, pixels, area, g, source);
    uint8_t* cells = b.args.scratch + b.plan.columns_offset + g * 4 * V::kTile.quad_bytes;
    for (size_t i = 0; i < runs; ++i, cells += b.plan.kernel_step * b.plan.column_bytes) {
      const ptrdiff_t from = ix + static_cast<ptrdiff_t>(i * s.dilation_w);
      interleave(b, pixels, source, from, width, count, cells, g == 1 && b.plan.is_paired);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_COLUMNS_H_
