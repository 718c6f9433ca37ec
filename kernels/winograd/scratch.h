// SPDX-License-Identifier: Apache-2.0
// The layout of a block's scratch memory: transformed pixels [positions][tiles][channels] of int16,
// their products [positions][tiles][columns] of int32, and a tile on its way through a transform.
// Positions are 64 bytes further apart than they need, or all would share a few sets of the cache.
#ifndef QRT_KERNELS_WINOGRAD_SCRATCH_H_
#define QRT_KERNELS_WINOGRAD_SCRATCH_H_

#include "kernels/winograd/winograd.h"

namespace qrt {

constexpr size_t kWinogradMostTiles = 24;       // the most tiles of a block
constexpr size_t kWinogradTileBytes = 48 * 64;  // 36 x 16 int16, or 24 x 16 int32

// Channels of a transformed tile: whole vectors of 32.
inline size_t winograd_channels(const WinogradShape& shape) { return (shape.in_c + 31) / 32 * 32; }

// Bytes from position to position.
inline size_t winograd_pixel_stride(const WinogradShape& shape, size_t tiles) {
  return tiles * winograd_channels(shape) * sizeof(int16_t) + 64;
}
inline size_t winograd_sum_stride(size_t tiles) {
  return tiles * kWinogradColumns * sizeof(int32_t) + 64;
}

}  // namespace qrt

#endif  // QRT_KERNELS_WINOGRAD_SCRATCH_H_
