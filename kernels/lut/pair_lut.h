// SPDX-License-Identifier: Apache-2.0
// Functions of two bytes by table: y[i] = table[256 * a[i] + b[i]], of bytes or of float32. An
// operand may be one element, repeated: then bytes are a table of one byte (lut.h). Exactly n
// elements are stored; y of bytes may equal an operand; operands may be over-read by up to 64 bytes
// and the table, which need not be aligned, too. Thread-safe.
#ifndef QRT_KERNELS_LUT_PAIR_LUT_H_
#define QRT_KERNELS_LUT_PAIR_LUT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/lut/lut.h"

namespace qrt {

constexpr size_t kPairLutEntries = 65536;

struct PairLutArgs {
  const uint8_t* a;
  const uint8_t* b;
  bool a_is_scalar, b_is_scalar;
  void* y;
  size_t n;
};
void pair_lut_u8(const LutKernel& kernel, const uint8_t* table, const PairLutArgs& run);
void pair_lut_f32(const uint8_t* table, const PairLutArgs& run);

// Looks up one byte: y[r][c] = table of channel c at x[r][c], rows x channels float32; 256 float32
// for each channel.
void lut_f32(const uint8_t* tables, const uint8_t* x, uint8_t* y, size_t rows, size_t channels);

}  // namespace qrt

#endif  // QRT_KERNELS_LUT_PAIR_LUT_H_
