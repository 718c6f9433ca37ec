// SPDX-License-Identifier: Apache-2.0
// TFLite's arithmetic as its sources state it, for oracles: nothing here is shared with the
// converter.
#ifndef QRT_TESTS_SUPPORT_TFLITE_REFERENCE_H_
#define QRT_TESTS_SUPPORT_TFLITE_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace qrt::testing {

struct ReferenceMultiplier {
  int32_t value;
  int shift;
};

inline ReferenceMultiplier reference_multiplier(double d) {
  if (d == 0) return {0, 0};
  int shift;
  const double q = std::frexp(d, &shift);
  int64_t value = std::llround(q * 2147483648.0);
  if (value == 2147483648) value /= 2, ++shift;
  if (shift < -31) return {0, 0};
  return {static_cast<int32_t>(value), shift};
}

// Returns the high half of the doubled product, nudged by the sign and divided towards zero.
inline int32_t reference_high_mul(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  const int64_t ab = static_cast<int64_t>(a) * b;
  const int64_t nudge = ab >= 0 ? 1 << 30 : 1 - (1 << 30);
  return static_cast<int32_t>((ab + nudge) / (int64_t{1} << 31));
}

inline int32_t reference_divide_by_power(int32_t x, int exponent) {
  const int32_t mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
  const int32_t remainder = x & mask, threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

inline int32_t reference_multiply(int32_t x, ReferenceMultiplier m, bool single) {
  if (single) {
    const int total = 31 - m.shift;
    const int64_t round = total == 0 ? 0 : int64_t{1} << (total - 1);
    return static_cast<int32_t>((static_cast<int64_t>(x) * m.value + round) >> total);
  }
  const int left = m.shift > 0 ? m.shift : 0, right = m.shift > 0 ? 0 : -m.shift;
  return reference_divide_by_power(
      reference_high_mul(static_cast<int32_t>(static_cast<uint32_t>(x) << left), m.value), right);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_TFLITE_REFERENCE_H_
