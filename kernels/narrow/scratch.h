// SPDX-License-Identifier: Apache-2.0
// The layout of a call's scratch memory, and the distribution of outputs to blocks.
#ifndef QRT_KERNELS_NARROW_SCRATCH_H_
#define QRT_KERNELS_NARROW_SCRATCH_H_

#include "kernels/narrow/narrow.h"

namespace qrt {
namespace {  // the kernel files of two sets must not share code

constexpr size_t kNarrowOutputs = 4;     // the most outputs of a block
constexpr size_t kNarrowPositions = 64;  // positions of a block
constexpr size_t kNarrowLanes = 16;      // positions of a vector

// Blocks of outputs, as even as can be, the larger ones first.
struct NarrowBlocks {
  size_t count, least, longer;  // number of blocks, outputs of a smaller one, number of larger ones

  explicit NarrowBlocks(size_t outputs)
      : count((outputs + kNarrowOutputs - 1) / kNarrowOutputs),
        least(outputs / count),
        longer(outputs % count) {}
  size_t size(size_t block) const { return block < longer ? least + 1 : least; }
};

struct NarrowScratch {
  const NarrowShape& shape;
  size_t rows;  // number of output rows

  NarrowScratch(const NarrowShape& s, size_t out_rows) : shape(s), rows(out_rows) {}

  // Positions from the first output to the last, in vectors, and those of all their windows.
  size_t vectors() const {
    return ((rows - 1) * shape.padded_w() + shape.out_w + kNarrowLanes - 1) / kNarrowLanes;
  }
  size_t most_place() const { return shape.place(shape.most); }
  size_t blocks() const {
    return (vectors() * kNarrowLanes + most_place() + kNarrowPositions - 1) / kNarrowPositions;
  }
  // Returns the sums of an output's ring: a block, one whose outputs are not stored, and those that
  // wait for an output whose window lies further on.
  size_t ring() const {
    size_t size = 2 * kNarrowPositions;
    while (size < most_place() + 2 * kNarrowPositions + (most_place() > 0 ? kNarrowLanes : 0))
      size *= 2;
    return size;
  }
  // Returns the sums from ring to ring. A ring's first vector is repeated behind its last.
  size_t ring_pitch() const { return ring() + kNarrowLanes; }

  // Returns the bytes of a plane, in which the last vector and the last block may begin at the last
  // position of all.
  size_t plane_bytes() const {
    const size_t all = shape.padded_h(rows) * shape.padded_w() + 2 * kNarrowPositions;
    return round_up(all * sizeof(uint32_t));
  }
  size_t planes() const { return (shape.dwords() + 3) / 4 * 4; }
  size_t out_groups() const { return (shape.out_c + 15) / 16; }

  size_t steps_at() const { return planes() * plane_bytes(); }
  size_t sums_at() const { return steps_at() + round_up(shape.steps() * sizeof(uint32_t)); }
  size_t starts_at() const {
    return sums_at() + round_up(shape.out_c * ring_pitch() * sizeof(int32_t));
  }
  // Returns where the pixels begin: behind the start, scale, offset and nudge of every output.
  size_t pixels_at() const { return starts_at() + out_groups() * 16 * 4 * sizeof(int32_t); }
  // Returns the bytes of four outputs of a block's positions, plane by plane.
  size_t bytes() const {
    return pixels_at() + out_groups() * 4 * kNarrowPositions * sizeof(uint32_t);
  }

 private:
  static size_t round_up(size_t v) { return (v + 63) / 64 * 64; }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_NARROW_SCRATCH_H_
