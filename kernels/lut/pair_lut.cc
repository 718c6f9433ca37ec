// SPDX-License-Identifier: Apache-2.0
// Functions of two bytes by table; see pair_lut.h.
#include "kernels/lut/pair_lut.h"

#include <string.h>

namespace qrt {
namespace {

// The number of elements from which on reading a column of the table together pays.
constexpr size_t kColumnFrom = 512;

template <size_t kBytes>
void map(const uint8_t* table, const PairLutArgs& run) {
  uint8_t* y = static_cast<uint8_t*>(run.y);
  const size_t a_step = run.a_is_scalar ? 0 : 1, b_step = run.b_is_scalar ? 0 : 1;
  for (size_t i = 0; i < run.n; ++i) {
    const size_t pair = size_t{256} * run.a[i * a_step] + run.b[i * b_step];
    memcpy(y + i * kBytes, table + pair * kBytes, kBytes);
  }
}

}  // namespace

void pair_lut_u8(const LutKernel& kernel, const uint8_t* table, const PairLutArgs& run) {
  uint8_t* y = static_cast<uint8_t*>(run.y);
  if (!run.a_is_scalar && !run.b_is_scalar) {
    kernel.map_pairs(table, run.a, run.b, y, run.n);
  } else if (!run.b_is_scalar) {
    kernel.map(table + size_t{256} * *run.a, run.b, y, run.n);
  } else if (!run.a_is_scalar && run.n >= kColumnFrom) {
    uint8_t column[256];
    for (size_t i = 0; i < 256; ++i) column[i] = table[256 * i + *run.b];
    kernel.map(column, run.a, y, run.n);
  } else {
    map<1>(table, run);
  }
}

void pair_lut_f32(const uint8_t* table, const PairLutArgs& run) { map<4>(table, run); }

void lut_f32(const uint8_t* tables, const uint8_t* x, uint8_t* y, size_t rows, size_t channels) {
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < channels; ++c, y += 4) memcpy(y, tables + 4 * (256 * c + *x++), 4);
}

}  // namespace qrt
