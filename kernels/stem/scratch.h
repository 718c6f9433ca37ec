// How a call's scratch memory is laid out: padded rows of the image, where the inputs of every output
// begin and how far from there each step's dword is, then the shared dwords, [shared][outputs].
#ifndef QRT_KERNELS_STEM_SCRATCH_H_
#define QRT_KERNELS_STEM_SCRATCH_H_

#include "kernels/stem/stem.h"

namespace qrt {

constexpr size_t kStemTile = 8;    // outputs that a kernel computes at a time, at most
constexpr size_t kStemLanes = 16;  // shared dwords that are made at a time

struct StemScratch {
  const StemShape& shape;
  size_t rows;  // of output

  StemScratch(const StemShape& s, size_t out_rows) : shape(s), rows(out_rows) {}

  size_t outputs() const { return rows * shape.out_w; }
  // Shared dwords are made from two vectors of bytes.
  size_t pixel_bytes() const { return shape.padded_h(rows) * shape.padded_bytes() + 128; }
  size_t shared_pitch() const { return round_up((outputs() + kStemLanes) * sizeof(uint32_t)); }

  size_t places_at() const { return round_up(pixel_bytes()); }
  size_t steps_at() const {
    return places_at() + round_up((outputs() + kStemTile) * sizeof(uint32_t));
  }
  size_t shared_at() const {
    return steps_at() + round_up(shape.kernel_h * shape.row_dwords() * sizeof(uint32_t));
  }
  size_t bytes() const { return shared_at() + shape.shared() * shared_pitch(); }

 private:
  static size_t round_up(size_t v) { return (v + 63) / 64 * 64; }
};

}  // namespace qrt

#endif  // QRT_KERNELS_STEM_SCRATCH_H_
