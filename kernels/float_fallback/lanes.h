// SPDX-License-Identifier: Apache-2.0
// QRT_FLOAT_LANES floats at a time, as many as a register of the file's instruction set has, in the
// compiler's own vectors (selections of wider ones are taken apart lane by lane). Every operation is one of
// IEEE 754, in the order written (contraction is off), so that each lane has the same bits on every
// instruction set. Polynomials: those of Cephes (S. Moshier), single precision. For kernel files only:
// everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_LANES_H_
#define QRT_KERNELS_FLOAT_FALLBACK_LANES_H_

#include <cstddef>
#include <cstdint>

#include "kernels/float_fallback/fused.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr size_t kLanes = QRT_FLOAT_LANES;
typedef float Floats __attribute__((vector_size(4 * QRT_FLOAT_LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * QRT_FLOAT_LANES)));

QRT_INLINE Floats load(const float* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
QRT_INLINE void save(float* p, Floats v) { __builtin_memcpy(p, &v, sizeof v); }

// Loads the first n floats at p, and 0 in the lanes behind them. Reads nothing else. REQUIRES: n < kLanes.
QRT_INLINE Floats load_partial(const float* p, size_t n) {
#if defined(__AVX512F__) && QRT_FLOAT_LANES == 16
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
#elif defined(__AVX2__) && QRT_FLOAT_LANES == 8
  const Ints lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return _mm256_maskload_ps(p, reinterpret_cast<__m256i>(lane < static_cast<int32_t>(n)));
#else
  Floats v = {};
  for (size_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}
// Saves the first n floats of v at p, and writes nothing else. REQUIRES: n < kLanes.
QRT_INLINE void save_partial(float* p, Floats v, size_t n) {
#if defined(__AVX512F__) && QRT_FLOAT_LANES == 16
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), v);
#elif defined(__AVX2__) && QRT_FLOAT_LANES == 8
  const Ints lane = {0, 1, 2, 3, 4, 5, 6, 7};
  _mm256_maskstore_ps(p, reinterpret_cast<__m256i>(lane < static_cast<int32_t>(n)), v);
#else
  for (size_t i = 0; i < n; ++i) p[i] = v[i];
#endif
}
// Sets all lanes to f: f - 0 is f, also for -0 and NaN.
QRT_INLINE Floats all(float f) { return f - Floats{}; }
QRT_INLINE Floats reinterpreted(Ints v) {
  Floats f;
  __builtin_memcpy(&f, &v, sizeof f);
  return f;
}

inline float from_bits(uint32_t bits) {
  float f;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}
inline uint32_t bits_of(float f) {
  uint32_t bits;
  __builtin_memcpy(&bits, &f, 4);
  return bits;
}
inline float infinity() { return from_bits(0x7f800000); }
inline float not_a_number() { return from_bits(0x7fc00000); }

// Replaces every NaN by one: their bits differ between CPUs.
QRT_INLINE Floats canonical(Floats v) { return v == v ? v : all(not_a_number()); }
inline float canonical(float f) { return f == f ? f : not_a_number(); }

QRT_INLINE Floats magnitude(Floats v) { return v < 0.0f ? -v : v; }

// 2^e for e in -126..127.
QRT_INLINE Floats power_of_two(Ints e) { return reinterpreted((e + 127) << 23); }

QRT_INLINE Floats exp_of(Floats given) {
  // Beyond these limits the result is known; NaN is put back in the end.
  const Floats x = given > 88.8f ? all(88.8f) : given >= -104.0f ? given : all(-104.0f);
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer.
  const float magic = 12582912.0f;
  const Floats n = (x * 1.44269504088896341f + magic) - magic;
  Floats r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  Floats p = all(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r);
  p = p + r;
  p = p + 1.0f;
  // The power has two factors: 2^n alone may be no float.
  const Ints e = __builtin_convertvector(n, Ints), half = (e - (e >> 31)) >> 1;
  Floats y = p * power_of_two(half) * power_of_two(e - half);
  y = given > 88.8f ? all(infinity()) : y;
  y = given < -104.0f ? all(0.0f) : y;
  return given == given ? y : given;
}

QRT_INLINE Floats erf_of(Floats x) {
  const Floats a = magnitude(x);
  const Floats z = x * x;
  Floats p = all(7.853861353153693e-5f);
  p = p * z + -8.010193625184903e-4f;
  p = p * z + 5.188327685732524e-3f;
  p = p * z + -2.685381193529856e-2f;
  p = p * z + 1.128358514861418e-1f;
  p = p * z + -3.761262582423300e-1f;
  p = p * z + 1.128379165726710f;
  const Floats near = x * p;
  // Abramowitz and Stegun 7.1.26.
  const Floats t = 1.0f / (1.0f + 0.3275911f * a);
  p = all(1.061405429f);
  p = p * t + -1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t + -0.284496736f;
  p = p * t + 0.254829592f;
  const Floats far = 1.0f - p * t * exp_of(-(a * a));
  return a < 1.0f ? near : x < 0.0f ? -far : far;
}

QRT_INLINE Floats tanh_of(Floats x) {
  const Floats a = magnitude(x);
  const Floats z = x * x;
  Floats p = all(-5.70498872745e-3f);
  p = p * z + 2.06390887954e-2f;
  p = p * z + -5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z + -3.33332819422e-1f;
  const Floats near = p * z * x + x;
  const Floats far = 1.0f - 2.0f / (exp_of(a + a) + 1.0f);
  return a < 0.625f ? near : x < 0.0f ? -far : far;
}

// Returns y with the sign of x. REQUIRES: y has it or is +0.
QRT_INLINE Floats with_sign(Floats y, Floats x) {
  Ints bits, signs;
  __builtin_memcpy(&bits, &y, sizeof bits);
  __builtin_memcpy(&signs, &x, sizeof signs);
  return reinterpreted(bits | (signs & INT32_MIN));
}

// Returns the nearest integer, of two the even one.
QRT_INLINE Floats rounded_of(Floats x) {
  const float whole =
      8388608.0f;  // 2^23: adding it rounds to an integer, and from it on all floats are integers
  const Floats a = magnitude(x);
  return with_sign(a < whole ? (a + whole) - whole : a, x);
}
QRT_INLINE Floats floor_of(Floats x) {
  const Floats y = rounded_of(x);
  return with_sign(y > x ? y - 1.0f : y, x);
}
QRT_INLINE Floats ceil_of(Floats x) {
  const Floats y = rounded_of(x);
  return with_sign(y < x ? y + 1.0f : y, x);
}

QRT_INLINE Floats sigmoid_of(Floats x) { return 1.0f / (1.0f + exp_of(-x)); }

// Polynomials of ONNX Runtime on x86-64, whose steps are fused.
template <size_t n>
QRT_INLINE Floats fused_polynomial(Floats x, const float (&c)[n]) {
  Floats p = all(c[0]);
  QRT_UNROLL
  for (size_t i = 1; i < n; ++i) p = fused_lanes(p, x, all(c[i]));
  return p;
}

QRT_INLINE Floats within(Floats x, float limit) {
  return x < -limit ? all(-limit) : x > limit ? all(limit) : x;
}

QRT_INLINE Floats ort_sigmoid_of(Floats given) {
  constexpr float kOver[] = {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                             8.51377133304701e-03f, 2.48287947061529e-01f};
  constexpr float kUnder[] = {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                              1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f};
  const Floats x = within(given, 18.0f), z = x * x;
  const Floats y = x * fused_polynomial(z, kOver) / fused_polynomial(z, kUnder) + 0.5f;
  return y < 0.0f ? all(0.0f) : y;
}

QRT_INLINE Floats ort_tanh_of(Floats given) {
  constexpr float kOver[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                             5.12229709037114e-08f,  1.48572235717979e-05f, 6.37261928875436e-04f,
                             4.89352455891786e-03f};
  constexpr float kUnder[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f,
                              4.89352518554385e-03f};
  const Floats x = within(given, 9.0f), z = x * x;
  return x * fused_polynomial(z, kOver) / fused_polynomial(z, kUnder);
}

QRT_INLINE Floats gelu_of(Floats x) {
  return 0.5f * x * (1.0f + erf_of(x * 0.707106781186547524f));
}

QRT_INLINE Floats log_of(Floats given) {
  const auto is_subnormal = given < 1.17549435e-38f;
  const Floats x = is_subnormal ? given * 8388608.0f : given;
  Ints bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  Ints e = ((bits >> 23) & 0xff) - 126;
  e = is_subnormal ? e - 23 : e;
  Floats m = reinterpreted((bits & 0x7fffff) | 0x3f000000);  // 0.5 <= m < 1
  const auto is_low = m < 0.707106781186547524f;
  e = is_low ? e - 1 : e;
  m = is_low ? m + m : m;
  m = m - 1.0f;
  const Floats z = m * m;
  Floats p = all(7.0376836292e-2f);
  p = p * m + -1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m + -1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m + -1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m + -2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  Floats y = p * m * z;
  const Floats k = __builtin_convertvector(e, Floats);
  y = y + -2.12194440e-4f * k;
  y = y + -0.5f * z;
  y = (m + y) + 0.693359375f * k;
  y = given < 0.0f ? all(not_a_number()) : y;
  y = given == 0.0f ? all(-infinity()) : y;
  y = given == infinity() ? given : y;
  return given == given ? y : given;
}
inline float log_of(float x) { return log_of(all(x))[0]; }

// Returns log(1 + x). With u = 1 + x as rounded, it is log(u) + (x - (u - 1)) / u, but for terms of the second order.
QRT_INLINE Floats log1p_of(Floats x) {
  const Floats u = 1.0f + x, rest = (x - (u - 1.0f)) / u;
  const Floats y =
      log_of(u) + (rest == rest ? rest : all(0.0f));  // at -1 and infinity there is none
  return u == 1.0f ? x : y;
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_LANES_H_
