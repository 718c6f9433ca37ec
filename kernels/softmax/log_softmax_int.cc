// SPDX-License-Identifier: Apache-2.0
// Two passes over a row with a table look-up each, and one logarithm.
#include "kernels/softmax/log_softmax_int.h"

#include "kernels/fixed_point.h"

namespace qrt {

void log_softmax_int_rows(const LogSoftmaxIntParams& p, const uint8_t* x, uint8_t* y, size_t rows,
                          size_t n) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    uint8_t greatest = 0;
    for (size_t i = 0; i < n; ++i) greatest = x[i] > greatest ? x[i] : greatest;
    const int32_t* e = p.exponential + 255 - greatest;
    const int32_t* t = p.difference + 255 - greatest;
    uint32_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const int32_t v = e[x[i]];
      if (v >= 0) sum += static_cast<uint32_t>(fixed::shift_half_away(v, 12));
    }
    const int32_t log = fixed::log_of_sum(static_cast<int32_t>(sum));
    const int64_t least = apply_stages(p.stages, p.stage_count, int64_t{log} + INT32_MIN, 0);
    for (size_t i = 0; i < n; ++i) {
      int64_t steps = 0;
      if (e[x[i]] >= 0 && int64_t{x[i]} - greatest > least) {
        const auto difference =
            static_cast<int32_t>(static_cast<uint32_t>(t[x[i]]) - static_cast<uint32_t>(log));
        steps = fixed::shift_half_away(difference, 22) + 255;
      }
      y[i] = static_cast<uint8_t>(steps > 255 ? 255 : steps < 0 ? 0 : steps);
    }
  }
}

}  // namespace qrt
