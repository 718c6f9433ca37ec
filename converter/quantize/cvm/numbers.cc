// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/cvm/numbers.h"

#include <algorithm>
#include <cmath>

#include "converter/quantize/mrt.h"

namespace qrt::quantize {
namespace {

constexpr int kMostPrecision = 32;
// Bits of a factor for all channels, sign included: its rounding error is far below that of 8 bits.
constexpr int kFactorBits = 14, kMostFactorBits = 16;
// Factors for each channel are used if rounding changes no factor by more than this fraction.
constexpr double kFineFactor = 0x1p-9;

// Returns the least precision whose integers reach `limit` in magnitude.
int precision_of(double limit) {
  int p = 1;
  while (p < kMostPrecision && static_cast<double>(mrt::alpha(p)) < limit) ++p;
  return p;
}

int32_t greatest(const std::vector<int32_t>& values) {
  return values.empty() ? 1 : *std::max_element(values.begin(), values.end());
}
int32_t least(const std::vector<int32_t>& values) {
  return values.empty() ? 1 : *std::min_element(values.begin(), values.end());
}

// Finds n with ratio = 2^-n. Returns false where the ratio is no power of two.
bool is_power(double ratio, int* n) {
  int exponent;
  if (std::frexp(ratio, &exponent) != 0.5) return false;
  *n = 1 - exponent;
  return true;
}

}  // namespace

double CvmNumbers::bound(const CvmNumber& x) const {
  return static_cast<double>(mrt::alpha(precision(x))) * greatest(x.factor) * x.step;
}

CvmNumber CvmNumbers::constant(const Tensor& reals, int precision, double step) {
  std::vector<int32_t> values;
  for (const float v : reals.reals)
    values.push_back(mrt::quantize(static_cast<double>(v), 1 / step, precision));
  const Dims shape = reals.shape.empty() ? Dims{1} : reals.shape;
  return {symbol_.add_parameter(shape, precision, values), step, {}, 0};
}

CvmNumber CvmNumbers::constant(const Tensor& reals, int precision) {
  double most = 0;
  for (const float v : reals.reals) most = std::max(most, std::fabs(static_cast<double>(v)));
  return constant(reals, precision, 1 / mrt::symmetric_scale(most, precision));
}

CvmNumber CvmNumbers::clipped(const CvmNumber& x, int precision) {
  if (this->precision(x) <= precision) return x;
  CvmNumber y = x;
  y.entry =
      add("cvm_clip", {x.entry}, shape(x), precision, {{"precision", std::to_string(precision)}});
  return y;
}

CvmNumber CvmNumbers::shifted(const CvmNumber& x, int shift, int precision) {
  if (shift == 0) return clipped(x, precision);
  CvmNumber y = x;
  const bool is_left = shift < 0;
  y.entry = add(is_left ? "cvm_left_shift" : "cvm_right_shift", {x.entry}, shape(x), precision,
                {{"precision", std::to_string(precision)},
                 {"shift_bit", std::to_string(is_left ? -shift : shift)}});
  y.step = std::ldexp(x.step, shift);
  return y;
}

// Multiplies the integers by `factors`, one for all channels or one for each; the result has the
// step of x and no factors. REQUIRES: the precisions of x and of the factors are at most 32
// together.
CvmNumber CvmNumbers::times(const CvmNumber& x, const std::vector<int32_t>& factors) {
  const int own = precision_of(greatest(factors));
  Dims broadcast = {static_cast<int64_t>(factors.size())};
  if (factors.size() > 1)
    for (size_t d = 2; d < shape(x).size(); ++d) broadcast.push_back(1);
  const int parameter = symbol_.add_parameter(broadcast, own, factors);
  return {add("broadcast_mul", {x.entry, parameter}, shape(x), precision(x) + own), x.step, {}, 0};
}

// Multiplies each channel by a factor of its own that converts to `step`, and shifts right. Returns
// false where the precision leaves too few bits for factors.
bool CvmNumbers::requantised_by_channel(const CvmNumber& x, double step, int precision,
                                        CvmNumber* y) {
  const int bits = std::min(kMostPrecision - this->precision(x), kMostFactorBits);
  if (bits < 2) return false;
  const double most = greatest(x.factor) * x.step / step;
  int shift;  // greatest shift with which the greatest factor fits in `bits`
  (void)std::frexp(static_cast<double>(mrt::alpha(bits)) / most, &shift);
  --shift;
  if (shift < 1 || shift > 31) return false;
  std::vector<int32_t> factors;
  for (const int32_t f : x.factor) {
    const double exact = std::ldexp(f * x.step / step, shift), rounded = std::round(exact);
    if (std::fabs(rounded - exact) > kFineFactor * exact) return false;
    factors.push_back(static_cast<int32_t>(rounded));
  }
  *y = shifted(times(x, factors), shift, precision);
  y->step = step;
  return true;
}

CvmNumber CvmNumbers::without_factors(const CvmNumber& x) {
  if (!x.has_factors()) return x;
  const int over = precision(x) + precision_of(greatest(x.factor)) - kMostPrecision;
  const CvmNumber fitting = over > 0 ? shifted(x, over, precision(x) - over) : x;
  return times(fitting, fitting.factor);
}

CvmNumber CvmNumbers::requantised(const CvmNumber& from, double step, int precision) {
  // Clips x to the range of the result first, which leaves more bits for the factors.
  const double limit = (static_cast<double>(mrt::alpha(precision)) + 1) * step;
  CvmNumber x = clipped(from, precision_of(limit / (from.step * least(from.factor))));
  if (CvmNumber y; x.has_factors() && requantised_by_channel(x, step, precision, &y)) return y;
  if (x.has_factors()) {
    x = without_factors(x);
    x = clipped(x, precision_of(limit / x.step));
  }
  int shift;
  if (is_power(x.step / step, &shift) && shift <= 31 && shift > -16) {
    x = shifted(x, shift, precision);
    x.step = step;
    return x;
  }
  const int over = this->precision(x) + kFactorBits - kMostPrecision;
  if (over > 0) x = shifted(x, over, this->precision(x) - over);
  const int bits = std::min(kMostPrecision - this->precision(x), kMostFactorBits);
  const mrt::Factor factor = mrt::cvm_float(x.step / step, bits);
  if (factor.exponent < -31) {  // all values become 0
    x = shifted(x, 31, 1);
  } else {
    if (factor.frac > 1) x = times(x, {factor.frac});
    x = shifted(x, -factor.exponent, precision);
  }
  // The rounding of the factor itself, about 2^-14 of the step, is neglected.
  x.step = step;
  return x;
}

CvmNumber CvmNumbers::byte_with_zero(const CvmNumber& x, int32_t zero) {
  const int parameter = symbol_.add_parameter({1}, kCvmByte, {zero});
  CvmNumber y = x;
  y.entry =
      add("broadcast_add", {x.entry, parameter}, shape(x), std::max(precision(x), kCvmByte) + 1);
  y = clipped(y, kCvmByte);
  y.zero = zero;
  return y;
}

CvmNumber CvmNumbers::relu(const CvmNumber& x) {
  CvmNumber y = x;
  y.entry = add("relu", {x.entry}, shape(x), precision(x));
  return y;
}

CvmNumber CvmNumbers::limited(const CvmNumber& x, double lo, double hi) {
  const auto most = static_cast<double>(mrt::alpha(precision(x)));
  const auto code = [&](double v) {
    return static_cast<int64_t>(std::clamp(std::round(v / x.step), -most, most));
  };
  const int64_t low = code(lo), high = std::max(code(hi), low + 1);
  if (high >= mrt::alpha(precision(x)) && low == 0) return relu(x);
  if (high >= mrt::alpha(precision(x)) && low == -mrt::alpha(precision(x))) return x;
  CvmNumber y = x;
  y.entry = add("clip", {x.entry}, shape(x), mrt::clip_precision(low, high),
                {{"a_min", std::to_string(low)}, {"a_max", std::to_string(high)}});
  return clipped(y, precision(x));
}

CvmNumber CvmNumbers::sum(const CvmNumber& a, const CvmNumber& b, bool is_difference,
                          const Dims& shape) {
  const bool is_plain = this->shape(a) == shape && this->shape(b) == shape;
  const std::string function =
      std::string(is_plain ? "elemwise_" : "broadcast_") + (is_difference ? "sub" : "add");
  CvmNumber y = a;
  y.entry = add(function, {a.entry, b.entry}, shape, std::max(precision(a), precision(b)) + 1);
  return y;
}

CvmNumber CvmNumbers::product(const CvmNumber& a, const CvmNumber& b, const Dims& shape) {
  return {add("broadcast_mul", {a.entry, b.entry}, shape, precision(a) + precision(b)),
          a.step * b.step,
          {},
          0};
}

CvmNumber CvmNumbers::moved(const std::string& function, const CvmNumber& x, const Dims& shape,
                            const CvmSymbol::Attributes& attributes) {
  CvmNumber y = x;
  y.entry = add(function, {x.entry}, shape, precision(x), attributes);
  return y;
}

CvmNumber CvmNumbers::reshaped(const CvmNumber& x, const Dims& shape) {
  if (shape == this->shape(x)) return x;
  return moved("reshape", x, shape, {{"shape", cvm_tuple(shape)}});
}

}  // namespace qrt::quantize
