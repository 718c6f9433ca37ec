// SPDX-License-Identifier: Apache-2.0
// FloatUnary::kFusedGelu, kFusedErf and kFusedSigmoid: functions within 2 units in the last place, by polynomials whose steps are
// fused. Values whose rounding would count are kept in two parts, high + low. For kernel files only: everything has internal
// linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_FUSED_FUNCTIONS_H_
#define QRT_KERNELS_FLOAT_FALLBACK_FUSED_FUNCTIONS_H_

#include "kernels/float_fallback/lane_softmax.h"

namespace qrt {
namespace {

// power * (high + low): power is one of two, high from 0.65 to 1.35, low below 0.07.
struct Exponential {
  Floats power, high, low;
};

// Returns 2^64 e^(x + rest), for -104 <= x <= 0 and a rest that is little beside it. The polynomial is (e^r - 1 - r) / r^2, within
// 2^-28 of e^r.
QRT_INLINE Exponential exponential_of(Floats x, Floats rest) {
  constexpr float kTail[] = {1.3820977e-3f, 8.36867e-3f, 4.1668262e-2f, 1.6666521e-1f,
                             4.9999994e-1f};
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to an integer, which the lowest bits hold.
  const float magic = 12582912.0f;
  const Floats sum = fused_lanes(x, all(1.44269504088896341f), all(magic));
  const Floats n = sum - magic;
  const Floats main = fused_lanes(n, all(-0.693359375f), x);  // exact
  const Floats little = fused_lanes(n, all(2.12194440e-4f), rest);
  const Floats r = main + little;
  Exponential e;
  e.high = main + 1.0f;
  e.low = fused_lanes(r * r, fused_polynomial(r, kTail), (main - (e.high - 1.0f)) + little);
  Ints bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  e.power = reinterpreted((bits << 23) + ((64 + 127) << 23));
  return e;
}

// Returns max(x, 0) - e^(-t t / 2) w, t = |x|, w being t e^(t t / 2) times the distribution function of -t: with v = t / (t + c) it
// is v P(v - 3/8), P within 2^-27 of that up to t = 14.6. Further out e^(-t t / 2) is 0.
QRT_INLINE Floats fused_gelu_of(Floats x) {
  constexpr float kP[] = {6.95547909e-2f,  -1.14651592e-2f, -1.46955401e-1f,
                          -9.06899862e-4f, 3.06120187e-1f,  -8.16628262e-2f,
                          -7.48906732e-1f, 1.4383409f,      -1.42196381f};
  constexpr float kFirst = 8.96721482e-1f, kC = 3.3359375f, kFar = 14.4f;
  constexpr float kSlope[] = {2.07f, -3.73f, 1.668f};  // of w against v, roughly
  const Floats t = kLesserOf(all(kFar), magnitude(x));
  const Floats half = t * -0.5f, square = half * t;
  const Exponential e = exponential_of(square, fused_lanes(half, t, -square));
  const Floats divisor = t + kC, inverse = 1.0f / divisor;
  const Floats v = t * inverse;
  const Floats v_low = (fused_lanes(-v, divisor, t) - v * (t - (divisor - kC))) * inverse;
  const Floats z = v - 0.375f, tail = fused_polynomial(z, kP);
  const Floats p = fused_lanes(tail, z, all(kFirst)), p_low = fused_lanes(tail, z, kFirst - p);
  const Floats w = v * p;
  const Floats w_low =
      fused_lanes(v, p, -w) + fused_lanes(v_low, fused_polynomial(v, kSlope), v * p_low);
  const Floats y = fused_lanes(w, e.high, fused_lanes(w, e.low, w_low));
  const Floats gelu = fused_lanes(y * e.power, all(-0x1p-64f), kGreaterOf(x, all(0.0f)));
  return x == -infinity() ? all(not_a_number()) : gelu;  // as -infinity * 0
}

// Returns x + x p(x^2), p within 2^-29 of it, for |x| < 1. Further out 1 - e^q(|x|), e^q within 2^-29 of the complement up to 4: from
// there on the nearest float is 1.
QRT_INLINE Floats fused_erf_of(Floats x) {
  constexpr float kNear[] = {7.80690389e-5f, -7.9978531e-4f, 5.1871622e-3f, -2.68533472e-2f,
                             1.12835787e-1f, -3.7612626e-1f, 1.28379166e-1f};
  constexpr float kFar[] = {1.85578276e-4f,  -2.9396324e-3f, 2.18053702e-2f, -1.03037409e-1f,
                            -6.38225675e-1f, -1.12704003f,   -3.53719777e-4f};
  const Floats a = kLesserOf(all(4.0f), magnitude(x));
  const Exponential e = exponential_of(fused_polynomial(a, kFar), all(0.0f));
  const Floats far = with_sign(fused_lanes(e.high + e.low, e.power * -0x1p-64f, all(1.0f)), x);
  return a < 1.0f ? fused_lanes(x, fused_polynomial(x * x, kNear), x) : far;
}

// Returns 1/2 + x p(x^2), p within 2^-27 of it, for |x| < 1. Further out, with e = e^-|x|, 1 / (1 + e) or e - e (e / (1 + e)).
QRT_INLINE Floats fused_sigmoid_of(Floats x) {
  constexpr float kNear[] = {1.63160239e-5f, -2.06051031e-4f, 2.08131922e-3f, -2.08329894e-2f,
                             2.49999985e-1f};
  const Floats t = kLesserOf(all(104.0f), magnitude(x));
  const Exponential e = exponential_of(-t, all(0.0f));
  const Floats sum = e.high + e.low, whole = sum * e.power * 0x1p-64f;
  const Floats inverse = 1.0f / (1.0f + whole);
  const Floats low = (e.high + fused_lanes(-sum, whole * inverse, e.low)) * e.power * 0x1p-64f;
  const Floats near = fused_lanes(x, fused_polynomial(x * x, kNear), all(0.5f));
  return t < 1.0f ? near : x < 0.0f ? low : inverse;
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_FUSED_FUNCTIONS_H_
