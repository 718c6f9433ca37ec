// digits.h by the definitions of requant.h: the reference on every CPU, integers only.
#include "kernels/gemm/digits_loops.h"

namespace qrt {

void digits_split_scalar(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  split(x, n, high, low);
}

void digits_combine_scalar(const CombineArgs& p) {
  for (size_t i = 0; i < p.rows; ++i) {
    for (size_t j = 0; j < p.n; ++j) {
      const int64_t high = p.high ? p.high[i * p.stride + j] : 0;
      int64_t acc = high * 256 + p.low[i * p.stride + j] + p.bias[p.channel + j];
      if (p.is_narrow) acc = static_cast<int32_t>(acc);
      const int64_t v = apply_stages(p.requant.stages, p.requant.stage_count, acc, p.channel + j);
      p.y[i * p.y_stride + j] =
          static_cast<int16_t>(clamp_int(v + p.requant.zero_point, p.requant.lo, p.requant.hi));
    }
  }
}

}  // namespace qrt
