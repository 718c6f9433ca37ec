// SPDX-License-Identifier: Apache-2.0
// Listed planes by tiles, written once for all instruction sets.
#ifndef QRT_KERNELS_COPY_LISTED_TILES_H_
#define QRT_KERNELS_COPY_LISTED_TILES_H_

#include <string.h>

#include "kernels/copy/listed_planes.h"
#include "kernels/copy/plane_blocks.h"

namespace qrt {
namespace {

// Transposes a plane element by element, with the longer side in the inner loop, which takes the
// time. The lists are copied: stores of bytes may change what a reference refers to.
template <class T>
void listed_elements(const ListedPlane p) {
  const auto move = [](const uint8_t* from, uint8_t* to) { memcpy(to, from, sizeof(T)); };
  if (p.cols < p.rows) {
    for (size_t k = 0; k < p.cols; ++k) {
      const uint8_t* const in = p.input + p.input_at[k];
      uint8_t* const out = p.output + k * sizeof(T);
      for (size_t r = 0; r < p.rows; ++r) move(in + r * sizeof(T), out + p.output_at[r]);
    }
  } else {
    for (size_t r = 0; r < p.rows; ++r) {
      const uint8_t* const in = p.input + r * sizeof(T);
      uint8_t* const out = p.output + p.output_at[r];
      for (size_t k = 0; k < p.cols; ++k) move(in + p.input_at[k], out + k * sizeof(T));
    }
  }
}

// Transposes a plane by tiles: Tile::transpose(input, input_at, output, output_at) does Tile::kRows
// x Tile::kCols elements. The last tile of either direction is moved back to end with the plane.
template <class Tile>
void listed_tiles(const ListedPlane p) {
  for (size_t col = 0; col < p.cols; col += Tile::kCols) {
    const size_t k = p.cols - col < Tile::kCols ? p.cols - Tile::kCols : col;
    for (size_t row = 0; row < p.rows; row += Tile::kRows) {
      const size_t r = p.rows - row < Tile::kRows ? p.rows - Tile::kRows : row;
      Tile::transpose(p.input + r * Tile::kBytes, p.input_at + k, p.output + k * Tile::kBytes,
                      p.output_at + r);
    }
  }
}

// Moves a plane by the larger tiles that fit, or element by element.
template <class T, class Tile, class SmallTile>
void listed_plane(const ListedPlane p) {
  if (p.rows >= Tile::kRows && p.cols >= Tile::kCols)
    listed_tiles<Tile>(p);
  else if (p.rows >= SmallTile::kRows && p.cols >= SmallTile::kCols)
    listed_tiles<SmallTile>(p);
  else
    listed_elements<T>(p);
}

// Rows of one lane of 16 bytes, as many columns for each lane of V. A half of the rows is made at a time, so
// that nothing leaves the registers.
//
//   V::Register, V::kLanes
//   V::load(input, input_at, step)     lane l: 16 bytes at input_at[l * step]
//   V::store(p, v)                     all lanes
//   V::Zip<bytes>::low, high           of elements of so many bytes, within the lanes
template <class V, size_t kElementBytes>
struct ListedTile {
  static constexpr size_t kBytes = kElementBytes, kRows = 16 / kBytes, kCols = kRows * V::kLanes;
  using Register = typename V::Register;
  using Zip = typename V::template Zip<kBytes>;

  template <bool kHigh>
  static void half(const uint8_t* input, const size_t* input_at, uint8_t* output,
                   const size_t* output_at) {
    constexpr size_t n = kRows / 2;
    Register v[n], w[n];
#pragma GCC unroll 8
    for (size_t i = 0; i < n; ++i) {
      const Register a = V::load(input, input_at + i, kRows),
                     b = V::load(input, input_at + i + n, kRows);
      v[i] = kHigh ? Zip::high(a, b) : Zip::low(a, b);
    }
    if constexpr (n > 1) zip_round<Zip>(v, w);
    if constexpr (n > 2) zip_round<Zip>(w, v);
    if constexpr (n > 4) zip_round<Zip>(v, w);
    constexpr bool kInW = n == 2 || n == 8;
#pragma GCC unroll 8
    for (size_t i = 0; i < n; ++i) V::store(output + output_at[i], kInW ? w[i] : v[i]);
  }
  static void transpose(const uint8_t* input, const size_t* input_at, uint8_t* output,
                        const size_t* output_at) {
    half<false>(input, input_at, output, output_at);
    half<true>(input, input_at, output, output_at + kRows / 2);
  }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_COPY_LISTED_TILES_H_
