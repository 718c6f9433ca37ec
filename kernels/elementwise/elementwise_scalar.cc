// Elementwise add and mul by the definitions of requant.h, in integers. Slow: the fallback of CPUs
// without a vector row, and of vector rows for the forms they have no fast path for.
#include "kernels/elementwise/entry.h"

namespace qrt {

void elementwise_add_scalar(const AddParams& params, const ElementwiseRun& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const uint8_t a = run.a[run.a_is_scalar ? 0 : i], b = run.b[run.b_is_scalar ? 0 : i];
    run.y[i] = static_cast<uint8_t>(add_f32(params, a, b));
  }
}

void elementwise_add_int_scalar(const AddIntParams& params, const ElementwiseRun& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const uint8_t a = run.a[run.a_is_scalar ? 0 : i], b = run.b[run.b_is_scalar ? 0 : i];
    run.y[i] = static_cast<uint8_t>(add_int(params, a, b));
  }
}

void elementwise_mul_scalar(const MulParams& params, const ElementwiseRun& run) {
  for (size_t i = 0; i < run.n; ++i) {
    const int32_t a = run.a[run.a_is_scalar ? 0 : i] - params.a_zero_point;
    const int32_t b = run.b[run.b_is_scalar ? 0 : i] - params.b_zero_point;
    run.y[i] = static_cast<uint8_t>(requantize(params.requant, a * b, 0));
  }
}

}  // namespace qrt
