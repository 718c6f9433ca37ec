// Functions of layers left in float. The polynomials are those of Cephes (S. Moshier), single
// precision.
#include "kernels/float_fallback/float_fallback.h"

#include <string.h>

namespace qrt {
namespace {

float from_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

// One NaN for all: their bits differ between CPUs.
float canonical(float f) { return f == f ? f : from_bits(0x7fc00000); }

float infinity() { return from_bits(0x7f800000); }

// 2^e for e in -126..127.
float power_of_two(int e) { return from_bits(static_cast<uint32_t>(e + 127) << 23); }

float exp_of(float x) {
  if (!(x == x)) return x;
  if (x > 88.8f) return infinity();
  if (x < -104.0f) return 0.0f;
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer.
  const float magic = 12582912.0f;
  const float n = (x * 1.44269504088896341f + magic) - magic;
  float r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r);
  p = p + r;
  p = p + 1.0f;
  // In two factors: 2^n alone may be no float.
  const int e = static_cast<int>(n), half = e / 2;
  return p * power_of_two(half) * power_of_two(e - half);
}

float log_of(float x) {
  if (!(x == x) || x == infinity()) return x;
  if (x == 0.0f) return -infinity();
  if (x < 0.0f) return from_bits(0x7fc00000);
  int e = 0;
  if (x < 1.17549435e-38f) {  // subnormal
    x = x * 8388608.0f;
    e = -23;
  }
  const uint32_t bits = bits_of(x);
  e += static_cast<int>(bits >> 23) - 126;
  float m = from_bits((bits & 0x7fffff) | 0x3f000000);  // 0.5 <= m < 1
  if (m < 0.707106781186547524f) {
    e -= 1;
    m = m + m;
  }
  m = m - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m + -1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m + -1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m + -1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m + -2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * m * z;
  const float k = static_cast<float>(e);
  y = y + -2.12194440e-4f * k;
  y = y + -0.5f * z;
  return (m + y) + 0.693359375f * k;
}

float erf_of(float x) {
  const float a = x < 0 ? -x : x;
  float y;
  if (a < 1.0f) {
    const float z = x * x;
    float p = 7.853861353153693e-5f;
    p = p * z + -8.010193625184903e-4f;
    p = p * z + 5.188327685732524e-3f;
    p = p * z + -2.685381193529856e-2f;
    p = p * z + 1.128358514861418e-1f;
    p = p * z + -3.761262582423300e-1f;
    p = p * z + 1.128379165726710f;
    return x * p;
  }
  // Abramowitz and Stegun 7.1.26.
  const float t = 1.0f / (1.0f + 0.3275911f * a);
  float p = 1.061405429f;
  p = p * t + -1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t + -0.284496736f;
  p = p * t + 0.254829592f;
  y = 1.0f - p * t * exp_of(-(a * a));
  return x < 0 ? -y : y;
}

float tanh_of(float x) {
  const float a = x < 0 ? -x : x;
  if (a < 0.625f) {
    const float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z + -5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z + -3.33332819422e-1f;
    return p * z * x + x;
  }
  const float y = 1.0f - 2.0f / (exp_of(a + a) + 1.0f);
  return x < 0 ? -y : y;
}

float apply(FloatUnary f, float x) {
  switch (f) {
    case FloatUnary::kExp: return exp_of(x);
    case FloatUnary::kLog: return log_of(x);
    case FloatUnary::kSqrt: return __builtin_sqrtf(x);
    case FloatUnary::kErf: return erf_of(x);
    case FloatUnary::kSigmoid: return 1.0f / (1.0f + exp_of(-x));
    case FloatUnary::kTanh: return tanh_of(x);
    case FloatUnary::kGelu: break;
  }
  return 0.5f * x * (1.0f + erf_of(x * 0.707106781186547524f));
}

float apply(FloatBinary f, float a, float b) {
  switch (f) {
    case FloatBinary::kAdd: return a + b;
    case FloatBinary::kSub: return a - b;
    case FloatBinary::kMul: return a * b;
    case FloatBinary::kDiv: return a / b;
    case FloatBinary::kMin: return a < b ? a : b;
    case FloatBinary::kMax: break;
  }
  return a > b ? a : b;
}

float fold(FloatBinary f, const float* x, size_t n) {
  float y = x[0];
  for (size_t i = 1; i < n; ++i) y = apply(f, y, x[i]);
  return y;
}

void softmax(bool logarithm, const float* x, float* y, size_t n) {
  const float greatest = fold(FloatBinary::kMax, x, n);
  float sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const float e = exp_of(x[i] - greatest);
    sum = sum + e;
    y[i] = logarithm ? x[i] - greatest : e;
  }
  const float log_sum = logarithm ? log_of(sum) : 0;
  for (size_t i = 0; i < n; ++i) y[i] = canonical(logarithm ? y[i] - log_sum : y[i] / sum);
}

void normalize(float epsilon, const float* x, float* y, size_t n) {
  const float count = static_cast<float>(n), mean = fold(FloatBinary::kAdd, x, n) / count;
  float sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const float d = x[i] - mean;
    sum = sum + d * d;
  }
  const float deviation = __builtin_sqrtf(sum / count + epsilon);
  for (size_t i = 0; i < n; ++i) y[i] = canonical((x[i] - mean) / deviation);
}

}  // namespace

void float_unary(FloatUnary f, const float* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = canonical(apply(f, x[i]));
}

void float_binary(FloatBinary f, const float* a, size_t a_step, const float* b, size_t b_step,
                  float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = canonical(apply(f, a[i * a_step], b[i * b_step]));
}

void float_rows(FloatRows f, float epsilon, const float* x, float* y, size_t rows, size_t n) {
  for (size_t r = 0; r < rows; ++r, x += n) {
    switch (f) {
      case FloatRows::kSoftmax:
      case FloatRows::kLogSoftmax:
        softmax(f == FloatRows::kLogSoftmax, x, y, n);
        y += n;
        break;
      case FloatRows::kNormalize:
        normalize(epsilon, x, y, n);
        y += n;
        break;
      case FloatRows::kSum: *y++ = canonical(fold(FloatBinary::kAdd, x, n)); break;
      case FloatRows::kMean:
        *y++ = canonical(fold(FloatBinary::kAdd, x, n) / static_cast<float>(n));
        break;
      case FloatRows::kMax: *y++ = canonical(fold(FloatBinary::kMax, x, n)); break;
      case FloatRows::kMin: *y++ = canonical(fold(FloatBinary::kMin, x, n)); break;
    }
  }
}

void float_product(const float* a, const float* b, size_t k, size_t n, float* y) {
  for (size_t j = 0; j < n; ++j) y[j] = a[0] * b[j];
  for (size_t i = 1; i < k; ++i) {
    b += n;
    for (size_t j = 0; j < n; ++j) y[j] = y[j] + a[i] * b[j];
  }
  for (size_t j = 0; j < n; ++j) y[j] = canonical(y[j]);
}

void float_table(const float table[256], const uint8_t* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace qrt
