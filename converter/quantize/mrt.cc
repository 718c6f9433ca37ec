// SPDX-License-Identifier: Apache-2.0
// The formulas of mrt.h.
#include "converter/quantize/mrt.h"

#include <algorithm>
#include <cmath>

namespace qrt::mrt {

int bits(uint64_t k) {
  int n = 0;
  for (; k != 0; k >>= 1) ++n;
  return n;
}

double symmetric_scale(double max_abs, int precision) {
  return max_abs == 0 ? 1 : static_cast<double>(alpha(precision)) / max_abs;
}

int32_t quantize(double x, double scale, int precision) {
  const double limit = static_cast<double>(alpha(precision));
  return static_cast<int32_t>(std::clamp(std::round(x * scale), -limit, limit));
}

int32_t clip(int64_t x, int precision) {
  return static_cast<int32_t>(std::clamp(x, -alpha(precision), alpha(precision)));
}

Factor cvm_float(double number, int bits) {
  if (number == 0) return {};
  int exponent;
  double m = 2 * std::frexp(number, &exponent);  // 1 <= m < 2
  --exponent;
  for (int left = bits - 1; left > 1 && m != std::floor(m); --left) {
    m *= 2;
    --exponent;
  }
  // m is below 2^31: half to even without the floating-point environment.
  const double below = std::floor(m), rest = m - below;
  int64_t frac = static_cast<int64_t>(below);
  if (rest > 0.5 || (rest == 0.5 && frac % 2 != 0)) ++frac;
  return {static_cast<int32_t>(std::min(frac, std::max<int64_t>(alpha(bits), 1))), exponent};
}

ZeroPointTerms zero_point_terms(const std::vector<int32_t>& weights, size_t channels, int32_t zx,
                                const std::vector<int32_t>& zw) {
  ZeroPointTerms terms;
  const size_t k = weights.size() / channels;
  for (size_t o = 0; o < channels; ++o) {
    int64_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += weights[o * k + i];
    const int64_t z = zw[zw.size() == 1 ? 0 : o];
    terms.c1.push_back(-z);
    terms.c2.push_back(-zx * sum + static_cast<int64_t>(k) * zx * z);
  }
  return terms;
}

int product_precision(int x, int w, int64_t terms, int bias_precision) {
  const int p = x + w + bits(static_cast<uint64_t>(terms));
  return bias_precision == 0 ? p : std::max(p, bias_precision) + 1;
}

int sum_precision(int x, int64_t terms) { return x + bits(static_cast<uint64_t>(terms)); }

int clip_precision(int64_t lo, int64_t hi) {
  const int64_t most = std::max(lo < 0 ? -lo : lo, hi < 0 ? -hi : hi);
  return bits(static_cast<uint64_t>(most) + 1) + 1;
}

}  // namespace qrt::mrt
