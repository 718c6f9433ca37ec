// The formulas of mrt.h.
#include "converter/quantize/mrt.h"

#include <algorithm>
#include <cmath>

#include "kernels/requant.h"

namespace qrt::mrt {

int bits(uint64_t k) {
  int n = 0;
  for (; k != 0; k >>= 1) ++n;
  return n;
}

int precision_for(double v) { return static_cast<int>(std::ceil(std::log2(std::fabs(v) + 1))) + 1; }

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

int32_t right_shift(int32_t x, int shift, int precision) {
  return clip(rounding_shift(x, shift, Round::kHalfUp), precision);
}

int32_t left_shift(int32_t x, int shift, int precision) {
  return clip(static_cast<int32_t>(static_cast<uint32_t>(x) << shift), precision);
}

int32_t realize(int32_t x, int shift, int precision) {
  if (shift == 0) return clip(x, precision);
  return shift > 0 ? right_shift(x, shift, precision) : left_shift(x, -shift, precision);
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

Requantization plan_requantization(double threshold, double scale_in, int precision_in,
                                   int precision_out, std::optional<double> demanded_scale) {
  Requantization r;
  r.precision = precision_in;
  r.scale = scale_in;
  if (threshold == 0) {
    r.precision = 1;
    r.scale = demanded_scale.value_or(1);
    return r;
  }
  const int shift = precision_for(threshold * scale_in) - precision_out;
  if (shift > kShiftBits) {
    r.shift = shift;
    r.shift_precision = r.precision = precision_in - shift;
    r.scale = std::ldexp(scale_in, -shift);
  }
  if (r.precision <= precision_out && !demanded_scale) return r;
  const double target =
      demanded_scale.value_or(static_cast<double>(alpha(precision_out)) / threshold);
  r.factor = cvm_float(target / r.scale, 32 - r.precision);
  r.scale = std::ldexp(r.scale * r.factor->frac, r.factor->exponent);
  r.precision = precision_out;
  return r;
}

int32_t requantize(const Requantization& r, int32_t x) {
  if (r.shift > 0) x = right_shift(x, r.shift, r.shift_precision);
  if (!r.factor) return x;
  const auto product = static_cast<int32_t>(int64_t{x} * r.factor->frac);
  return realize(product, -r.factor->exponent, r.precision);
}

ZeroPointScale zero_point_scale(double min, double max, int precision) {
  const double scale = std::ldexp(1, precision) - 1;
  const double s = max > min ? scale / (max - min) : 1;
  return {s, static_cast<int32_t>(std::ceil(-s * min))};
}

int32_t quantize(double x, const ZeroPointScale& s, int precision) {
  return static_cast<int32_t>(
      std::clamp(std::floor(s.scale * x + s.zero_point), 0.0, std::ldexp(1, precision) - 1));
}

ZeroPointRequantization plan_requantization(const ZeroPointScale& in, const ZeroPointScale& out,
                                            int bits) {
  const double ratio = out.scale / in.scale, constant = out.zero_point - ratio * in.zero_point;
  return {cvm_float(ratio, bits), cvm_float(std::fabs(constant), bits), constant < 0 ? -1 : 1};
}

int64_t requantize(const ZeroPointRequantization& r, int32_t q) {
  const auto rounded = [](int64_t v, int exponent) {
    return exponent >= 0 ? v * (int64_t{1} << exponent)
                         : rounding_shift(v, -exponent, Round::kHalfUp);
  };
  return rounded(int64_t{q} * r.product.frac, r.product.exponent) +
         r.constant_sign * rounded(r.constant.frac, r.constant.exponent);
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

int64_t most_terms(int64_t max_x, int64_t max_w) { return INT32_MAX / (max_x * max_w); }

int product_precision(int x, int w, int64_t terms, int bias_precision) {
  const int p = x + w + bits(static_cast<uint64_t>(terms));
  return bias_precision == 0 ? p : std::max(p, bias_precision) + 1;
}

int sum_precision(int x, int64_t terms) { return x + bits(static_cast<uint64_t>(terms)); }

int clip_precision(int64_t lo, int64_t hi) {
  const int64_t most = std::max(lo < 0 ? -lo : lo, hi < 0 ? -hi : hi);
  return bits(static_cast<uint64_t>(most) + 1) + 1;
}

double addition_scale(double greatest_threshold, int precision) {
  return symmetric_scale(greatest_threshold, precision);
}

Constant average_constant(int64_t count, int precision) {
  const double part = 1 / static_cast<double>(count);
  const double scale = static_cast<double>(alpha(precision)) * static_cast<double>(count);
  return {quantize(part, scale, precision), scale};
}

std::vector<int32_t> softmax_tail(const std::vector<int32_t>& exponentials, int32_t scale,
                                  int precision) {
  int64_t sum = 0;
  for (int32_t e : exponentials) sum += e;
  std::vector<int32_t> y;
  for (int32_t e : exponentials) {
    const int64_t quotient = sum == 0 ? 0 : (int64_t{e} * scale + ((sum + 1) >> 1)) / sum;
    y.push_back(clip(quotient, precision));
  }
  return y;
}

}  // namespace qrt::mrt
