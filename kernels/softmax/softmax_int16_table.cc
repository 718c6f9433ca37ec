// SPDX-License-Identifier: Apache-2.0
// Softmax of int16 in integers; see softmax_int16_table.h.
#include "kernels/softmax/softmax_int16_table.h"

namespace qrt {

void softmax_int16_table_rows(const SoftmaxInt16TableParams& params, const int16_t* x, int16_t* y,
                              size_t rows, size_t n) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    int16_t m = x[0];
    for (size_t i = 1; i < n; ++i) m = x[i] > m ? x[i] : m;
    const auto e = [&](int16_t v) {
      return static_cast<uint64_t>(
          params.table[static_cast<int32_t>(kSoftmaxTableEntries) - 1 + v - m]);
    };
    uint64_t sum = 0;
    for (size_t i = 0; i < n; ++i) sum += e(x[i]);
    for (size_t i = 0; i < n; ++i) {
      const uint64_t dividend = e(x[i]) * kSoftmaxTableOne + sum / 2;
      const int64_t p = static_cast<int64_t>(dividend / sum);
      const int64_t v = apply_stages(params.stages, params.stage_count, p, 0);
      y[i] = static_cast<int16_t>(clamp_int(v + params.zero_point, INT16_MIN, INT16_MAX));
    }
  }
}

}  // namespace qrt
