// MRT's fixed point: from real numbers and thresholds to the integers of a CVM model, formula by
// formula. Scales multiply: q = x * scale. Scale arithmetic is float64; what enters a model are
// integers.
//
// Precision p: values lie within +-alpha(p), so that p counts the sign and -2^(p-1) does not occur.
#ifndef QRT_CONVERTER_QUANTIZE_MRT_H_
#define QRT_CONVERTER_QUANTIZE_MRT_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace qrt::mrt {

// 2^(p-1) - 1, p 1 to 32.
constexpr int64_t alpha(int precision) { return (int64_t{1} << (precision - 1)) - 1; }

// Bits of k: 0, 1, 2, 2, 3 ... for 0, 1, 2, 3, 4 ...
int bits(uint64_t k);
// The precision that holds a real value once it is rounded: ceil(log2(|v| + 1)) + 1.
int precision_for(double v);

// --- symmetric quantisation
// alpha / max|x|; 1 where all is zero.
double symmetric_scale(double max_abs, int precision);
// Half away from zero, then clipped to +-alpha.
int32_t quantize(double x, double scale, int precision);

// --- the shifts of CVM's operators, arithmetic of int32
int32_t clip(int64_t x, int precision);
int32_t right_shift(int32_t x, int shift, int precision);  // half up; shift 1 to 32
int32_t left_shift(int32_t x, int shift, int precision);   // shift 1 to 31
// x * 2^-shift: one of the three.
int32_t realize(int32_t x, int shift, int precision);

// --- requantisation
// frac * 2^exponent, about a number: frac of at most bits - 1 bits.
struct Factor {
  int32_t frac = 0;
  int exponent = 0;
};
// Half to even; stops at an integer, so that powers of two have frac 1; capped at alpha(bits) rather
// than renormalised. REQUIRES: number >= 0 and finite, bits 1 to 32.
Factor cvm_float(double number, int bits);

// Two roundings, each of which may be missing: a right shift, then a factor and its shift.
struct Requantization {
  int shift = 0;            // 0: no first stage
  int shift_precision = 0;  // of its results
  std::optional<Factor> factor;
  int precision = 0;  // of the results
  double scale = 1;   // that the results really have, not the one that was asked for
};
// Of values of scale and precision `in`, at most threshold in real units. The first stage comes where
// it takes more than kShiftBits; the second where the precision is still too great or a scale is
// demanded. A threshold of 0: nothing, precision 1.
constexpr int kShiftBits = 5;
Requantization plan_requantization(double threshold, double scale_in, int precision_in,
                                   int precision_out, std::optional<double> demanded_scale);
int32_t requantize(const Requantization& r, int32_t x);

// --- with a zero point: x = (q - zero_point) / scale, 0 <= q <= 2^p - 1
struct ZeroPointScale {
  double scale = 1;
  int32_t zero_point = 0;
};
ZeroPointScale zero_point_scale(double min, double max, int precision);
int32_t quantize(double x, const ZeroPointScale& s, int precision);
// As the integers of CVM do it: a factor of each term, HU(frac1 * q, -e1) +- HU(frac2, -e2), up to one
// above the exact floor.
struct ZeroPointRequantization {
  Factor product, constant;  // of |zero_point_out - ratio * zero_point_in|
  int constant_sign = 1;
};
ZeroPointRequantization plan_requantization(const ZeroPointScale& in, const ZeroPointScale& out,
                                            int bits);
int64_t requantize(const ZeroPointRequantization& r, int32_t q);

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
// The most products of |x| <= max_x and |w| <= max_w that a sum of int32 takes.
int64_t most_terms(int64_t max_x, int64_t max_w);
// Precisions as CVM infers them; bias_precision 0: no bias.
int product_precision(int x, int w, int64_t terms, int bias_precision);
int sum_precision(int x, int64_t terms);
int clip_precision(int64_t lo, int64_t hi);

// --- operators
// The scale that all operands of an addition are brought to.
double addition_scale(double greatest_threshold, int precision);
// 1 / count as an integer of `precision`, and its scale: an average is a sum times this.
struct Constant {
  int32_t value = 0;
  double scale = 1;
};
Constant average_constant(int64_t count, int precision);
// TZ((e * scale + half) / sum), half = (sum + 1) >> 1, of exponentials e that a table gave.
std::vector<int32_t> softmax_tail(const std::vector<int32_t>& exponentials, int32_t scale,
                                  int precision);

}  // namespace qrt::mrt

#endif  // QRT_CONVERTER_QUANTIZE_MRT_H_
