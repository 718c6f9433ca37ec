// SPDX-License-Identifier: Apache-2.0
// Fixed-point requantisations of AVX-512 in registers: y = ROUND(acc * m / 2^(31 + s)) by two fused
// multiply-adds in float32 whose every result is exact. Included only by kernel files with this
// set's flags.
//
// One rounding, half up, is floor((acc * m + 2^(30+s)) / 2^(31+s)). TFLite's two, half up by 2^31
// and then half away from zero by 2^s, are together (floors within floors are one)
//
//   floor((acc * m + 2^(30+s) + 2^30) / 2^(31+s))   for acc >= 0
//   floor((acc * m + 2^(30+s) - 2^30) / 2^(31+s))   for acc < 0
//
// So y = floor((i + 1) / 2), where i = floor(acc * 2m / 2^(31+s) + n) and n = 0 or +-2^-s.
// VPMULHRSW by 2^14 makes y of i, on 16 bits. i comes of two fused multiply-adds that round down:
// m = h + l, l its lowest 7 bits, both exact in float32 like acc up to 2^24, and with
// H = h * 2^-(30+s), L = l * 2^-(30+s)
//
//   t = down(acc * L + n),  i = floor(down(acc * H + t))
//
// Why i is exact where |acc * m| < 2^(39+s), for m >= 2^30 and 1 <= s <= 14: acc * H and all
// integers are multiples of 2^-(23+s), so rounding t down to such multiples, or to finer ones, does
// not move a sum across an integer; and |t| < 2^9 * 2^-23 + 2^-s <= 2^(1-s), below which float32
// has them. The last rounding does not cross an integer either. Elsewhere y is beyond 255 from the
// zero point: exact at the last such acc, and everything is monotone. acc * 2m / 2^(31+s) < 2^31,
// so that no conversion overflows.
#ifndef QRT_KERNELS_ISA_FIXED_POINT_AVX512VNNI_H_
#define QRT_KERNELS_ISA_FIXED_POINT_AVX512VNNI_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"
#include "kernels/requant.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx512vnni {

struct FixedPoint {
  __m512 high, low, nudge;  // H, L, |n| of 16 channels

  // Returns s of the 16 channels from c on.
  QRT_INLINE __m512i shifts(const Requant& r, size_t c) {
    const RequantStage& last = r.stages[r.stage_count - 1];
    const __m512i shift =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(last.shift + c)));
    return r.stage_count == 2 ? shift : _mm512_sub_epi32(shift, _mm512_set1_epi32(31));
  }

  // Returns whether the channels c .. c + channels - 1 can be done so. m = 0 is 0 whatever s.
  static bool handles(const Requant& r, size_t c, size_t channels) {
    if (kIntegerOnly || !is_fixed_point(r)) return false;
    const RequantStage &first = r.stages[0], &second = r.stages[1];
    const bool two = r.stage_count == 2;
    const __m512i one = _mm512_set1_epi32(1);
    __mmask16 all = 0xffff;
    for (size_t j = c; j < c + channels; j += 16) {
      const __m512i m = _mm512_loadu_si512(first.multiplier + j);
      const __m512i s = _mm512_sub_epi32(shifts(r, j), one);
      const __mmask16 in_range = _mm512_mask_cmplt_epu32_mask(
          _mm512_cmpge_epi32_mask(m, _mm512_set1_epi32(1 << 30)), s, _mm512_set1_epi32(14));
      all &= in_range | _mm512_testn_epi32_mask(m, m);
      if (two) {
        const __m512i by_31 = _mm512_cvtepu8_epi32(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(first.shift + j)));
        all &= _mm512_cmpeq_epi32_mask(by_31, _mm512_set1_epi32(31)) &
               _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(second.multiplier + j), one);
      }
    }
    return all == 0xffff;
  }

  // REQUIRES: handles() of these 16 channels.
  static FixedPoint make(const Requant& r, size_t c) {
    const __m512i m = _mm512_loadu_si512(r.stages[0].multiplier + c), s = shifts(r, c);
    const __m512i rest = _mm512_set1_epi32(127);
    const __m512 unit = power(_mm512_sub_epi32(_mm512_set1_epi32(-30), s));
    const __m512 nudge = power(_mm512_sub_epi32(_mm512_setzero_si512(), s));
    const __mmask16 is_nudged = r.stage_count == 2 ? _mm512_test_epi32_mask(m, m) : 0;
    return {_mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_andnot_si512(rest, m)), unit),
            _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_and_si512(rest, m)), unit),
            _mm512_maskz_mov_ps(is_nudged, nudge)};
  }

  // 2^e, e -126..127.
  QRT_INLINE __m512 power(__m512i e) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(e, _mm512_set1_epi32(127)), 23));
  }

  // Returns i. Without kSigned, a negative acc gives any i with y <= 0.
  template <bool kSigned>
  QRT_INLINE __m512i doubled(__m512i acc, __m512 high, __m512 low, __m512 nudge) {
    constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    const __m512 x = _mm512_cvtepi32_ps(acc);
    __m512i n = _mm512_castps_si512(nudge);
    if constexpr (kSigned)  // n | (x & sign)
      n = _mm512_ternarylogic_epi32(n, _mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN), 0xf8);
    const __m512 t = _mm512_fmadd_round_ps(x, low, _mm512_castsi512_ps(n), kDown);
    return _mm512_cvt_roundps_epi32(_mm512_fmadd_round_ps(x, high, t, kDown), kDown);
  }

  // Returns y by an affine fit (affine/affine.h). Rounding down to float32 does not change its floor.
  QRT_INLINE __m512i of_affine(__m512i acc, __m512 slope, __m512 intercept) {
    constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    const __m512 x = _mm512_cvtepi32_ps(acc);
    return _mm512_cvt_roundps_epi32(_mm512_fmadd_round_ps(x, slope, intercept, kDown), kDown);
  }

  // y of words i.
  QRT_INLINE __m512i halved(__m512i i) {
    return _mm512_mulhrs_epi16(i, _mm512_set1_epi16(1 << 14));
  }
};

}  // namespace avx512vnni
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_FIXED_POINT_AVX512VNNI_H_
