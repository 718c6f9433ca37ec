// SPDX-License-Identifier: Apache-2.0
// A float to the power of another, in float64: every operation is one of IEEE 754 in the order written. For kernel files only:
// everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_POWER_H_
#define QRT_KERNELS_FLOAT_FALLBACK_POWER_H_

#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// Returns the logarithm to base 2. REQUIRES: x is finite and above 0, a float's value.
inline double log2_of(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, 8);
  // x = 2^e m, m from sqrt(1 / 2) to sqrt(2).
  constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
  const int64_t e = static_cast<int64_t>(bits - kRootOfHalf) >> 52;
  bits -= static_cast<uint64_t>(e) << 52;
  double m;
  __builtin_memcpy(&m, &bits, 8);
  // ln m = 2 artanh(s), |s| < 0.1716: the first ten terms of its series leave less than 2^-54.
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return static_cast<double>(e) + (s + s * (z * p)) * 2.8853900817779268;  // 2 / ln 2
}

// Returns 2^x. REQUIRES: |x| <= 200.
inline double exp2_of(double x) {
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double n = (x + magic) - magic;
  // e^r, |r| <= ln 2 / 2: the terms of its series up to r^13.
  const double r = (x - n) * 0.69314718055994531;
  constexpr double kFactorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040,
                                    720,       120,      24,      6,      2,     1};
  double p = 1.0 / 6227020800;
  QRT_UNROLL
  for (const double factorial : kFactorials) p = p * r + 1.0 / factorial;
  p = p * r + 1.0;
  const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
  double power;
  __builtin_memcpy(&power, &bits, 8);
  return p * power;
}

// Returns a^b as the C standard's pow defines it.
inline float power_of(float a, float b) {
  if (b == 0.0f || a == 1.0f) return 1.0f;
  if (a != a || b != b) return not_a_number();
  const float size = a < 0.0f ? -a : a + 0.0f;
  const bool is_large = b >= 16777216.0f || b <= -16777216.0f;  // then it is an even integer
  const int32_t whole = is_large ? 0 : static_cast<int32_t>(b);
  const bool is_integer = is_large || static_cast<float>(whole) == b;
  const bool is_odd = is_integer && (whole & 1) != 0;
  double y;
  if (size == 0.0f || size == infinity()) {
    y = (size == 0.0f) == (b > 0.0f) ? 0.0 : static_cast<double>(infinity());
  } else if (a < 0.0f && !is_integer) {
    return not_a_number();
  } else if (b - b != 0.0f) {
    if (size == 1.0f) return 1.0f;
    return (size > 1.0f) == (b > 0.0f) ? infinity() : 0.0f;
  } else {
    const double x = static_cast<double>(b) * log2_of(static_cast<double>(size));
    y = exp2_of(x > 200.0 ? 200.0 : x < -200.0 ? -200.0 : x);
  }
  const auto result = static_cast<float>(y);
  return is_odd && bits_of(a) >> 31 != 0 ? -result : result;
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_POWER_H_
