// SPDX-License-Identifier: Apache-2.0
#include "converter/portable_math.h"

#include <cmath>

namespace qrt::convert {
namespace {

// ln 2: 32 bits, so that products with exponents are exact, and the rest.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

}  // namespace

// Returns exp(x) by x = n ln 2 + r with |r| <= ln 2 / 2 and the series of exp(r), whose first
// omitted term is below 2^-57.
double portable_exp(double x) {
  const double n = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  constexpr int kTerms = 14;
  double sum = 1;
  for (int i = kTerms; i > 0; --i) sum = sum * (r / i) + 1;
  return std::ldexp(sum, static_cast<int>(n));
}

// Returns log(x) by x = 2^n m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh(s), s = (m - 1)
// / (m + 1), by its series, whose first omitted term is below 2^-65.
double portable_log(double x) {
  int n;
  double m = std::frexp(x, &n);
  if (m < 0.70710678118654752) {
    m *= 2;
    --n;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  constexpr int kLast = 23;
  double sum = 0;
  for (int i = kLast; i > 1; i -= 2) sum = (sum + 1.0 / i) * square;
  const double part = 2 * s + 2 * s * sum;
  return n * kLn2High + (n * kLn2Low + part);
}

}  // namespace qrt::convert
