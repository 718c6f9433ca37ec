// SPDX-License-Identifier: Apache-2.0
// Integer average pool for every instruction set: sums of a block of channels in 16 bits for a part
// of a window's row, then in 32, in loops that compilers make vectors of; one division per output.
#include "kernels/pool/pool.h"
#include "kernels/pool/window.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 64;  // channels
constexpr size_t kPart = 256;  // positions whose sum fits in 16 bits

// Adds to sums[i] the sum over `count` positions of p[i], i < n <= kBlock.
inline void add_row(const uint8_t* p, size_t step, size_t count, size_t n, uint32_t* sums) {
  for (size_t begin = 0; begin < count; begin += kPart) {
    const size_t end = count - begin < kPart ? count : begin + kPart;
    uint16_t part[kBlock] = {};
    for (size_t j = begin; j < end; ++j, p += step) {
      if (n == kBlock) {
        for (size_t i = 0; i < kBlock; ++i) part[i] = static_cast<uint16_t>(part[i] + p[i]);
      } else {
        for (size_t i = 0; i < n; ++i) part[i] = static_cast<uint16_t>(part[i] + p[i]);
      }
    }
    for (size_t i = 0; i < kBlock; ++i) sums[i] += part[i];
  }
}

// Returns sum / count rounded half away from zero, plus the offset, within the limits.
inline uint8_t average(const AverageIntArgs& args, uint32_t sum, uint32_t count) {
  const int32_t acc = static_cast<int32_t>(sum) - args.offset * static_cast<int32_t>(count);
  const uint32_t magnitude = static_cast<uint32_t>(acc < 0 ? -acc : acc);
  const int32_t mean = static_cast<int32_t>((magnitude + count / 2) / count);
  const int32_t y = (acc < 0 ? -mean : mean) + args.offset;
  return static_cast<uint8_t>(y < args.lo ? args.lo : y > args.hi ? args.hi : y);
}

}  // namespace

void average_pool_int(const AverageIntArgs& args) {
  const PoolShape& s = args.shape;
  for (size_t row = args.row_begin; row < args.row_end; ++row) {
    const Window rows = window_rows(s, row);
    for (size_t col = 0; col < s.out_w; ++col) {
      const Window cols = window_cols(s, col);
      const uint32_t count = static_cast<uint32_t>(rows.count * cols.count);
      const uint8_t* x = args.input + (rows.first * s.in_w + cols.first) * s.c;
      uint8_t* y = args.output + (row * s.out_w + col) * s.c;
      for (size_t c = 0; c < s.c; c += kBlock) {
        const size_t n = s.c - c < kBlock ? s.c - c : kBlock;
        uint32_t sums[kBlock] = {};
        for (size_t i = 0; i < rows.count; ++i)
          add_row(x + i * s.in_w * s.c + c, s.c, cols.count, n, sums);
        for (size_t i = 0; i < n; ++i) y[c + i] = average(args, sums[i], count);
      }
    }
  }
}

}  // namespace qrt
