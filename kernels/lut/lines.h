// SPDX-License-Identifier: Apache-2.0
// Contract of the kernels of runtime/ops/channel_lines.h: y = clamp(round(x * slope + intercept), lo,
// hi), a fused multiply-add in float32 rounded half to even, or of the greater or the lesser of two;
// constants of their own for every channel. Without rows in a build without floating point.
#ifndef QRT_KERNELS_LUT_LINES_H_
#define QRT_KERNELS_LUT_LINES_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

// Constants of so many elements, one of a channel each. Those of lanes are in the order of unpacking
// bytes within each 128 bits of a register: line_lane().
constexpr size_t kLinesBlock = 64;
struct alignas(64) LineBlock {
  float slope[2][kLinesBlock], intercept[2][kLinesBlock];
  // The greater of two lines counts; the lesser, where their signs are changed: 2^31, else 0.
  uint32_t sign[kLinesBlock];
  uint8_t lo[kLinesBlock], hi[kLinesBlock];
  // `more` is added, modulo 256, where x is `at`: values halfway between two bytes that were rounded
  // the other way.
  uint8_t at[2][kLinesBlock], more[2][kLinesBlock];
  // The corrections that the block has: whether any lo > 0 or hi < 255, and how many of `at`.
  bool is_limited;
  uint8_t corrections;
};
struct LineConstants {
  const LineBlock* blocks;
  size_t period;  // elements, of one row or several, after which they repeat
};

// Returns the lane of byte i in a block of lanes, for registers of so many bytes, a power of two: a
// session asks for all of its channels, so without a division.
constexpr size_t line_lane(size_t i, size_t bytes) {
  const size_t in = i & (bytes - 1), quarter = in % 16 / 4;
  return i - in + quarter * (bytes / 4) + in / 16 * 4 + in % 4;
}

struct LinesKernel {
  const char* name;  // "lines_u8_avx2"; null with functions that are null: this set has none
  Isa isa;
  size_t (*bytes)();  // size of a register
  // Maps n elements, the first of them the first of a period, by one line, the greater of two, or of
  // two with signs. Exactly n bytes are stored; x may be over-read by up to 64 bytes; y may equal x.
  // Thread-safe.
  void (*map)(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n);
  void (*map_two)(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n);
  void (*map_signed)(const LineConstants& constants, const uint8_t* x, uint8_t* y, size_t n);
};

const LinesKernel* lines_kernels(size_t* count);
const LinesKernel* select_lines(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LINES_H_
