// SPDX-License-Identifier: Apache-2.0
// Converts packed weights of the gemm family to the form of the stem family, and computes sizes.
#include <string.h>

#include "kernels/stem/scratch.h"
#include "kernels/stem/stem.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16, kGroup = 4;
constexpr size_t kWeightBlock = kBlock * kGroup;

}  // namespace

uint64_t stem_weight_bytes(const StemShape& shape) {
  return uint64_t{(shape.out_c + kBlock - 1) / kBlock} * shape.steps() * kWeightBlock;
}

void stem_weights(const int8_t* packed, const StemShape& shape, int8_t* weights) {
  const size_t groups = (shape.row_bytes() + kGroup - 1) / kGroup, own = shape.row_dwords();
  const bool shares = groups > own;
  memset(weights, 0, static_cast<size_t>(stem_weight_bytes(shape)));
  for (size_t o = 0; o < shape.out_c; o += kBlock, weights += shape.shared() * kWeightBlock) {
    int8_t* const shared = weights + shape.kernel_h * own * kWeightBlock;
    for (size_t y = 0; y < shape.kernel_h; ++y) {
      memcpy(weights, packed, own * kWeightBlock);
      weights += own * kWeightBlock, packed += own * kWeightBlock;
      for (size_t i = 0; shares && i < shape.rest(); ++i)
        for (size_t j = 0; j < kBlock; ++j) {
          const size_t at = i * shape.kernel_h + y;
          shared[at / kGroup * kWeightBlock + j * kGroup + at % kGroup] = packed[j * kGroup + i];
        }
      if (shares) packed += kWeightBlock;
    }
  }
}

size_t stem_offset_count(const StemShape& shape) {
  return StemScratch(shape, stem_rows_per_call(shape)).positions() +
         shape.kernel_h * shape.row_dwords();
}

void stem_offsets(const StemShape& shape, uint32_t* offsets) {
  const StemScratch scratch(shape, stem_rows_per_call(shape));
  const size_t row = shape.padded_bytes(), outputs = scratch.rows * shape.out_w;
  for (size_t i = 0; i < scratch.positions(); ++i) {
    const size_t o = i < outputs ? i : outputs - 1;
    *offsets++ = static_cast<uint32_t>(o / shape.out_w * shape.stride_h * row +
                                       o % shape.out_w * shape.pixel_bytes());
  }
  for (size_t y = 0; y < shape.kernel_h; ++y)
    for (size_t i = 0; i < shape.row_dwords(); ++i)
      *offsets++ = static_cast<uint32_t>(y * shape.dilation_h * row + 4 * i);
}

size_t stem_rows_per_call(const StemShape& shape) {
  constexpr size_t kGoodBytes = 28 << 10;
  size_t rows = 1;
  while (rows < shape.out_h && StemScratch(shape, rows + 1).bytes() <= kGoodBytes) ++rows;
  return rows;
}

size_t stem_scratch_bytes(const StemShape& shape) {
  return StemScratch(shape, stem_rows_per_call(shape)).bytes();
}

}  // namespace qrt
