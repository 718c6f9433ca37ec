// SPDX-License-Identifier: Apache-2.0
// Converts packed weights of the gemm family to the form of the grouped family, and computes sizes.
#include <string.h>

#include "kernels/gemm/pack.h"
#include "kernels/grouped/grouped.h"
#include "kernels/grouped/scratch.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4;

// A layer's weights in the form of gemm.h.
class Packed {
 public:
  Packed(const int8_t* packed, size_t taps, size_t k)
      : packed_(packed), taps_(taps), k_(k), kc_((k + kGroup - 1) / kGroup * kGroup) {}

  // Returns the weight of output `o` for input `i`, 0 if they are of different groups.
  int8_t at(size_t o, size_t tap, size_t i) const {
    if (o / k_ != i / k_) return 0;
    const size_t row = o % k_, column = i % k_;
    const int8_t* group = packed_ + o / k_ * static_cast<size_t>(gemm_packed_bytes(k_, taps_, k_));
    return group[(row / kBlock * taps_ + tap) * kc_ * kBlock + column / kGroup * kGroup * kBlock +
                 row % kBlock * kGroup + column % kGroup];
  }

 private:
  const int8_t* packed_;
  size_t taps_, k_, kc_;
};

// Returns the place of a weight among those of its panel for products by lane: taps, dwords of
// inputs, outputs by 4, outputs, elements.
size_t place_by_lane(const GroupedShape& shape, size_t o, size_t tap, size_t i) {
  return ((tap * (shape.group / 4) + i / 4) * kGroupedPanel + o) * 4 + i % 4;
}

// The places of weights in their panel for products by cell: sub-blocks of as many outputs as accumulators
// hold at a time, then taps, cells of inputs, accumulators, cells of a vector, dwords, elements.
class OffsetsByCell {
 public:
  OffsetsByCell(const GroupedKernel& kernel, const GroupedShape& shape)
      : taps_(shape.taps()), group_(shape.group), in_dword_(4 / kernel.element_bytes()) {
    const size_t in_cell = 4 * in_dword_;
    cells_of_vector_ = kernel.layout == kGroupedBytes512 ? 4 : 2;
    in_cell_ = group_ < in_cell ? group_ : in_cell;
    cells_ = group_ / in_cell_;
    sums_ = in_cell_ / in_dword_;
    outputs_ = kMostAccumulators * 4 * cells_of_vector_ / sums_;
    if (outputs_ > in_cell) outputs_ = in_cell;
    accumulators_ = outputs_ * sums_ / (4 * cells_of_vector_);
  }

  // Returns the place of a weight. o counts the outputs of the panel, i the inputs of the group.
  size_t of(size_t o, size_t tap, size_t i) const {
    const size_t block = o / outputs_, in_block = o % outputs_;
    const size_t group = in_block / in_cell_ % (4 / sums_), output = in_block % in_cell_;
    const size_t cell = i / in_cell_, part = i % in_cell_ / in_dword_;
    const size_t vectors = accumulators_ / sums_, rest = output / sums_;
    const size_t accumulator = rest % vectors * sums_ + (output % sums_ ^ part);
    const size_t vector = ((block * taps_ + tap) * cells_ + cell) * accumulators_ + accumulator;
    const size_t dword = (vector * cells_of_vector_ + rest / vectors) * 4 + group * sums_ + part;
    return dword * in_dword_ + i % in_dword_;
  }

 private:
  static constexpr size_t kMostAccumulators = 4;
  size_t taps_, group_;
  size_t in_dword_, in_cell_;  // inputs of a group
  size_t cells_;               // of a group
  size_t sums_;                // partial sums of an output
  size_t cells_of_vector_, outputs_, accumulators_;
};

size_t panels_of(const GroupedShape& shape) {
  return (shape.channels + kGroupedPanel - 1) / kGroupedPanel;
}
size_t panel_weights(const GroupedShape& shape) {
  return kGroupedPanel * shape.taps() * shape.group;
}

}  // namespace

size_t grouped_width(const int8_t* packed, size_t channels, size_t taps, size_t k) {
  if (kGroupedPanel % k != 0) return 0;
  const Packed weights(packed, taps, k);
  size_t width = 4;
  for (size_t o = 0; o < channels; ++o) {
    const size_t first = o / k * k;
    for (size_t i = first; i < first + k; ++i)
      for (size_t tap = 0; tap < taps && o / width != i / width; ++tap)
        while (o / width != i / width && weights.at(o, tap, i) != 0) width *= 2;
  }
  return width;
}

uint64_t grouped_weight_bytes(const GroupedKernel& kernel, const GroupedShape& shape) {
  return uint64_t{panels_of(shape)} * panel_weights(shape) * kernel.element_bytes();
}

void grouped_weights(const GroupedKernel& kernel, const GroupedShape& shape, const int8_t* packed,
                     size_t k, int8_t* weights) {
  const Packed source(packed, shape.taps(), k);
  const OffsetsByCell offsets(kernel, shape);
  const bool by_lane = kernel.layout == kGroupedDots128;
  memset(weights, 0, static_cast<size_t>(grouped_weight_bytes(kernel, shape)));
  for (size_t o = 0; o < shape.channels; ++o) {
    const size_t panel = o / kGroupedPanel * panel_weights(shape);
    const size_t first = o / shape.group * shape.group;
    for (size_t tap = 0; tap < shape.taps(); ++tap) {
      for (size_t i = 0; i < shape.group && first + i < shape.channels; ++i) {
        const int8_t w = source.at(o, tap, first + i);
        const size_t row = o % kGroupedPanel;
        const size_t at =
            panel + (by_lane ? place_by_lane(shape, row, tap, i) : offsets.of(row, tap, i));
        if (kernel.element_bytes() == 1) {
          weights[at] = w;
        } else {
          const int16_t word = w;
          memcpy(weights + 2 * at, &word, sizeof word);
        }
      }
    }
  }
}

size_t grouped_rows_per_call(const GroupedKernel& kernel, const GroupedShape& shape) {
  constexpr size_t kGoodBytes = 20 << 10;  // of the first-level cache, beside weights
  size_t rows = 1;
  while (rows < shape.out_h &&
         GroupedScratch(kernel.element_bytes(), shape, rows + 1).pixel_bytes() <= kGoodBytes)
    ++rows;
  return rows;
}

uint64_t grouped_scratch_bytes(const GroupedKernel& kernel, const GroupedShape& shape) {
  return GroupedScratch(kernel.element_bytes(), shape, grouped_rows_per_call(kernel, shape))
      .bytes();
}

}  // namespace qrt
