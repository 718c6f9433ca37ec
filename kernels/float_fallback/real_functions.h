// SPDX-License-Identifier: Apache-2.0
// Functions of floats that are computed in float64 and rounded once, element by element: every operation is one of IEEE 754 in the
// order written, one form for every instruction set. Thread-safe.
//
//   tan              sine / cosine of x less a multiple of pi / 2 (sine.h), or the negative of its reciprocal
//   atan(x)          for |x| > 1 pi / 2 - atan(1 / x); else 4 atan(y), y the result of x / (1 + sqrt(1 + x^2)) twice, by its series
//   asin(x)          atan(x / sqrt((1 - x) (1 + x)))
//   acos(x)          2 atan(sqrt((1 - x) / (1 + x)))
//   sinh, cosh       (e^x - e^-x) / 2, for |x| < 1 by its series, and (e^x + e^-x) / 2
//   asinh(x)         log(1 + x + x^2 / (1 + sqrt(1 + x^2))), of |x| with the sign of x
//   acosh(x)         log(1 + (x - 1) + sqrt((x - 1) (x + 1)))
//   atanh(x)         log(1 + 2 x / (1 - x)) / 2, of |x| with the sign of x
//   remainder        exact, in integers
#ifndef QRT_KERNELS_FLOAT_FALLBACK_REAL_FUNCTIONS_H_
#define QRT_KERNELS_FLOAT_FALLBACK_REAL_FUNCTIONS_H_

#include "kernels/float_fallback/float_fallback.h"

namespace qrt {

// y[i] = f(x[i]). REQUIRES: f is kTan to kAtanh.
void real_functions(FloatUnary f, const float* x, float* y, size_t n);

// Returns a less a multiple of b, with the sign of a and less than |b| in magnitude.
float remainder_of(float a, float b);

}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_REAL_FUNCTIONS_H_
