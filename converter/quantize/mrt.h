// SPDX-License-Identifier: Apache-2.0
// MRT's fixed point: from real numbers and thresholds to the integers of a CVM model, formula by
// formula. Scales multiply: q = x * scale. Scale arithmetic is float64; what enters a model are
// integers.
//
// Precision p: values lie within +-alpha(p), so that p counts the sign and -2^(p-1) does not occur.
#ifndef QRT_CONVERTER_QUANTIZE_MRT_H_
#define QRT_CONVERTER_QUANTIZE_MRT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qrt::mrt {

// 2^(p-1) - 1, p 1 to 32.
constexpr int64_t alpha(int precision) { return (int64_t{1} << (precision - 1)) - 1; }

// Bits of k: 0, 1, 2, 2, 3 ... for 0, 1, 2, 3, 4 ...
int bits(uint64_t k);

// --- symmetric quantisation
// Returns alpha / max|x|; 1 where all is zero.
double symmetric_scale(double max_abs, int precision);
// Rounds half away from zero, then clips to +-alpha.
int32_t quantize(double x, double scale, int precision);
int32_t clip(int64_t x, int precision);

// --- requantisation
// frac * 2^exponent, about a number: frac of at most bits - 1 bits.
struct Factor {
  int32_t frac = 0;
  int exponent = 0;
};
// Approximates a number by an integer and a shift, rounding half to even. It stops at an integer,
// so that powers of two have frac 1, and is capped at alpha(bits) rather than renormalised.
// REQUIRES: number >= 0 and finite, bits 1 to 32.
Factor cvm_float(double number, int bits);

// --- with zero points
// A convolution with zero points on both sides: for every output channel o,
//   S = sum(xq * wq[o]) + c1[o] * sum of the window's xq + c2[o],
// the window summed over all its input channels and positions (a convolution with ones), and padding
// filled with zx. c1 = -zw[o], c2 = -zx * sum(wq[o]) + K * zx * zw[o].
struct ZeroPointTerms {
  std::vector<int64_t> c1, c2;
};
// weights [channels][k]; zw: one, or one per channel.
ZeroPointTerms zero_point_terms(const std::vector<int32_t>& weights, size_t channels, int32_t zx,
                                const std::vector<int32_t>& zw);

// --- bounds
// Return the precisions that CVM infers; bias_precision 0: no bias.
int product_precision(int x, int w, int64_t terms, int bias_precision);
int sum_precision(int x, int64_t terms);
int clip_precision(int64_t lo, int64_t hi);

}  // namespace qrt::mrt

#endif  // QRT_CONVERTER_QUANTIZE_MRT_H_
