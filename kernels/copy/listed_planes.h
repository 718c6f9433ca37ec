// SPDX-License-Identifier: Apache-2.0
// Used inside the copy family: transpositions of planes that are addressed by lists of offsets, for
// shapes in which strided planes (transpose.h) have too few rows or columns. Several loops of the
// transposition form a plane's rows, which are adjacent in the input, and several its columns,
// adjacent in the output:
//
//   output[output_at[r] + k * bytes] = input[input_at[k] + r * bytes]    r < rows, k < cols
//
// Elements are runs of 1, 2, 4 or 8 bytes of any alignment. Runs of other lengths are copied whole.
#ifndef QRT_KERNELS_COPY_LISTED_PLANES_H_
#define QRT_KERNELS_COPY_LISTED_PLANES_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

// A loop of a transposition; strides are in bytes.
struct TransposeLoop {
  size_t size, input_stride, output_stride;
};

struct ListedPlane {
  const uint8_t* input;
  const size_t* input_at;  // cols
  uint8_t* output;
  const size_t* output_at;  // rows
  size_t rows, cols;
};
using ListedPlaneFn = void (*)(ListedPlane plane);

// A kernel's functions for elements of 1, 2, 4 and 8 bytes.
struct ListedPlanes {
  ListedPlaneFn of[4];
};

// Transposes elements of `bytes` bytes by lists. `loops` are in the output's order, at least two
// and none empty. `suits_planes`: planes of two loops suit the shape. Returns false, and does
// nothing, where lists are no better than strided planes.
bool transpose_by_lists(const ListedPlanes& planes, const TransposeLoop* loops, size_t rank,
                        size_t bytes, bool suits_planes, const uint8_t* input, uint8_t* output);

}  // namespace qrt

#endif  // QRT_KERNELS_COPY_LISTED_PLANES_H_
