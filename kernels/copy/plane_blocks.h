// Planes element by element: in cache-sized blocks, and for what tiles leave over.
#ifndef QRT_KERNELS_COPY_PLANE_BLOCKS_H_
#define QRT_KERNELS_COPY_PLANE_BLOCKS_H_

#include <cstddef>
#include <cstdint>

namespace qrt {
namespace {

template <class T>
inline void transpose_elements(const T* __restrict input, size_t input_stride, T* __restrict output,
                               size_t output_stride, size_t rows, size_t cols) {
  for (size_t r = 0; r < rows; ++r)
    for (size_t k = 0; k < cols; ++k) output[r * output_stride + k] = input[k * input_stride + r];
}

// The same, 16 x 16 elements at a time: each cache line of either side is fetched once.
template <class T>
inline void transpose_in_blocks(const T* input, size_t input_stride, T* output,
                                size_t output_stride, size_t rows, size_t cols) {
  constexpr size_t kBlock = 16;
  for (size_t r = 0; r < rows; r += kBlock) {
    const size_t block_rows = rows - r < kBlock ? rows - r : kBlock;
    for (size_t k = 0; k < cols; k += kBlock) {
      const size_t block_cols = cols - k < kBlock ? cols - k : kBlock;
      transpose_elements(input + k * input_stride + r, input_stride, output + r * output_stride + k,
                         output_stride, block_rows, block_cols);
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_COPY_PLANE_BLOCKS_H_
