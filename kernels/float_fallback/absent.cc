// SPDX-License-Identifier: Apache-2.0
// A build with QRT_INTEGER_ONLY: the runtime refuses models with layers left in float when it loads
// them, so that nothing calls these.
#include "kernels/float_fallback/float_fallback.h"
#include "kernels/float_fallback/grid_sample.h"

namespace qrt {

const FloatKernel* float_kernels(size_t* count) {
  *count = 0;
  return nullptr;
}
const FloatKernel* select_float(IsaSet) { return nullptr; }
void float_table(const float[256], const uint8_t*, float*, size_t) {}
void grid_sample(const GridSample&, const float*, const float*, size_t, float*) {}

}  // namespace qrt
