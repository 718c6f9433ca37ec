// SPDX-License-Identifier: Apache-2.0
// Inside the copy family: a transposition of any rank is a loop over planes. A plane has one side
// contiguous in the input and the other contiguous in the output; only planes of bytes and of
// 4-byte elements have forms for instruction sets.
#ifndef QRT_KERNELS_COPY_TRANSPOSE_H_
#define QRT_KERNELS_COPY_TRANSPOSE_H_

#include <cstddef>

#include "kernels/copy/copy.h"
#include "kernels/copy/listed_planes.h"

namespace qrt {

// output[r * output_stride + k] = input[k * input_stride + r] for r < rows, k < cols; strides in
// elements. Nothing else is read or stored.
using TransposePlane = void (*)(const void* input, size_t input_stride, void* output,
                                size_t output_stride, size_t rows, size_t cols);

struct TransposePlanes {
  TransposePlane bytes1, bytes4;
  decltype(CopyKernel::rows) rows;
  // For planes that leave registers of the others nearly empty; null: none.
  const ListedPlanes* listed;
};

// CopyKernel::transpose with these planes.
void transpose_by_planes(const TransposePlanes& planes, const TransposePlan& plan,
                         const void* input, void* output, size_t begin, size_t end);

// Returns the planes of the best row with vectors up to 256 bits, for planes that leave larger ones empty.
TransposePlanes narrower_planes();
TransposePlanes planes_avx2();
extern const ListedPlanes kListedPlanesAvx2, kListedPlanesNeon;

// CopyKernel::interleave.
void interleave_avx512vbmi(const uint8_t* const* parts, const size_t* step, size_t groups,
                           size_t rows, size_t n, uint8_t* output);

// CopyKernel::rows: moves of memory are the same on every instruction set.
void copy_rows(const void* input, size_t input_stride, void* output, size_t output_stride,
               size_t rows, size_t bytes);

}  // namespace qrt

#endif  // QRT_KERNELS_COPY_TRANSPOSE_H_
