// SPDX-License-Identifier: Apache-2.0
// The layout of a call's scratch memory: where the pixels of its outputs begin and how far from
// there the inputs of each step of a sum are, then the pixels [rows][padded_w][16] of one panel.
#ifndef QRT_KERNELS_GROUPED_SCRATCH_H_
#define QRT_KERNELS_GROUPED_SCRATCH_H_

#include "kernels/grouped/grouped.h"

namespace qrt {

constexpr size_t kGroupedTile = 8;  // outputs that a kernel computes at a time, at most

struct GroupedScratch {
  size_t element_bytes;
  const GroupedShape& shape;
  size_t rows;  // number of output rows

  GroupedScratch(size_t bytes, const GroupedShape& s, size_t out_rows)
      : element_bytes(bytes), shape(s), rows(out_rows) {}

  size_t row_bytes() const { return shape.padded_w() * kGroupedPanel * element_bytes; }
  uint64_t pixel_bytes() const { return uint64_t{shape.padded_h(rows)} * row_bytes(); }

  // Returns the cells that a group's inputs take in one tap.
  size_t cells() const { return (shape.group * element_bytes + 15) / 16; }
  size_t steps() const { return shape.taps() * cells(); }

  size_t outputs() const { return rows * shape.out_w; }
  size_t steps_at() const { return round_up((outputs() + kGroupedTile) * sizeof(uint32_t)); }
  size_t pixels_at() const { return steps_at() + round_up(steps() * sizeof(uint32_t)); }
  uint64_t bytes() const { return pixels_at() + pixel_bytes(); }

 private:
  static size_t round_up(size_t v) { return (v + 63) / 64 * 64; }
};

}  // namespace qrt

#endif  // QRT_KERNELS_GROUPED_SCRATCH_H_
