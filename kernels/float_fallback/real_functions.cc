// SPDX-License-Identifier: Apache-2.0
#include "kernels/float_fallback/real_functions.h"

#define QRT_FLOAT_LANES 4
#include "kernels/float_fallback/power.h"
#include "kernels/float_fallback/sine.h"

namespace qrt {
namespace {

constexpr double kHalfPi = 1.57079632679489661923, kLog2 = 0.69314718055994530942,
                 kLog2Inverse = 1.44269504088896340736;

double size_of(double x) { return x < 0 ? -x : x; }

// Returns log(1 + x) for x >= 0, 2 artanh(x / (2 + x)) where x is small.
double log_of_more(double x) {
  if (x > 0.25) return log2_of(1.0 + x) * kLog2;
  const double s = x / (2.0 + x), z = s * s;
  double p = 1.0 / 17;
  for (int i = 15; i >= 3; i -= 2) p = p * z + 1.0 / i;
  return 2 * (s + s * (z * p));
}

double tangent(float x) {
  const Reduced at = reduced(x);
  const double sine = sine_of_rest(at.rest), cosine = cosine_of_rest(at.rest);
  return (at.quadrant & 1) == 0 ? sine / cosine : -cosine / sine;
}

// REQUIRES: x is no NaN.
double arc_tangent(double x) {
  if (size_of(x) > 1) return (x < 0 ? -kHalfPi : kHalfPi) - arc_tangent(1 / x);
  double y = x;
  for (int i = 0; i < 2; ++i) y = y / (1 + __builtin_sqrt(1 + y * y));
  const double z = -y * y;
  double p = 1.0 / 25;
  for (int i = 23; i >= 3; i -= 2) p = p * z + 1.0 / i;
  return 4 * (y + y * (z * p));
}

double hyperbolic_sine(double x) {
  if (size_of(x) < 1) {
    const double z = x * x;
    double p = 1.0;
    for (int i = 16; i >= 2; i -= 2) p = 1.0 + z / (i * (i + 1)) * p;
    return x * p;
  }
  const double e = exp2_of(x * kLog2Inverse);
  return (e - 1 / e) / 2;
}

double hyperbolic_cosine(double x) {
  const double e = exp2_of(x * kLog2Inverse);
  return (e + 1 / e) / 2;
}

// Returns f(x). REQUIRES: x is no NaN, and 0 of an odd function is not asked for.
double real_function(FloatUnary f, float x) {
  const double v = static_cast<double>(x), a = size_of(v);
  const double far = a > 100 ? (v < 0 ? -100.0 : 100.0) : v;  // e^100 is more than any float
  double y;
  switch (f) {
    case FloatUnary::kTan: return tangent(x);
    case FloatUnary::kAtan: return arc_tangent(v);
    case FloatUnary::kAsin: return arc_tangent(v / __builtin_sqrt((1 - v) * (1 + v)));
    case FloatUnary::kAcos: return 2 * arc_tangent(__builtin_sqrt((1 - v) / (1 + v)));
    case FloatUnary::kSinh: return hyperbolic_sine(far);
    case FloatUnary::kCosh: return hyperbolic_cosine(far);
    case FloatUnary::kAcosh: return log_of_more((v - 1) + __builtin_sqrt((v - 1) * (v + 1)));
    case FloatUnary::kAsinh: y = log_of_more(a + a * a / (1 + __builtin_sqrt(1 + a * a))); break;
    default: y = log_of_more(2 * a / (1 - a)) / 2; break;  // kAtanh
  }
  return v < 0 ? -y : y;
}

// Returns whether f has a finite value, or an infinite one that the formula gives, at x.
bool is_defined(FloatUnary f, float x) {
  switch (f) {
    case FloatUnary::kTan: return x - x == 0.0f;
    case FloatUnary::kAsin:
    case FloatUnary::kAcos:
    case FloatUnary::kAtanh: return x >= -1.0f && x <= 1.0f;
    case FloatUnary::kAcosh: return x >= 1.0f;
    default: return x == x;
  }
}

bool is_infinite_with(FloatUnary f, float x) {
  if (f == FloatUnary::kAtanh) return x == 1.0f || x == -1.0f;
  return (f == FloatUnary::kAcosh || f == FloatUnary::kAsinh) && x - x != 0.0f;
}

}  // namespace

void real_functions(FloatUnary f, const float* x, float* y, size_t n) {
  const bool is_odd = f != FloatUnary::kAcos && f != FloatUnary::kCosh && f != FloatUnary::kAcosh;
  for (size_t i = 0; i < n; ++i) {
    if (!is_defined(f, x[i]))
      y[i] = not_a_number();
    else if (is_odd && x[i] == 0.0f)
      y[i] = x[i];
    else if (is_infinite_with(f, x[i]))
      y[i] = x[i] < 0 ? -infinity() : infinity();
    else
      y[i] = static_cast<float>(real_function(f, x[i]));
  }
}

float remainder_of(float a, float b) {
  const uint32_t a_bits = bits_of(a) & 0x7fffffff, b_bits = bits_of(b) & 0x7fffffff;
  constexpr uint32_t kInfinity = 0x7f800000;
  if (a_bits >= kInfinity || b_bits > kInfinity || b_bits == 0) return not_a_number();
  if (a_bits < b_bits) return a;
  // a and b are mantissas times 2^(exponent - 150), an exponent of 0 standing for 1.
  const auto mantissa = [](uint32_t bits) {
    return bits >> 23 == 0 ? uint64_t{bits} : uint64_t{(bits & 0x7fffff) | 0x800000};
  };
  const auto exponent = [](uint32_t bits) { return bits >> 23 == 0 ? 1u : bits >> 23; };
  const uint64_t divisor = mantissa(b_bits);
  uint64_t rest = mantissa(a_bits) % divisor;
  for (uint32_t left = exponent(a_bits) - exponent(b_bits); left > 0;) {
    const uint32_t shift = left < 40 ? left : 40;
    rest = (rest << shift) % divisor;
    left -= shift;
  }
  const uint64_t power_bits = uint64_t{exponent(b_bits) + (1023 - 150)} << 52;
  double power;
  __builtin_memcpy(&power, &power_bits, 8);
  const auto result = static_cast<float>(static_cast<double>(rest) * power);
  return bits_of(a) >> 31 != 0 ? -result : result;
}

}  // namespace qrt
