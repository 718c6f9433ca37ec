// SPDX-License-Identifier: Apache-2.0
// A table per channel: y[row][c] = tables[256 * c + x[row][c]], dense rows of `channels` bytes.
// Kernels store nothing but the outputs; y may equal x. Thread-safe.
#ifndef QRT_KERNELS_LUT_CHANNEL_LUT_H_
#define QRT_KERNELS_LUT_CHANNEL_LUT_H_

#include "kernels/copy/copy.h"
#include "kernels/lut/lut.h"

namespace qrt {

// Looks up byte by byte. All instruction sets share this implementation.
void map_channels(const uint8_t* tables, const uint8_t* x, uint8_t* y, size_t rows,
                  size_t channels);

// A plan of look-ups by planes of channels. No instruction looks up bytes in one table for each
// channel, so a block of rows is transposed to planes of channels, each plane is mapped by its
// table in registers, and the result is transposed back.
struct ChannelPlanes {
  const LutKernel* lut;
  const CopyKernel* copy;
  size_t channels;
  size_t rows;  // rows of a block; 0 where map_channels() is faster

  // Returns the bytes of `planes` that map() needs, slack for over-reads included.
  size_t bytes() const { return rows * channels + 64; }

  // rows_of_block <= rows
  void map(const uint8_t* tables, const uint8_t* x, uint8_t* y, size_t rows_of_block,
           uint8_t* planes) const;
};

ChannelPlanes plan_channel_planes(IsaSet isas, size_t rows, size_t channels);

}  // namespace qrt

#endif  // QRT_KERNELS_LUT_CHANNEL_LUT_H_
