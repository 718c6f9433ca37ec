// SPDX-License-Identifier: Apache-2.0
// x times the distribution function of the normal distribution, by polynomials whose steps are fused
// (FloatUnary::kFusedGelu). For kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_GELU_H_
#define QRT_KERNELS_FLOAT_FALLBACK_GELU_H_

#include "kernels/float_fallback/lane_softmax.h"

namespace qrt {
namespace {

// Returns max(x, 0) - t e^(-t t / 2) q(t), t = |x|: e^(t t / 2) times the distribution function of -t is
// q(t) = P(2 t / (t + c)) / (t + c), P within 2^-25 of it up to 14.5. Further out e^(-t t / 2) is 0.
QRT_INLINE Floats fused_gelu_of(Floats x) {
  constexpr float kP[] = {-1.5726629e-4f, 1.1045323e-3f, -2.4903272e-3f, 2.2390536e-3f,
                          -4.776662e-3f,  3.5712356e-3f, 3.645454e-2f,   4.240831e-2f,
                          -6.2169677e-1f, 1.25f};
  constexpr float kC = 2.5f, kFar = 20.0f;
  const Floats t = kLesserOf(all(kFar), magnitude(x));
  const Floats half = t * -0.5f, square = half * t;
  const Floats e = large_exp_of(square, fused_lanes(half, t, -square)) * 0x1p-64f;
  const Floats inverse = 1.0f / (t + kC);
  const Floats q = fused_polynomial((t + t) * inverse, kP) * inverse;
  return fused_lanes(t * -e, q, kGreaterOf(x, all(0.0f)));
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_GELU_H_
