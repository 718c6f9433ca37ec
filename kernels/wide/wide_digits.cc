// What is too wide for the vectors of the family, for every instruction set: weights of more than a
// byte, accumulators as they are, products beyond int32.
#include "kernels/wide/wide.h"

namespace qrt {

void wide_combine_digits(const CombineDigitsArgs& p) {
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

void wide_mul_far(const WideMulParams& params, const WideRun& run) {
  const Requant& r = params.requant;
  for (size_t i = 0; i < run.n; ++i) {
    const int64_t a = run.a[run.a_is_scalar ? 0 : i] - params.a_zero_point;
    const int64_t b = run.b[run.b_is_scalar ? 0 : i] - params.b_zero_point;
    const int64_t v = apply_stages(r.stages, r.stage_count, a * b, 0);
    run.y[i] = static_cast<int16_t>(clamp_int(v + r.zero_point, r.lo, r.hi));
  }
}

}  // namespace qrt
