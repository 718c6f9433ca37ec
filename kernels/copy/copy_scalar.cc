// SPDX-License-Identifier: Apache-2.0
// Moves for every CPU.
#include <cstdint>

#include "kernels/built.h"
#include "kernels/copy/listed_tiles.h"
#include "kernels/copy/plane_blocks.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

template <class T>
void plane(const void* input, size_t input_stride, void* output, size_t output_stride, size_t rows,
           size_t cols) {
  transpose_in_blocks(static_cast<const T*>(input), input_stride, static_cast<T*>(output),
                      output_stride, rows, cols);
}

constexpr ListedPlanes kListed = {{listed_elements<uint8_t>, listed_elements<uint16_t>,
                                   listed_elements<uint32_t>, listed_elements<uint64_t>}};

}  // namespace

void transpose_scalar(const TransposePlan& plan, const void* input, void* output, size_t begin,
                      size_t end) {
  transpose_by_planes(
      {plane<uint8_t>, plane<uint32_t>, copy_rows, built::kPermutations ? &kListed : nullptr}, plan,
      input, output, begin, end);
}

}  // namespace qrt
