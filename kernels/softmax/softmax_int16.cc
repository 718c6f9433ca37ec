// SPDX-License-Identifier: Apache-2.0
// Softmax of int16; see softmax_int16.h. The exponentials stand in the output until their sum is
// known.
#include "kernels/softmax/softmax_int16.h"

namespace qrt {
namespace {

int32_t look_up(const int16_t* table, int64_t v) {
  const int64_t i = 256 + (v >> 7);
  const int32_t slope = table[i + 1] - table[i];
  return table[i] + ((slope * static_cast<int32_t>(v & 127) + 64) >> 7);
}

}  // namespace

void softmax_int16_rows(const SoftmaxInt16Params& p, const int16_t* x, int16_t* y, size_t rows,
                        size_t n) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    int32_t greatest = x[0];
    for (size_t j = 1; j < n; ++j) greatest = x[j] > greatest ? x[j] : greatest;
    int32_t sum = 0;
    for (size_t j = 0; j < n; ++j) {
      const int64_t scaled = apply_stages(p.stages, p.stage_count, x[j] - greatest, 0);
      y[j] = static_cast<int16_t>(
          look_up(p.exponential, clamp_int(scaled + INT16_MAX, INT16_MIN, INT16_MAX)));
      sum += y[j];
    }
    const int top = 31 - __builtin_clz(static_cast<uint32_t>(sum));
    const int64_t mantissa = ((int64_t{sum} << (30 - top)) + (1 << 13)) >> 14;
    const int32_t reciprocal =
        look_up(p.reciprocal, clamp_int(mantissa - (1 << 15) - (1 << 16), INT16_MIN, INT16_MAX));
    for (size_t j = 0; j < n; ++j)
      y[j] = static_cast<int16_t>(
          clamp_int((int64_t{y[j]} * reciprocal + (int64_t{1} << (top - 1))) >> top, 0, INT16_MAX));
  }
}

}  // namespace qrt
