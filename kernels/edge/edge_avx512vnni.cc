// SPDX-License-Identifier: Apache-2.0
// Quantisation and dequantisation by 16 lanes, without the divider where that is exact.
#include "kernels/edge/edge_vectors.h"
#include "kernels/isa/vec_avx512vnni.h"

namespace qrt {
namespace {

struct Avx512 : avx512vnni::Vec {
  static constexpr size_t kHalvesAhead = 1024;

  // The integers that x / scale rounds to, without the divider, which is slower than memory. With r
  // the reciprocal rounded and p what it lacks, rounded (its numerator 1 - r * scale has no rounding),
  // x * r + fl(x * p) is within 2^-47 of x / scale, relatively, before its one rounding. So the
  // quotient is never wrong by more than to the next float, and that float rounds to another integer
  // only where x / scale is within 2^-47 of the middle m between a tie t and a float beside t.
  //
  // With x = X 2^a and scale = S 2^b, X and S integers of 24 bits, and |t| < 256: m = N 2^c, where t
  // has 9 bits at most, so that N = T 2^16 +- 1 < 2^25, T an integer. X 2^d, d = a - b - c, is then
  // within 2^-47 of N S < 2^49: less than 4 from it. As X < 2^24 and N S > 2^46.9, d >= 23, and modulo
  // 2^16 that says that S lies within 3 of 0. S = 0 modulo 2^16 is fine: both sides would be multiples
  // of 2^16 and equal, 2^d a divisor of S as N is odd: S = 2^23 and X = N, but no such N has 24 bits
  // only (2^24 - 1 is beside no tie: below 1/2, N = 2^25 - 1).
  //
  // The greatest x that matters is known beforehand, and NaN and what is far below 0 stay or become
  // something that has no int32, whatever overflows.
  struct FloatDivision {
    FloatDivision(float by, float, float limit)
        : r(splat(1 / by)),
          p(_mm512_fnmadd_ps(r, splat(by), splat(1)) / splat(by)),
          most(splat(limit * by)) {}
    Float in_quanta(Float x) const {
      x = min(most, x);
      return fma(x, r, x * p);
    }
    Float r, p, most;
  };

  static bool has_fast_division(float scale) {
    const unsigned low = bits_of_float(scale) & 0xffff;
    return has_fast_half_division(scale) && (low == 0 || ((low + 3) & 0xffff) > 6);
  }

  // x / scale, correctly rounded. Markstein: where r is 1 / scale rounded and q less than one unit in
  // the last place from x / scale, q + (x - q * scale) * r, rounded, is the quotient rounded. The
  // first step makes such a q, the second uses it.
  struct HalfDivision {
    explicit HalfDivision(float by) : scale(splat(by)), r(splat(1 / by)) {}
    // Returns x / scale of a float16 x, which leaves nothing to overflow but an infinity: that and NaN give NaN.
    Float quotient(Float x) const {
      const Float q = x * r;
      const Float q1 = fma(_mm512_fnmadd_ps(q, scale, x), r, q);
      return fma(_mm512_fnmadd_ps(q1, scale, x), r, q1);
    }
    Float scale, r;
  };

  static bool has_fast_half_division(float scale) { return scale >= 0x1p-60f && scale <= 0x1p60f; }

  QRT_INLINE Float max_below(Float v, float bound, Float limit) {
    return _mm512_mask_max_ps(limit, _mm512_cmp_ps_mask(v, splat(bound), _CMP_LT_OQ), v, limit);
  }
  QRT_INLINE Float min_from(Float v, float bound, Float limit) {
    return _mm512_mask_min_ps(limit, _mm512_cmp_ps_mask(v, splat(bound), _CMP_GE_OQ), v, limit);
  }
};

}  // namespace

QRT_EDGE_LOOPS(avx512vnni, Avx512)
QRT_EDGE_LOOPS_OF_HALVES(avx512vnni, Avx512)
QRT_EDGE_LANES(avx512vnni, Avx512)

}  // namespace qrt
