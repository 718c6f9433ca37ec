// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of TFLite's reference kernels (gemmlowp's Qm.n numbers of 32 bits):
// products, exp on negative numbers, logarithms, 1 / (1 + x). For the converter, which makes tables with it,
// and for the integer softmax. Integers only; every function gives the same bits everywhere.
#ifndef QRT_KERNELS_FIXED_POINT_H_
#define QRT_KERNELS_FIXED_POINT_H_

#include <cstdint>

namespace qrt::fixed {

constexpr int32_t kMax32 = INT32_MAX, kMin32 = INT32_MIN;

// Returns floor((a * b + 2^30) / 2^31): the product of two Q0.31 numbers, ties upwards.
static inline int32_t srdhm(int32_t a, int32_t b) {
  if (a == kMin32 && b == kMin32) return kMax32;
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// Returns v / 2^s, ties away from zero; 0 <= s <= 62.
static inline int64_t shift_half_away(int64_t v, int s) {
  if (s == 0) return v;
  return (v + (int64_t{1} << (s - 1)) - (v < 0 ? 1 : 0)) >> s;
}

// v * 2^s within int32; 0 <= s <= 31.
static inline int32_t saturating_shift_left(int32_t v, int s) {
  const int64_t wide = int64_t{v} * (int64_t{1} << s);
  return wide > kMax32 ? kMax32 : wide < kMin32 ? kMin32 : static_cast<int32_t>(wide);
}

// 1 / sqrt(x) as value / 2^31 / 2^right, 0 <= right <= 12: five steps of Newton's. Below 1: as of 1.
struct InverseRoot {
  int32_t value;
  int right;
};

static inline InverseRoot inverse_square_root(int32_t x) {
  if (x <= 1) return {kMax32, 0};
  int right = 11;  // x * 4^(right - 11) is in [2^27, 2^29)
  for (; x >= 1 << 29; x /= 4) ++right;
  for (; x < 1 << 27; x *= 4) --right;
  const int32_t half = static_cast<int32_t>(shift_half_away(x >> 1, 1));
  constexpr int32_t kOne = 1 << 28, kHalfThree = 3 << 27, kHalfSqrt2 = 1518500250;  // Q3.28, Q0.31
  int32_t root = kOne;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = saturating_shift_left(srdhm(srdhm(root, root), root), 6);
    root = saturating_shift_left(srdhm(kHalfThree, root) - srdhm(half, cube), 3);
  }
  root = srdhm(root, kHalfSqrt2);
  if (right < 0) return {root << -right, 0};
  return {root, right};
}

// Returns exp(a) as Q0.31 for a in [-1/4, 0), Q0.31: a Taylor series of fourth order around -1/8.
static inline int32_t exp_of_quarter(int32_t a) {
  constexpr int32_t kExpOfEighth = 1895147668, kThird = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = srdhm(x, x), x3 = srdhm(x2, x), x4 = srdhm(x2, x2);
  const int32_t t = static_cast<int32_t>(shift_half_away(x4, 2));
  const int32_t u = static_cast<int32_t>(shift_half_away(int64_t{srdhm(t + x3, kThird)} + x2, 1));
  return kExpOfEighth + srdhm(kExpOfEighth, x + u);
}

// Returns exp(a) as Q0.31 for a <= 0 with `integer_bits` (0..28) before the point.
static inline int32_t exp_of_negative(int32_t a, int integer_bits) {
  if (a == 0) return kMax32;
  const int fraction = 31 - integer_bits;
  if (integer_bits > 5 && a < -(int64_t{32} << fraction)) return 0;
  const int32_t quarter = 1 << (fraction - 2);
  const int32_t part = (a & (quarter - 1)) - quarter;
  int32_t result = exp_of_quarter(saturating_shift_left(part, integer_bits));
  // exp(-2^e) as Q0.31 for e = -2, -1, ... 4.
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  const int64_t rest = int64_t{part} - a;
  for (int e = -2; e <= 4 && integer_bits > e; ++e)
    if (rest >> (fraction + e) & 1) result = srdhm(result, kFactors[e + 2]);
  return result;
}

// Returns 2 / (1 + a) as Q2.29 for a in [0, 1], Q0.31: three steps of Newton and Raphson.
static inline int32_t twice_reciprocal(int32_t a) {
  constexpr int32_t kOne = 1 << 29;
  const int32_t half = static_cast<int32_t>((int64_t{a} + (int64_t{1} << 31)) >> 1);
  int32_t x = 1515870810 + srdhm(half, -1010580540);  // 48 / 17 - 32 / 17 * half
  for (int i = 0; i < 3; ++i) x += saturating_shift_left(srdhm(x, kOne - srdhm(half, x)), 2);
  return x;
}

// 1 / (1 + a) as Q0.31.
static inline int32_t reciprocal_of_one_plus(int32_t a) {
  return saturating_shift_left(twice_reciprocal(a), 1);
}

// (1 - a) / (1 + a) as Q0.31.
static inline int32_t one_minus_over_one_plus(int32_t a) {
  return saturating_shift_left(twice_reciprocal(a) - (1 << 29), 2);
}

// Returns the logarithm of a Q12.19 number as Q5.26, for x >= 1: of the number brought into [1/2,
// 1), a quotient of polynomials around the fourth root of 1/2, and its power of two.
static inline int32_t log_of_sum(int32_t x) {
  constexpr int32_t kLog2 = 1488522236, kRootHalf = 1518500250, kFourthRootHalf = 1805811301;
  // With f the fourth root of 2: 11 f / 240, f / 20, 2 / f - f and f / 4, all Q0.31.
  constexpr int32_t kN = 117049297, kD = 127690142, kI = 1057819769, kF = 638450708;
  constexpr int32_t kQuarter = 1 << 23;  // Q6.25
  const int zeros = __builtin_clz(static_cast<unsigned>(x));
  const int32_t a = saturating_shift_left(srdhm(saturating_shift_left(x, zeros - 1), kRootHalf), 1);
  const int32_t power_a = saturating_shift_left(12 - zeros, 25) + kQuarter;
  const int room = __builtin_clz(static_cast<unsigned>(srdhm(x, kRootHalf))) - 1;
  const int32_t b = saturating_shift_left(x, room);
  const int32_t power_b = saturating_shift_left(12 - room, 25) - kQuarter;
  const int32_t r = a < b ? a : b, power = power_a > power_b ? power_a : power_b;
  const auto mean = static_cast<int32_t>((int64_t{r} + kFourthRootHalf + 1) / 2);
  const int32_t q = 2 * (r - kFourthRootHalf), square = srdhm(q, q);
  const int32_t numerator = srdhm(q, r) + srdhm(srdhm(q, square), kN);
  const int32_t denominator = srdhm(mean, kI + q + srdhm(kD, square)) + srdhm(kF, q);
  const int32_t fraction = srdhm(static_cast<int32_t>(shift_half_away(numerator, 6)),
                                 reciprocal_of_one_plus(denominator));
  return saturating_shift_left(srdhm(power, kLog2) + fraction, 1);
}

}  // namespace qrt::fixed

#endif  // QRT_KERNELS_FIXED_POINT_H_
