// The wide family by the definitions of requant.h: the reference on every CPU, integers only.
#include "kernels/wide/wide_loops.h"

namespace qrt {

void wide_split_scalar(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  split(x, n, high, low);
}

void wide_combine_scalar(const CombineArgs& p) {
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

void wide_depthwise_scalar(const WideDepthwiseArgs& args) { depthwise(args, wide_combine_scalar); }

void wide_add_scalar(const AddIntParams& params, const WideRun& run) {
  for (size_t i = 0; i < run.n; ++i)
    run.y[i] = static_cast<int16_t>(
        add_int(params, run.a[run.a_is_scalar ? 0 : i], run.b[run.b_is_scalar ? 0 : i]));
}

void wide_mul_scalar(const WideMulParams& params, const WideRun& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const int32_t a = run.a[run.a_is_scalar ? 0 : i] - params.a_zero_point;
    const int32_t b = run.b[run.b_is_scalar ? 0 : i] - params.b_zero_point;
    run.y[i] = static_cast<int16_t>(requantize(params.requant, a * b, 0));
  }
}

void wide_rescale_scalar(const RescaleParams& params, const RescaleRun& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const int32_t x = run.from == WideElement::kUInt8   ? static_cast<const uint8_t*>(run.x)[i]
                      : run.from == WideElement::kInt16 ? static_cast<const int16_t*>(run.x)[i]
                                                        : static_cast<const int32_t*>(run.x)[i];
    const int32_t y = rescale(params, x, (run.channel + i) % run.channels);
    if (run.to == WideElement::kUInt8)
      static_cast<uint8_t*>(run.y)[i] = static_cast<uint8_t>(y);
    else if (run.to == WideElement::kInt16)
      static_cast<int16_t*>(run.y)[i] = static_cast<int16_t>(y);
    else
      static_cast<int32_t*>(run.y)[i] = y;
  }
}

}  // namespace qrt
