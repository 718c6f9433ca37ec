// A build with QRT_INTEGER_ONLY: the runtime refuses models with layers left in float when it loads
// them, so that nothing calls these.
#include "kernels/float_fallback/float_fallback.h"

namespace qrt {

void float_unary(FloatUnary, const float*, float*, size_t) {}
void float_binary(FloatBinary, const float*, size_t, const float*, size_t, float*, size_t) {}
void float_rows(FloatRows, float, const float*, float*, size_t, size_t) {}
void float_product(const float*, const float*, size_t, size_t, float*) {}
void float_table(const float[256], const uint8_t*, float*, size_t) {}

}  // namespace qrt
