// Walks over a plane (transpose.h): element by element in blocks, and in tiles of an instruction
// set.
#ifndef QRT_KERNELS_COPY_PLANE_BLOCKS_H_
#define QRT_KERNELS_COPY_PLANE_BLOCKS_H_

#include <cstddef>
#include <cstdint>

namespace qrt {
namespace {

// 16 x 16 elements at a time: each cache line of either side is fetched once.
template <class T>
inline void transpose_in_blocks(const T* input, size_t input_stride, T* output,
                                size_t output_stride, size_t rows, size_t cols) {
  constexpr size_t kBlock = 16;
  for (size_t r0 = 0; r0 < rows; r0 += kBlock) {
    const size_t r1 = rows - r0 < kBlock ? rows : r0 + kBlock;
    for (size_t k0 = 0; k0 < cols; k0 += kBlock) {
      const size_t k1 = cols - k0 < kBlock ? cols : k0 + kBlock;
      for (size_t r = r0; r < r1; ++r)
        for (size_t k = k0; k < k1; ++k)
          output[r * output_stride + k] = input[k * input_stride + r];
    }
  }
}

// Tile::transpose(input, input_stride, output, output_stride) does Tile::kRows x Tile::kCols
// elements. The last tile of either direction is moved back to end with the plane: some elements
// are stored twice. REQUIRES: rows >= Tile::kRows, cols >= Tile::kCols.
template <class Tile, class T>
inline void transpose_in_tiles(const T* input, size_t input_stride, T* output, size_t output_stride,
                               size_t rows, size_t cols) {
  // A strip of 256 input rows keeps its cache lines from one column of tiles to the next.
  constexpr size_t kStrip = 256;
  for (size_t strip = 0; strip < cols; strip += kStrip) {
    const size_t strip_end = cols - strip < kStrip ? cols : strip + kStrip;
    for (size_t row = 0; row < rows; row += Tile::kRows) {
      const size_t r = rows - row < Tile::kRows ? rows - Tile::kRows : row;
      for (size_t col = strip; col < strip_end; col += Tile::kCols) {
        const size_t k = cols - col < Tile::kCols ? cols - Tile::kCols : col;
        Tile::transpose(input + k * input_stride + r, input_stride, output + r * output_stride + k,
                        output_stride);
      }
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_COPY_PLANE_BLOCKS_H_
