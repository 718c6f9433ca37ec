// SPDX-License-Identifier: Apache-2.0
// digits.h by the definitions of requant.h: the reference on every CPU, integers only.
#include "kernels/gemm/digits_loops.h"

namespace qrt {

void digits_split_scalar(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  split(x, n, high, low);
}

namespace {

int64_t accumulator(const CombineArgs& p, size_t row, size_t column) {
  int64_t sum[2] = {};  // of d0, and of the other digits
  for (size_t d = 0; d < p.digits; ++d) {
    const size_t at = d * p.digit_stride + row * p.stride + column;
    sum[d > 0] += int64_t{p.high ? p.high[at] : 0} * 256 + p.low[at];
  }
  return sum[0] + 256 * sum[1] + p.bias[p.channel + column];
}

}  // namespace

void combine_accumulators(const CombineArgs& p, int32_t* acc) {
  for (size_t i = 0; i < p.rows; ++i)
    for (size_t j = 0; j < p.n; ++j)
      acc[i * p.y_stride + j] = static_cast<int32_t>(accumulator(p, i, j));
}

void digits_combine_scalar(const CombineArgs& p) {
  for (size_t i = 0; i < p.rows; ++i) {
    for (size_t j = 0; j < p.n; ++j) {
      int64_t acc = accumulator(p, i, j);
      if (p.is_narrow) acc = static_cast<int32_t>(acc);
      const int64_t v = apply_stages(p.requant.stages, p.requant.stage_count, acc, p.channel + j);
      p.y[i * p.y_stride + j] =
          static_cast<int16_t>(clamp_int(v + p.requant.zero_point, p.requant.lo, p.requant.hi));
    }
  }
}

}  // namespace qrt
