// SPDX-License-Identifier: Apache-2.0
// slide(): 3x3 with three columns in registers. V: a policy of depthwise_tile.h with kSlides, but
// without its own slide(). Included by kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_SLIDE_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_SLIDE_H_

#include "kernels/depthwise/depthwise_loops.h"

namespace qrt {
namespace {

// The values that slide() keeps in registers from output to output, for epilogues whose constants fit.
template <class V, Store kStore, bool kInRegisters = V::template Constants<kStore>::kHeld>
struct Held {
  explicit Held(const Loop& l) : loop(l) {}
  __attribute__((always_inline)) typename V::Acc start(int q) const {
    return V::load_acc(loop.constants + static_cast<size_t>(q) * V::kTile.lanes * 16);
  }
  __attribute__((always_inline)) typename V::template Constants<kStore> constants() const {
    return typename V::template Constants<kStore>(loop.constants);
  }
  const Loop& loop;
};

template <class V, Store kStore>
struct Held<V, kStore, true> {
  explicit __attribute__((always_inline)) Held(const Loop& loop) : held(loop.constants) {
    unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
      bias[q] = V::load_acc(loop.constants + static_cast<size_t>(q) * V::kTile.lanes * 16);
    });
  }
  __attribute__((always_inline)) typename V::Acc start(int q) const { return bias[q]; }
  __attribute__((always_inline)) const typename V::template Constants<kStore>& constants() const {
    return held;
  }
  typename V::Acc bias[4];
  typename V::template Constants<kStore> held;
};

// Returns whether the first `count` rows are in the image, one distance apart, and so are the bands.
template <class V>
bool is_regular(const SourceRow<V> (&image)[V::kTile.group_rows], int count) {
  const uint8_t* const first = image[0].p[0];
  const ptrdiff_t pitch = image[1].p[0] - first, band = image[0].p[V::kBands > 1 ? 1 : 0] - first;
  bool regular = true;
  for (int r = 0; r < count; ++r) {
    for (int k = 0; k < V::kBands; ++k)
      regular &= image[r].step[k] != 0 && image[r].p[k] - first == r * pitch + k * band;
  }
  return regular;
}

// The rows of a group from column to column of the padding, the image and the padding behind it.
template <class V, int kCount, bool kRegular>
class Rows {
 public:
  explicit __attribute__((always_inline)) Rows(const uint8_t* zero) { end(zero); }

  __attribute__((always_inline)) void start(const SourceRow<V> (&image)[V::kTile.group_rows],
                                            size_t offset, size_t step) {
    pitch_ = image[1].p[0] - image[0].p[0];
    band_ = image[0].p[V::kBands > 1 ? 1 : 0] - image[0].p[0];
    at_ = image[0].p[0] + offset;
    step_ = step;
  }
  __attribute__((always_inline)) void end(const uint8_t* zero) {
    at_ = zero;
    pitch_ = band_ = 0;
    step_ = 0;
  }
  __attribute__((always_inline)) void load(typename V::Row (&row)[V::kTile.group_rows]) {
    const uint8_t* from = at_;
    unroll<kCount>([&](auto r) QRT_INLINE_LAMBDA {
      if (r > 0) from = opaque(from + pitch_);  // no address of its own for each row and band
      const uint8_t* p[V::kBands];
      unroll<V::kBands>([&](auto k) QRT_INLINE_LAMBDA { p[k] = from + k * band_; });
      row[r] = V::template load_row<V::kBands>(p);
    });
    at_ += step_;
  }

 private:
  const uint8_t* at_;
  ptrdiff_t pitch_, band_;
  size_t step_;
};

// Each row and band where it is: from memory where they are more than there are registers.
template <class V, int kCount>
class Rows<V, kCount, false> {
 public:
  explicit __attribute__((always_inline)) Rows(const uint8_t* zero) { end(zero); }

  __attribute__((always_inline)) void start(const SourceRow<V> (&image)[V::kTile.group_rows],
                                            size_t, size_t step) {
    unroll<kCount>([&](auto r) QRT_INLINE_LAMBDA {
      unroll<V::kBands>([&](auto k) QRT_INLINE_LAMBDA {
        // One by one: in vectors they would look like accumulators on the stack to the disassembly
        // test.
        next_[r].p[k] = opaque(image[r].p[k]);
        next_[r].step[k] = image[r].step[k] != 0 ? ~size_t{0} : 0;  // a mask
      });
    });
    offset_ = 0;
    step_ = step;
  }
  __attribute__((always_inline)) void end(const uint8_t* zero) {
    for (SourceRow<V>& row : next_) {
      for (int k = 0; k < V::kBands; ++k) {
        row.p[k] = opaque(zero);
        row.step[k] = 0;
      }
    }
    offset_ = step_ = 0;
  }
  __attribute__((always_inline)) void load(typename V::Row (&row)[V::kTile.group_rows]) {
    const SourceRow<V>* from = next_;
    if (V::kBands > 1) from = opaque(from);
    unroll<kCount>([&](auto r) QRT_INLINE_LAMBDA {
      const uint8_t* p[V::kBands];
      unroll<V::kBands>(
          [&](auto k) QRT_INLINE_LAMBDA { p[k] = from[r].p[k] + (offset_ & from[r].step[k]); });
      row[r] = V::template load_row<V::kBands>(p);
    });
    offset_ += step_;
  }

 private:
  SourceRow<V> next_[kCount];
  size_t offset_, step_;
};

// A dilated kernel takes the columns x, x + dilation, ... of the image to those of the output, as
// one that is not dilated takes a smaller image: this is how large. REQUIRES: stride 1 where it is
// dilated, first < dilation <= width of the image.
struct Phase {
  Phase(const DepthwiseShape& s, size_t first)
      : begin(0), pad(s.pad_left), in_w(s.in_w), out_w(s.out_w) {
    const size_t d = s.dilation_w;
    if (d == 1) return;
    pad = (s.pad_left + d - 1 - first) / d;
    begin = first + pad * d - s.pad_left;
    in_w = (s.in_w - begin + d - 1) / d;
    out_w = (s.out_w - first + d - 1) / d;
  }
  size_t begin;  // column of the image
  size_t pad, in_w, out_w;
};

// The size of the kernels that slide() takes: can_slide().
constexpr int kSlideHeight = 3, kSlideWidth = 3;

// Slides over whole rows of a kernel of up to 3 rows of 3 taps, multiplier 1: each column is
// interleaved in registers and leaves them after the third output that it contributes to. Outputs
// area.x, area.x + dilation, ..., of `image` moved to where they begin. kInside: is_regular(image),
// and then area.passes, each area.pass_bytes further in the image.
template <class V, int kRows, Store kStore, bool kInside>
QRT_NOINLINE void slide(const Block& b, const Loop& loop, const Area& area,
                        const SourceRow<V> (&image)[V::kTile.group_rows]) {
  constexpr size_t kCell = V::kTile.quad_bytes;
  constexpr int kGroupRows = V::kTile.group_rows, kLoaded = kRows == 1 ? 3 : kGroupRows;
  // The weights of a row are then one group of cells by columns and quads: Loop::weight_row_bytes.
  static_assert(kSlideHeight <= kGroupRows);
  constexpr size_t kWeightRow = kSlideWidth * 4 * kCell;
  const DepthwiseShape& s = b.args.shape;
  const typename V::Finish finish(b.args.requant, b.n);
  const size_t rows_left = area.left;
  const Phase phase(s, area.x);
  const size_t out_step = s.dilation_w * loop.channels, stride = s.stride_w;
  const size_t row_bytes = loop.row_bytes;
  const uint8_t* const weights = loop.weights;
  const size_t first = (area.y * s.out_w + area.x) * loop.channels + b.c;
  const size_t pass_rows = kRows * V::kBands;
  const Held<V, kStore> held(loop);
  Rows<V, kLoaded, kInside> rows(b.args.zero + b.c);
  for (size_t pass = 0; pass < (kInside ? area.passes : 1); ++pass) {
    uint8_t* out = b.args.output + first + pass * pass_rows * loop.row_bytes;
    // At column `turn` of the image the source changes: to the image at 0, to padding at its width.
    ptrdiff_t ix = -static_cast<ptrdiff_t>(phase.pad), turn = 0;
    typename V::Data column[3][4] = {};
    size_t missing = 3;  // columns before the next output
    for (size_t left = phase.out_w; left > 0; ++ix) {
      if (__builtin_expect(ix == turn, 0)) {
        if (turn == 0)
          rows.start(image, pass * area.pass_bytes, s.dilation_w * s.in_c);
        else
          rows.end(b.args.zero + b.c);
        turn = static_cast<ptrdiff_t>(phase.in_w);
      }
      typename V::Row row[kGroupRows];
      rows.load(row);
      if (kLoaded < kGroupRows) row[kGroupRows - 1] = row[kLoaded - 1];
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        column[0][q] = column[1][q];
        column[1][q] = column[2][q];
      });
      V::interleave(row, column[2]);
      if (--missing > 0) continue;
      missing = stride;
      --left;
      typename V::Acc acc[kRows][4];
      unroll<kRows>([&](auto r) QRT_INLINE_LAMBDA {
        const uint8_t* const row_weights = opaque(weights) + r * kWeightRow;
        unroll<4>([&](auto q) QRT_INLINE_LAMBDA { acc[r][q] = held.start(q); });
        unroll<3>([&](auto kx) QRT_INLINE_LAMBDA {
          unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
            V::dot(acc[r][q], column[kx][q], row_weights + (kx * 4 + q) * kCell);
          });
        });
        finish.template store<kStore>(acc[r], held.constants(), out + r * row_bytes,
                                      kRows * row_bytes, (rows_left + kRows - 1 - r) / kRows);
      });
      out += out_step;
    }
    rows.end(b.args.zero + b.c);
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_SLIDE_H_
