// SPDX-License-Identifier: Apache-2.0
// Walks over a plane (transpose.h), written once for all instruction sets: element by element in
// blocks, in tiles of an instruction set, and between planes and interleaved pixels.
#ifndef QRT_KERNELS_COPY_PLANE_BLOCKS_H_
#define QRT_KERNELS_COPY_PLANE_BLOCKS_H_

#include <cstddef>
#include <cstdint>

namespace qrt {
namespace {

// Transposes 16 x 16 elements at a time: each cache line of either side is fetched once.
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

// Transposes a plane by tiles: Tile::transpose(input, input_stride, output, output_stride, done)
// does Tile::kRows x Tile::kCols elements. The last tile of either direction is moved back to end
// with the plane: some elements are stored twice, but for the first `done` rows where a tile leaves
// them out. REQUIRES: rows >= Tile::kRows, cols >= Tile::kCols.
template <class Tile, class T>
inline void transpose_in_tiles(const T* input, size_t input_stride, T* output, size_t output_stride,
                               size_t rows, size_t cols) {
  // A strip of 256 input rows keeps its cache lines from one column of tiles to the next. Tiles that
  // store whole cache lines leave none for the next one: a strip of one tile takes the input's lines
  // at once.
  constexpr size_t kStrip = Tile::kCols * sizeof(T) < 64 ? 256 : Tile::kCols;
  for (size_t strip = 0; strip < cols; strip += kStrip) {
    const size_t strip_end = cols - strip < kStrip ? cols : strip + kStrip;
    for (size_t row = 0; row < rows; row += Tile::kRows) {
      const size_t r = rows - row < Tile::kRows ? rows - Tile::kRows : row;
      for (size_t col = strip; col < strip_end; col += Tile::kCols) {
        const size_t k = cols - col < Tile::kCols ? cols - Tile::kCols : col;
        Tile::transpose(input + k * input_stride + r, input_stride, output + r * output_stride + k,
                        output_stride, row - r);
      }
    }
  }
}

// Does one round of a transposition in registers. With register number and position in the register
// written as one binary number, zipping registers i and i + n / 2 into 2 i and 2 i + 1 rotates that
// number left by one bit; as many rounds as the position has bits exchange the two.
template <class Zip, class Register, size_t n>
inline void zip_round(const Register (&v)[n], Register (&w)[n]) {
#pragma GCC unroll 8
  for (size_t i = 0; i < n / 2; ++i) {
    w[2 * i] = Zip::low(v[i], v[i + n / 2]);
    w[2 * i + 1] = Zip::high(v[i], v[i + n / 2]);
  }
}

// Calls f(i) for pixels i .. i + kPixels - 1, the last call moved back to the end. REQUIRES: pixels >= kPixels.
template <size_t kPixels, class F>
inline void for_pixels(size_t pixels, const F& f) {
  for (size_t i = 0; i + kPixels < pixels; i += kPixels) f(i);
  f(pixels - kPixels);
}

// Transposes a plane by the larger tiles that fit, or element by element.
template <class Tile, class SmallTile, class T>
inline void transpose_plane(const T* input, size_t input_stride, T* output, size_t output_stride,
                            size_t rows, size_t cols) {
  if (rows >= Tile::kRows && cols >= Tile::kCols)
    transpose_in_tiles<Tile>(input, input_stride, output, output_stride, rows, cols);
  else if (rows >= SmallTile::kRows && cols >= SmallTile::kCols)
    transpose_in_tiles<SmallTile>(input, input_stride, output, output_stride, rows, cols);
  else
    transpose_in_blocks(input, input_stride, output, output_stride, rows, cols);
}

// Planes by what an instruction set has:
//
//   ByteTile, SmallByteTile, WordTile, SmallWordTile     tiles, see transpose_in_tiles()
//   join_two, split_two                                  of kPairs pixels, as the following
//   kPixels                                              of one call of the following
//   join_three, join_four(in, plane_stride, out)         planes of bytes to interleaved pixels
//   split_three, split_four(in, out, plane_stride)       and back
//
// Pixels of two parts are a shuffle of channels where the parts are those of a pixel: short planes.
constexpr size_t kPairs = 16;

template <class Set>
void plane_bytes1(const void* input, size_t input_stride, void* output, size_t output_stride,
                  size_t rows, size_t cols) {
  const uint8_t* in = static_cast<const uint8_t*>(input);
  uint8_t* out = static_cast<uint8_t*>(output);
  constexpr size_t kPixels = Set::kPixels;
  if (cols == 2 && output_stride == 2 && rows >= kPairs) {
    for_pixels<kPairs>(rows, [&](size_t i) { Set::join_two(in + i, input_stride, out + 2 * i); });
  } else if (rows == 2 && input_stride == 2 && cols >= kPairs) {
    for_pixels<kPairs>(cols, [&](size_t i) { Set::split_two(in + 2 * i, out + i, output_stride); });
  } else if (cols == 3 && output_stride == 3 && rows >= kPixels) {
    for_pixels<kPixels>(rows,
                        [&](size_t i) { Set::join_three(in + i, input_stride, out + 3 * i); });
  } else if (cols == 4 && output_stride == 4 && rows >= kPixels) {
    for_pixels<kPixels>(rows, [&](size_t i) { Set::join_four(in + i, input_stride, out + 4 * i); });
  } else if (rows == 3 && input_stride == 3 && cols >= kPixels) {
    for_pixels<kPixels>(cols,
                        [&](size_t i) { Set::split_three(in + 3 * i, out + i, output_stride); });
  } else if (rows == 4 && input_stride == 4 && cols >= kPixels) {
    for_pixels<kPixels>(cols,
                        [&](size_t i) { Set::split_four(in + 4 * i, out + i, output_stride); });
  } else {
    transpose_plane<typename Set::ByteTile, typename Set::SmallByteTile>(in, input_stride, out,
                                                                         output_stride, rows, cols);
  }
}

template <class Set>
void plane_bytes4(const void* input, size_t input_stride, void* output, size_t output_stride,
                  size_t rows, size_t cols) {
  transpose_plane<typename Set::WordTile, typename Set::SmallWordTile>(
      static_cast<const uint32_t*>(input), input_stride, static_cast<uint32_t*>(output),
      output_stride, rows, cols);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_COPY_PLANE_BLOCKS_H_
