// A build with QRT_INTEGER_ONLY: the runtime refuses models with float islands when it loads them,
// so that nothing calls these.
#include "kernels/island/island.h"

namespace qrt {

void island_unary(IslandUnary, const float*, float*, size_t) {}
void island_binary(IslandBinary, const float*, size_t, const float*, size_t, float*, size_t) {}
void island_rows(IslandRows, float, const float*, float*, size_t, size_t) {}
void island_product(const float*, const float*, size_t, size_t, float*) {}
void island_table(const float[256], const uint8_t*, float*, size_t) {}

}  // namespace qrt
