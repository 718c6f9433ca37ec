// SPDX-License-Identifier: Apache-2.0
#include "runtime/ops/channel_lines.h"

#include <string.h>

#include <algorithm>
#include <numeric>

namespace qrt {
namespace {

// Rows whose constants follow each other, so that few registers are filled in part.
size_t rows_of_period(size_t channels) {
  constexpr size_t kMost = 2048;  // elements
  const size_t whole = kLinesBlock / std::gcd(kLinesBlock, channels);
  return std::min(whole, std::max<size_t>(kMost / channels, 1));
}

size_t blocks_of(size_t channels) {
  return (channels * rows_of_period(channels) + kLinesBlock - 1) / kLinesBlock;
}

}  // namespace

ChannelLines::ChannelLines(const LinesKernel* kernel, size_t channels)
    : kernel_(kernel),
      channels_(channels),
      period_(channels * rows_of_period(channels)),
      blocks_(blocks_of(channels)) {}

size_t ChannelLines::bytes(size_t channels) {
  return sizeof(ChannelLines) + blocks_of(channels) * sizeof(LineBlock);
}

void ChannelLines::map(const uint8_t* x, uint8_t* y, size_t n) const {
  const auto map = signed_ ? kernel_->map_signed : two_ ? kernel_->map_two : kernel_->map;
  map({blocks_.data(), period_}, x, y, n);
}

void ChannelLines::set(size_t channel, const TableLines& lines, bool is_limited) {
  const double sign = lines.lesser ? -1 : 1;
  for (size_t at = channel; at < period_; at += channels_) {
    LineBlock& block = blocks_[at / kLinesBlock];
    const size_t i = at % kLinesBlock, lane = line_lane(i, kernel_->bytes());
    for (int line = 0; line < 2; ++line) {
      const int from = lines.two ? line : 0;
      block.slope[line][lane] = static_cast<float>(sign * lines.slope[from]);
      block.intercept[line][lane] = static_cast<float>(sign * lines.intercept[from]);
    }
    block.sign[lane] = lines.lesser ? uint32_t{1} << 31 : 0;
    block.lo[i] = is_limited ? lines.lo : 0;
    block.hi[i] = is_limited ? lines.hi : 255;
    block.is_limited = block.is_limited || is_limited;
  }
  two_ = two_ || lines.two;
  signed_ = signed_ || lines.lesser;
}

// Adds what entries that came out wrong lack. False: they are more than can be mended.
bool ChannelLines::correct(size_t channel, const uint8_t got[256], const uint8_t table[256]) {
  size_t wrong[2] = {};
  int count = 0;
  for (size_t x = 0; x < 256; ++x) {
    if (got[x] == table[x]) continue;
    if (count == 2) return false;
    wrong[count++] = x;
  }
  for (int i = 0; i < count; ++i) {
    for (size_t at = channel; at < period_; at += channels_) {
      LineBlock& block = blocks_[at / kLinesBlock];
      block.at[i][at % kLinesBlock] = static_cast<uint8_t>(wrong[i]);
      block.more[i][at % kLinesBlock] = static_cast<uint8_t>(table[wrong[i]] - got[wrong[i]]);
      block.corrections = std::max(block.corrections, static_cast<uint8_t>(i + 1));
    }
  }
  return true;
}

// Fits lines to the channels' tables, and tries every entry with the kernel itself. Null where it
// gives another result.
std::unique_ptr<const ChannelLines> ChannelLines::fit(IsaSet isas, const uint8_t* tables,
                                                      size_t channels, int searches) {
  const LinesKernel* const kernel = select_lines(isas);
  if (kernel->map == nullptr) return nullptr;
  uint8_t every[256 + kLinesBlock], got[2][256];
  std::iota(every, every + sizeof every, uint8_t{0});
  ChannelLines one(kernel, 1);
  std::unique_ptr<ChannelLines> all(new ChannelLines(kernel, channels));
  TableLines lines = kNoLines;
  for (size_t c = 0; c < channels; ++c) {
    const uint8_t* const table = tables + 256 * c;
    bool is_limited = false;
    const auto gives = [&](const TableLines& tried) {
      // Tries first without limits: lines that end within the bytes have them by themselves, and save the work.
      for (const bool limits : {false, true}) {
        is_limited = limits;
        one.blocks_[0].is_limited = one.two_ = one.signed_ = false;
        one.set(0, tried, limits);
        one.map(every, got[limits], 256);
        if (memcmp(got[limits], table, 256) == 0) return true;
      }
      is_limited = !all->correct(c, got[false], table);
      return !is_limited || all->correct(c, got[true], table);
    };
    if (!fit_lines(table, gives, &searches, &lines)) return nullptr;
    all->set(c, lines, is_limited);
  }
  return all;
}

}  // namespace qrt
