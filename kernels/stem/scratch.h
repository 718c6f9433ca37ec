// SPDX-License-Identifier: Apache-2.0
// The layout of a call's scratch memory: padded rows of the image, then the shared dwords,
// [shared][outputs].
#ifndef QRT_KERNELS_STEM_SCRATCH_H_
#define QRT_KERNELS_STEM_SCRATCH_H_

#include "kernels/stem/stem.h"

namespace qrt {
namespace {  // the kernel files of two sets must not share code

constexpr size_t kStemTile = 8;    // outputs that a kernel computes at a time, at most
constexpr size_t kStemLanes = 16;  // shared dwords that are made at a time

struct StemScratch {
  const StemShape& shape;
  size_t rows;  // number of output rows

  StemScratch(const StemShape& s, size_t out_rows) : shape(s), rows(out_rows) {}

  // Returns the number of outputs, at least a tile, of which the last output is repeated then.
  size_t positions() const {
    const size_t outputs = rows * shape.out_w;
    return outputs < kStemTile ? kStemTile : outputs;
  }
  // Returns the bytes of a pixel. Shared dwords are made from two vectors of bytes.
  size_t pixel_bytes() const { return round_up(shape.padded_h(rows) * shape.padded_bytes() + 128); }
  size_t shared_pitch() const { return round_up((positions() + kStemLanes) * sizeof(uint32_t)); }
  size_t bytes() const { return pixel_bytes() + shape.shared() * shared_pitch(); }

 private:
  static size_t round_up(size_t v) { return (v + 63) / 64 * 64; }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_STEM_SCRATCH_H_
