// SPDX-License-Identifier: Apache-2.0
// Used inside the copy family: transpositions whose planes are addressed by lists of offsets. They serve
// shapes for which planes with strides (transpose.h) have too few rows or columns. Several loops together make the rows, dense
// in the input, and several the columns, dense in the output:
//
//   output[output_at[r] + k * bytes] = input[input_at[k] + r * bytes]    r < rows, k < cols
//
// Elements are runs of 1, 2, 4 or 8 bytes of any alignment; longer runs, and those between, are moved whole.
#ifndef QRT_KERNELS_COPY_LISTED_PLANES_H_
#define QRT_KERNELS_COPY_LISTED_PLANES_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

// A loop of a transposition, strides in bytes.
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

// Functions for elements of 1, 2, 4 and 8 bytes.
struct ListedPlanes {
  ListedPlaneFn of[4];
};

// Loops in the order of the output, of elements of `bytes` bytes; at least two, none empty. `suits_planes`:
// planes of two loops do as they are. False, and nothing is done, where lists are no better than these.
bool transpose_by_lists(const ListedPlanes& planes, const TransposeLoop* loops, size_t rank,
                        size_t bytes, bool suits_planes, const uint8_t* input, uint8_t* output);

}  // namespace qrt

#endif  // QRT_KERNELS_COPY_LISTED_PLANES_H_
