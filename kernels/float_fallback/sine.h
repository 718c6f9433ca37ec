// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of a float, in float64: every operation is one of IEEE 754 in the order written. For kernel files only:
// everything has internal linkage.
#ifndef QRT_KERNELS_FLOAT_FALLBACK_SINE_H_
#define QRT_KERNELS_FLOAT_FALLBACK_SINE_H_

#include "kernels/float_fallback/lanes.h"

namespace qrt {
namespace {

// x = quadrant * pi / 2 + rest, modulo 2 pi; |rest| is at most a little more than pi / 4.
struct Reduced {
  uint32_t quadrant;  // the last two bits count
  double rest;
};

// REQUIRES: |x| < 2^20, so that the products with the first two parts of pi / 2, of 33 bits, are exact.
inline Reduced reduced_small(double x) {
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double n = (x * 0.63661977236758134 + magic) - magic;
  const double rest = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) -
                      n * 2.02226624879595063154e-21;
  return {static_cast<uint32_t>(static_cast<int32_t>(n)), rest};
}

// REQUIRES: |x| is finite and at least 1. Multiplies the 24 bits of x by those 128 bits of 2 / pi that neither give multiples
// of 4 alone nor are too small to count.
inline Reduced reduced_large(float x) {
  constexpr uint32_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                     0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a};
  const uint32_t bits = bits_of(x);
  const uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
  // x = mantissa * 2^e, and bit k of 2 / pi is worth 2^-k, k = 1 being the first one behind the word of zeros.
  const int e = static_cast<int>(bits >> 23 & 255) - 150;
  const int first = e - 2 + 32;  // the window begins with bit e - 1
  uint32_t product[4];           // the last word first
  uint64_t carry = 0;
  for (int word = 3; word >= 0; --word) {
    const int at = first + 32 * word;
    const uint64_t pair =
        static_cast<uint64_t>(kTwoOverPi[at / 32]) << 32 | kTwoOverPi[at / 32 + 1];
    carry += mantissa * static_cast<uint32_t>(pair >> (32 - at % 32));
    product[3 - word] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  // The product is in quarters of a turn: two bits in front of the point, the nearest integer and a signed fraction.
  const uint64_t high = static_cast<uint64_t>(product[3]) << 32 | product[2];
  const uint32_t quadrant = static_cast<uint32_t>((high + (uint64_t{1} << 61)) >> 62);
  const auto fraction = static_cast<int64_t>(high - (static_cast<uint64_t>(quadrant) << 62));
  const double rest =
      (static_cast<double>(fraction) + static_cast<double>(product[1]) * 2.3283064365386963e-10) *
      3.4061215800304186e-19;  // 2^-32, and pi / 2 * 2^-62
  return (bits >> 31) != 0 ? Reduced{0u - quadrant, -rest} : Reduced{quadrant, rest};
}

// Returns the reduced form of a finite x.
inline Reduced reduced(float x) {
  const bool is_small = x > -1048576.0f && x < 1048576.0f;
  return is_small ? reduced_small(static_cast<double>(x)) : reduced_large(x);
}

// Return the sine and the cosine of r, up to pi / 4 on either side of 0, by polynomials of fdlibm (Sun Microsystems).
inline double sine_of_rest(double r) {
  const double z = r * r;
  double p = 1.58969099521155010221e-10;
  p = p * z + -2.50507602534068634195e-08;
  p = p * z + 2.75573137070700676789e-06;
  p = p * z + -1.98412698298579493134e-04;
  p = p * z + 8.33333333332248946124e-03;
  p = p * z + -1.66666666666666324348e-01;
  return r * (1.0 + z * p);  // keeps the sign of 0
}
inline double cosine_of_rest(double r) {
  const double z = r * r;
  double p = -1.13596475577881948265e-11;
  p = p * z + 2.08757232129817482790e-09;
  p = p * z + -2.75573143513906633035e-07;
  p = p * z + 2.48015872894767294178e-05;
  p = p * z + -1.38888888888741095749e-03;
  p = p * z + 4.16666666666666019037e-02;
  return (1.0 - 0.5 * z) + z * (z * p);
}

// Returns the sine of x, or its cosine.
inline float sine_of(float x, bool is_cosine) {
  if (!(x - x == 0.0f)) return not_a_number();
  const Reduced at = reduced(x);
  const uint32_t quadrant = at.quadrant + (is_cosine ? 1u : 0u);
  const double y = (quadrant & 1) == 0 ? sine_of_rest(at.rest) : cosine_of_rest(at.rest);
  return static_cast<float>((quadrant & 2) == 0 ? y : -y);
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_FLOAT_FALLBACK_SINE_H_
