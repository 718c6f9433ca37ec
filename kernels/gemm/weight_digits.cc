// Sums of weights of more than a byte, and accumulators as they are; see digits.h.
#include "kernels/gemm/digits.h"

namespace qrt {

void combine_weight_digits(const CombineWeightDigitsArgs& p) {
  const CombineArgs& a = p.args;
  for (size_t i = 0; i < a.rows; ++i) {
    for (size_t j = 0; j < a.n; ++j) {
      const size_t at = i * a.stride + j;
      int64_t acc = 0;
      for (size_t d = p.digits - 1; d > 0; --d)
        acc += int64_t{a.high[d * p.digit_stride + at]} * 256 + a.low[d * p.digit_stride + at];
      acc = acc * 256 + int64_t{a.high[at]} * 256 + a.low[at] + a.bias[a.channel + j];
      if (a.is_narrow) acc = static_cast<int32_t>(acc);
      const size_t to = i * a.y_stride + j;
      if (a.requant.kind == RequantKind::kAcc) {
        p.acc[to] = static_cast<int32_t>(acc);
        continue;
      }
      const int64_t v = apply_stages(a.requant.stages, a.requant.stage_count, acc, a.channel + j);
      a.y[to] =
          static_cast<int16_t>(clamp_int(v + a.requant.zero_point, a.requant.lo, a.requant.hi));
    }
  }
}

}  // namespace qrt
