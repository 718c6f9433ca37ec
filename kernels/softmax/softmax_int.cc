// SPDX-License-Identifier: Apache-2.0
// Integer softmax: two table look-ups, a product and a shift per element, one reciprocal per row.
#include "kernels/softmax/softmax_int.h"

#include "kernels/fixed_point.h"

namespace qrt {
namespace {

// Computes rows. y: fractions of 2^-kBits, less `offset`.
template <int kBits, class T>
void softmax_rows_of(const int32_t* table, const uint8_t* x, T* y, size_t rows, size_t n,
                     int32_t offset) {
  constexpr int64_t kGreatest = (int64_t{1} << kBits) - 1;
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
    const int shift = 12 - zeros + 31 - kBits;
    for (size_t i = 0; i < n; ++i) {
      const int32_t v = e[x[i]];
      const int64_t steps = v < 0 ? 0 : fixed::shift_half_away(fixed::srdhm(inverse, v), shift);
      y[i] = static_cast<T>((steps > kGreatest ? kGreatest : steps < 0 ? 0 : steps) - offset);
    }
  }
}

}  // namespace

void softmax_int_rows(const int32_t* table, const uint8_t* x, uint8_t* y, size_t rows, size_t n) {
  softmax_rows_of<8>(table, x, y, rows, n, 0);
}

void softmax_int_rows(const int32_t* table, const uint8_t* x, int16_t* y, size_t rows, size_t n) {
  softmax_rows_of<16>(table, x, y, rows, n, 32768);
}

}  // namespace qrt
