// Integer softmax: two table look-ups, a product and a shift per element, one reciprocal per row.
#include "kernels/softmax/softmax_int.h"

#include "kernels/fixed_point.h"

namespace qrt {

void softmax_int_rows(const int32_t* table, const uint8_t* x, uint8_t* y, size_t rows, size_t n) {
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    uint8_t greatest = 0;
    for (size_t i = 0; i < n; ++i) greatest = x[i] > greatest ? x[i] : greatest;
    const int32_t* e = table + 255 - greatest;
    uint32_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const int32_t v = e[x[i]];
      if (v >= 0) sum += static_cast<uint32_t>(fixed::shift_half_away(v, 12));
    }
    // The greatest element counts 2^19, so the sum is not zero.
    const int zeros = __builtin_clz(sum);
    const int32_t fraction = static_cast<int32_t>((sum << zeros) - (uint32_t{1} << 31));
    const int32_t inverse = fixed::reciprocal_of_one_plus(fraction);
    const int shift = 12 - zeros + 23;
    for (size_t i = 0; i < n; ++i) {
      const int32_t v = e[x[i]];
      const int64_t steps = v < 0 ? 0 : fixed::shift_half_away(fixed::srdhm(inverse, v), shift);
      y[i] = static_cast<uint8_t>(steps > 255 ? 255 : steps < 0 ? 0 : steps);
    }
  }
}

}  // namespace qrt
