// SPDX-License-Identifier: Apache-2.0
// AVX2 policy of requantize_tile.h, also that of AVX-VNNI. Included only by kernel files with one
// of these sets' compile flags.
#ifndef QRT_KERNELS_ISA_REQUANTIZE_AVX2_H_
#define QRT_KERNELS_ISA_REQUANTIZE_AVX2_H_

#include <immintrin.h>
#include <string.h>

#include "kernels/isa/requantize_tile.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx2 {

struct Lanes {
  static constexpr size_t kLanes = 8;
  using Int = __m256i;

  static Int load(const int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void save(int32_t* p, Int v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static Int clip(Int v, int32_t lo, int32_t hi) {
    return _mm256_min_epi32(_mm256_max_epi32(v, _mm256_set1_epi32(lo)), _mm256_set1_epi32(hi));
  }
  template <bool kAdds>
  static void to_float(const int32_t* acc, const float* scale, const float* addend, uint8_t* y) {
    __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(load(acc)), _mm256_loadu_ps(scale));
    if constexpr (kAdds) v = _mm256_add_ps(v, _mm256_loadu_ps(addend));
    _mm256_storeu_ps(reinterpret_cast<float*>(y), v);
  }
  static Int shifts(const uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  // Returns the low 32 bits of even and odd 64-bit lanes.
  static Int interleave(Int even, Int odd) {
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
  }

  // ROUND(x / 2^s) in 32 bits; s 0..31. Shift counts beyond 31 give 0, so s = 0 needs no care.
  template <Round kRound>
  struct Shift {
    Shift(const RequantStage& stage, size_t c)
        : s(shifts(stage.shift + c)),
          last(_mm256_sub_epi32(s, one())),
          left(_mm256_sub_epi32(_mm256_set1_epi32(32), s)) {}

    static Int one() { return _mm256_set1_epi32(1); }
    // The last bit shifted out.
    Int half(Int x) const { return _mm256_and_si256(_mm256_srlv_epi32(x, last), one()); }

    Int apply(Int x) const {
      if constexpr (kRound == Round::kFloor) return _mm256_srav_epi32(x, s);
      if constexpr (kRound == Round::kHalfAway) {
        const Int a = _mm256_abs_epi32(x);
        return _mm256_sign_epi32(_mm256_add_epi32(_mm256_srlv_epi32(a, s), half(a)), x);
      }
      const Int up = _mm256_add_epi32(_mm256_srav_epi32(x, s), half(x));
      if constexpr (kRound == Round::kHalfUp) return up;
      // A tie went up: clearing the lowest bit makes it even.
      const Int tie = _mm256_cmpeq_epi32(_mm256_sllv_epi32(x, left), _mm256_set1_epi32(INT32_MIN));
      return _mm256_andnot_si256(_mm256_and_si256(tie, one()), up);
    }

    Int s, last, left;
  };

  // ROUND(x * multiplier / 2^s) where it fits into int32; s 0..62. From 64-bit products of the even
  // and of the odd lanes. AVX2 has no arithmetic shift of 64 bits: the sign bit is flipped, which
  // the sum with half an output step does as well, and what that leaves after the shift is
  // subtracted. Half away from zero takes magnitudes, which need none of this.
  template <Round kRound>
  struct Narrow {
    // The rounded shift of every other channel.
    struct Half {
      explicit Half(Int shift) : s(shift) {
        const Int half = _mm256_srli_epi64(_mm256_sllv_epi64(_mm256_set1_epi64x(1), s), 1);
        const Int sign = _mm256_set1_epi64x(INT64_MIN);
        odd = _mm256_andnot_si256(_mm256_cmpeq_epi64(half, _mm256_setzero_si256()),
                                  _mm256_set1_epi64x(1));
        addend = half;
        if (kRound == Round::kFloor) addend = _mm256_setzero_si256();
        if (kRound == Round::kHalfEven) addend = _mm256_sub_epi64(half, odd);
        if (kRound != Round::kHalfAway) addend = _mm256_xor_si256(addend, sign);
        excess = _mm256_srlv_epi64(sign, s);
      }

      Int apply(Int product) const {
        Int v = _mm256_add_epi64(product, addend);
        if constexpr (kRound == Round::kHalfEven)
          v = _mm256_add_epi64(v, _mm256_and_si256(_mm256_srlv_epi64(product, s), odd));
        return _mm256_srlv_epi64(v, s);
      }

      Int s, addend, excess;
      Int odd;  // 1, or 0 where the shift is 0
    };

    Narrow(const RequantStage& stage, size_t c) : Narrow(stage, shifts(stage.shift + c), c) {}
    Narrow(const RequantStage& stage, Int s, size_t c)
        : multiplier(load(stage.multiplier + c)),
          odd_multiplier(_mm256_srli_epi64(multiplier, 32)),
          even(_mm256_and_si256(s, _mm256_set1_epi64x(0xff))),
          odd(_mm256_srli_epi64(s, 32)),
          excess(interleave(even.excess, odd.excess)) {}

    Int apply(Int x) const {
      if constexpr (kRound == Round::kHalfAway) {
        const Int a = _mm256_abs_epi32(x);
        const Int e = even.apply(_mm256_mul_epu32(a, multiplier));
        const Int o = odd.apply(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), odd_multiplier));
        return _mm256_sign_epi32(interleave(e, o), x);
      }
      const Int e = even.apply(_mm256_mul_epi32(x, multiplier));
      const Int o = odd.apply(_mm256_mul_epi32(_mm256_srli_epi64(x, 32), odd_multiplier));
      return _mm256_sub_epi32(interleave(e, o), excess);
    }

    Int multiplier, odd_multiplier;
    Half even, odd;
    Int excess;
  };

  // A stage with any results, which are clipped in 64 bits.
  template <Round kRound>
  struct Clipped {
    Clipped(const RequantStage& stage, size_t c)
        : multiplier(load(stage.multiplier + c)),
          s(shifts(stage.shift + c)),
          lo(_mm256_set1_epi64x(stage.clip_lo)),
          hi(_mm256_set1_epi64x(stage.clip_hi)) {}

    Int half(Int product, Int shift) const {
      const Int zero = _mm256_setzero_si256(), sign = _mm256_set1_epi64x(INT64_MIN);
      const Int bit = _mm256_sllv_epi64(_mm256_set1_epi64x(1), shift);
      const Int half = _mm256_srli_epi64(bit, 1), nothing = _mm256_cmpeq_epi64(half, zero);
      Int v = product;
      if constexpr (kRound != Round::kFloor) v = _mm256_add_epi64(product, half);
      if constexpr (kRound == Round::kHalfAway)
        v = _mm256_add_epi64(v, _mm256_andnot_si256(nothing, _mm256_cmpgt_epi64(zero, product)));
      if constexpr (kRound == Round::kHalfEven) {
        const Int even = _mm256_cmpeq_epi64(_mm256_and_si256(product, bit), zero);
        v = _mm256_add_epi64(v, _mm256_andnot_si256(nothing, even));
      }
      v = _mm256_sub_epi64(_mm256_srlv_epi64(_mm256_xor_si256(v, sign), shift),
                           _mm256_srlv_epi64(sign, shift));
      v = _mm256_blendv_epi8(v, lo, _mm256_cmpgt_epi64(lo, v));
      return _mm256_blendv_epi8(v, hi, _mm256_cmpgt_epi64(v, hi));
    }

    Int apply(Int x) const {
      const Int even =
          half(_mm256_mul_epi32(x, multiplier), _mm256_and_si256(s, _mm256_set1_epi64x(0xff)));
      const Int odd =
          half(_mm256_mul_epi32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(multiplier, 32)),
               _mm256_srli_epi64(s, 32));
      return interleave(even, odd);
    }

    Int multiplier, s, lo, hi;
  };

  template <StageForm kForm, Round kRound>
  struct Stage : Narrow<kRound> {
    using Narrow<kRound>::Narrow;
  };
  template <Round kRound>
  struct Stage<StageForm::kShift, kRound> : Shift<kRound> {
    using Shift<kRound>::Shift;
  };
  template <Round kRound>
  struct Stage<StageForm::kClipped, kRound> : Clipped<kRound> {
    using Clipped<kRound>::Clipped;
  };

  // CVTPS2DQ gives INT32_MIN for everything out of range: right for negative values; the limit
  // keeps positive ones from it.
  template <FloatOrder kOrder, bool kHalfUp>
  struct FloatStage {
    FloatStage(const Requant& r, size_t c)
        : scale(_mm256_loadu_ps(r.scale + c)),
          zero_point(_mm256_set1_ps(static_cast<float>(r.zero_point))),
          limit(_mm256_set1_ps(static_cast<float>(
              r.hi - (kOrder == FloatOrder::kAfter ? r.zero_point : r.offset)))) {}

    Int apply(Int acc) const {
      const __m256 x = _mm256_cvtepi32_ps(acc);
      __m256 v;
      if constexpr (kOrder == FloatOrder::kFused) {
        v = _mm256_fmadd_ps(x, scale, zero_point);
      } else {
        v = _mm256_mul_ps(x, scale);
        if constexpr (kOrder == FloatOrder::kBefore) v = _mm256_add_ps(v, zero_point);
      }
      v = _mm256_min_ps(v, limit);
      const Int even = _mm256_cvtps_epi32(v);
      if constexpr (!kHalfUp) return even;
      // A tie that went down to the even neighbour goes up instead (a true comparison is -1); the
      // difference is exact.
      const __m256 down = _mm256_cmp_ps(_mm256_sub_ps(v, _mm256_cvtepi32_ps(even)),
                                        _mm256_set1_ps(0.5f), _CMP_EQ_OQ);
      return _mm256_sub_epi32(even, _mm256_castps_si256(down));
    }

    __m256 scale, zero_point, limit;
  };

  // The packs saturate to 16 bits, far beyond lo and hi less the offset.
  struct Finish {
    Finish(int32_t offset_value, int32_t lo_value, int32_t hi_value)
        : offset(_mm256_set1_epi16(static_cast<int16_t>(offset_value))),
          lo(_mm_set1_epi8(static_cast<char>(lo_value))),
          hi(_mm_set1_epi8(static_cast<char>(hi_value))) {}

    void store(const int32_t* v, uint8_t* y, size_t n) const {
      const Int w = _mm256_adds_epi16(_mm256_packs_epi32(load(v), load(v + 8)), offset);
      const __m128i b = _mm_packus_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
      // Dwords: 0 .. 3, 8 .. 11, 4 .. 7, 12 .. 15.
      const __m128i bytes = _mm_min_epu8(_mm_max_epu8(_mm_shuffle_epi32(b, 0xd8), lo), hi);
      if (n == 16) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
      } else {
        alignas(16) uint8_t all[16];
        _mm_store_si128(reinterpret_cast<__m128i*>(all), bytes);
        memcpy(y, all, n);
      }
    }

    Int offset;
    __m128i lo, hi;
  };
};

}  // namespace avx2
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_REQUANTIZE_AVX2_H_
