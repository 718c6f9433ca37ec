// SPDX-License-Identifier: Apache-2.0
// Elementwise add and mul by the definitions of requant.h, in integers. Slow: the fallback of CPUs
// without a vector row, and of vector rows for the forms they have no fast path for.
#include "kernels/elementwise/entry.h"

namespace qrt {

void elementwise_add_scalar(const AddParams& params, const ElementwiseArgs& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const uint8_t a = run.a[run.a_is_scalar ? 0 : i], b = run.b[run.b_is_scalar ? 0 : i];
    run.y[i] = static_cast<uint8_t>(add_f32(params, a, b));
  }
}

void elementwise_add_int_scalar(const AddIntParams& params, const ElementwiseArgs& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const uint8_t a = run.a[run.a_is_scalar ? 0 : i], b = run.b[run.b_is_scalar ? 0 : i];
    run.y[i] = static_cast<uint8_t>(add_int(params, a, b));
  }
}

void elementwise_mul_scalar(const MulParams& params, const ElementwiseArgs& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const int32_t a = run.a[run.a_is_scalar ? 0 : i] - params.a_zero_point;
    const int32_t b = run.b[run.b_is_scalar ? 0 : i] - params.b_zero_point;
    run.y[i] = static_cast<uint8_t>(requantize(params.requant, a * b, 0));
  }
}

void elementwise_add_int16_scalar(const AddIntParams& params, const Int16Args& run) {
  for (size_t i = 0; i < run.n; ++i)
    run.y[i] = static_cast<int16_t>(
        add_int(params, run.a[run.a_is_scalar ? 0 : i], run.b[run.b_is_scalar ? 0 : i]));
}

void elementwise_mul_int16_scalar(const MulParams& params, const Int16Args& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const int32_t a = run.a[run.a_is_scalar ? 0 : i] - params.a_zero_point;
    const int32_t b = run.b[run.b_is_scalar ? 0 : i] - params.b_zero_point;
    run.y[i] = static_cast<int16_t>(requantize(params.requant, a * b, 0));
  }
}

void mul_int16_in_64_bits(const MulParams& params, const Int16Args& run) {
  const Requant& r = params.requant;
  for (size_t i = 0; i < run.n; ++i) {
    const int64_t a = run.a[run.a_is_scalar ? 0 : i] - params.a_zero_point;
    const int64_t b = run.b[run.b_is_scalar ? 0 : i] - params.b_zero_point;
    const int64_t v = apply_stages(r.stages, r.stage_count, a * b, 0);
    run.y[i] = static_cast<int16_t>(clamp_int(v + r.zero_point, r.lo, r.hi));
  }
}

void elementwise_rescale_scalar(const RescaleParams& params, const RescaleArgs& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const int32_t x = run.from == DType::kUInt8   ? static_cast<const uint8_t*>(run.x)[i]
                      : run.from == DType::kInt16 ? static_cast<const int16_t*>(run.x)[i]
                                                  : static_cast<const int32_t*>(run.x)[i];
    const int32_t y = rescale(params, x, (run.channel + i) % run.channels);
    if (run.to == DType::kUInt8)
      static_cast<uint8_t*>(run.y)[i] = static_cast<uint8_t>(y);
    else if (run.to == DType::kInt16)
      static_cast<int16_t*>(run.y)[i] = static_cast<int16_t>(y);
    else
      static_cast<int32_t*>(run.y)[i] = y;
  }
}

}  // namespace qrt
