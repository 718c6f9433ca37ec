// SPDX-License-Identifier: Apache-2.0
#include "kernels/lut/channel_lut.h"

namespace qrt {
namespace {

// The most rows of a block: few enough for the planes to stay in the second-level cache.
constexpr size_t kMostRows = 256, kPlanesBytes = 64 << 10;
constexpr size_t kMostChannels = 4096;

// Returns the least rows of a block that pay for bringing a table into registers: four registers of
// VBMI, 16 of the other sets.
size_t least_rows(Isa isa) { return isa == Isa::kAvx512Vbmi ? 32 : 64; }

}  // namespace

// Walks the rows once for every block of channels: a block's tables (16 KiB) stay in the L1 cache.
void map_channels(const uint8_t* tables, const uint8_t* x, uint8_t* y, size_t rows,
                  size_t channels) {
  constexpr size_t kBlock = 64;
  for (size_t first = 0; first < channels; first += kBlock) {
    const size_t end = channels - first < kBlock ? channels : first + kBlock;
    for (size_t r = 0; r < rows; ++r) {
      const uint8_t* from = x + r * channels;
      uint8_t* to = y + r * channels;
      for (size_t c = first; c < end; ++c) to[c] = tables[256 * c + from[c]];
    }
  }
}

void ChannelPlanes::map(const uint8_t* tables, const uint8_t* x, uint8_t* y, size_t rows_of_block,
                        uint8_t* planes) const {
  const size_t n = rows_of_block;
  const auto transpose = [this](size_t in_rows, size_t in_columns, const uint8_t* from,
                                uint8_t* to) {
    constexpr uint8_t kSwap[] = {1, 0};
    const int64_t dims[] = {static_cast<int64_t>(in_rows), static_cast<int64_t>(in_columns)};
    const TransposePlan plan = plan_transpose(dims, 2, kSwap, 1);
    copy->transpose(plan, from, to, 0, plan.rank == 0 ? 1 : plan.dims[0]);
  };
  transpose(n, channels, x, planes);
  for (size_t c = 0; c < channels; ++c) {
    uint8_t* const plane = planes + c * n;
    lut->map(tables + 256 * c, plane, plane, n);
  }
  transpose(channels, n, planes, y);
}

ChannelPlanes plan_channel_planes(IsaSet isas, size_t rows, size_t channels) {
  ChannelPlanes p = {select_lut(isas), select_copy(isas), channels, 0};
  const size_t least = least_rows(p.lut->isa);
  if (p.lut->isa == Isa::kScalar || rows < least || channels > kMostChannels) return p;
  p.rows = kPlanesBytes / channels / least * least;
  p.rows = p.rows < least ? least : p.rows > kMostRows ? kMostRows : p.rows;
  return p;
}

}  // namespace qrt
