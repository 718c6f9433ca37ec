// SPDX-License-Identifier: Apache-2.0
// AVX-512 policy of requantize_tile.h. Included only by kernel files with this set's compile flags.
#ifndef QRT_KERNELS_ISA_REQUANTIZE_AVX512VNNI_H_
#define QRT_KERNELS_ISA_REQUANTIZE_AVX512VNNI_H_

#include <immintrin.h>

#include "kernels/isa/requantize_tile.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx512vnni {

struct Lanes {
  static constexpr size_t kLanes = 16;
  using Int = __m512i;

  static Int load(const int32_t* p) { return _mm512_loadu_si512(p); }
  static void save(int32_t* p, Int v) { _mm512_storeu_si512(p, v); }
  static Int clip(Int v, int32_t lo, int32_t hi) {
    return _mm512_min_epi32(_mm512_max_epi32(v, _mm512_set1_epi32(lo)), _mm512_set1_epi32(hi));
  }
  template <bool kAdds>
  static void to_float(const int32_t* acc, const float* scale, const float* addend, uint8_t* y) {
    __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(load(acc)), _mm512_loadu_ps(scale));
    if constexpr (kAdds) v = _mm512_add_ps(v, _mm512_loadu_ps(addend));
    _mm512_storeu_ps(y, v);
  }

  // ROUND(x / 2^s) in 32 bits; s 0..31. Shift counts beyond 31 give 0, so s = 0 needs no care.
  template <Round kRound>
  struct Shift {
    Shift(const RequantStage& stage, size_t c)
        : s(_mm512_cvtepu8_epi32(
              _mm_loadu_si128(reinterpret_cast<const __m128i*>(stage.shift + c)))),
          last(_mm512_sub_epi32(s, one())),
          left(_mm512_sub_epi32(_mm512_set1_epi32(32), s)) {}

    static Int one() { return _mm512_set1_epi32(1); }
    // The last bit shifted out.
    Int half(Int x) const { return _mm512_and_si512(_mm512_srlv_epi32(x, last), one()); }

    Int apply(Int x) const {
      if constexpr (kRound == Round::kFloor) return _mm512_srav_epi32(x, s);
      if constexpr (kRound == Round::kHalfAway) {
        const Int a = _mm512_abs_epi32(x);
        const Int r = _mm512_add_epi32(_mm512_srlv_epi32(a, s), half(a));
        return _mm512_mask_sub_epi32(r, _mm512_movepi32_mask(x), _mm512_setzero_si512(), r);
      }
      const Int up = _mm512_add_epi32(_mm512_srav_epi32(x, s), half(x));
      if constexpr (kRound == Round::kHalfUp) return up;
      // A tie went up: clearing the lowest bit makes it even.
      const __mmask16 tie =
          _mm512_cmpeq_epi32_mask(_mm512_sllv_epi32(x, left), _mm512_set1_epi32(INT32_MIN));
      return _mm512_mask_andnot_epi32(up, tie, one(), up);
    }

    Int s, last, left;
  };

  // ROUND(x * multiplier / 2^s) from 64-bit products of the even and of the odd lanes; s 0..62.
  template <bool kClips, Round kRound>
  struct Product {
    // The rounded shift of every other channel.
    struct Half {
      explicit Half(Int shift) : s(shift) {
        const Int one = _mm512_set1_epi64(1);
        bit = _mm512_sllv_epi64(one, s);
        half = kRound == Round::kFloor ? _mm512_setzero_si512() : _mm512_srli_epi64(bit, 1);
        less = _mm512_min_epu64(half, one);
      }

      Int apply(Int product) const {
        Int v = _mm512_add_epi64(product, half);
        if constexpr (kRound == Round::kHalfEven)
          v = _mm512_mask_sub_epi64(v, _mm512_testn_epi64_mask(product, bit), v, less);
        if constexpr (kRound == Round::kHalfAway)
          v = _mm512_mask_sub_epi64(v, _mm512_movepi64_mask(product), v, less);
        return _mm512_srav_epi64(v, s);
      }

      Int s, bit, half;
      Int less;  // 1, or 0 where the shift is 0
    };

    Product(const RequantStage& stage, size_t c) : Product(stage, Shift<kRound>(stage, c).s, c) {}
    Product(const RequantStage& stage, Int s, size_t c)
        : multiplier(load(stage.multiplier + c)),
          odd_multiplier(_mm512_srli_epi64(multiplier, 32)),
          lo(_mm512_set1_epi64(stage.clip_lo)),
          hi(_mm512_set1_epi64(stage.clip_hi)),
          even(_mm512_and_si512(s, _mm512_set1_epi64(0xff))),
          odd(_mm512_srli_epi64(s, 32)) {}

    Int apply(Int x) const {
      Int e = even.apply(_mm512_mul_epi32(x, multiplier));
      Int o = odd.apply(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), odd_multiplier));
      if constexpr (kClips) {
        e = _mm512_min_epi64(_mm512_max_epi64(e, lo), hi);
        o = _mm512_min_epi64(_mm512_max_epi64(o, lo), hi);
      }
      return _mm512_mask_shuffle_epi32(e, 0xaaaa, o, static_cast<_MM_PERM_ENUM>(0xa0));
    }

    Int multiplier, odd_multiplier, lo, hi;
    Half even, odd;
  };

  template <StageForm kForm, Round kRound>
  struct Stage : Product<kForm == StageForm::kClipped, kRound> {
    using Product<kForm == StageForm::kClipped, kRound>::Product;
  };
  template <Round kRound>
  struct Stage<StageForm::kShift, kRound> : Shift<kRound> {
    using Shift<kRound>::Shift;
  };

  // CVTPS2DQ gives INT32_MIN for everything out of range: right for negative values; the limit
  // keeps positive ones from it.
  template <FloatOrder kOrder, bool kHalfUp>
  struct FloatStage {
    FloatStage(const Requant& r, size_t c)
        : scale(_mm512_loadu_ps(r.scale + c)),
          zero_point(_mm512_set1_ps(static_cast<float>(r.zero_point))),
          limit(_mm512_set1_ps(static_cast<float>(
              r.hi - (kOrder == FloatOrder::kAfter ? r.zero_point : r.offset)))) {}

    Int apply(Int acc) const {
      const __m512 x = _mm512_cvtepi32_ps(acc);
      __m512 v;
      if constexpr (kOrder == FloatOrder::kFused) {
        v = _mm512_fmadd_ps(x, scale, zero_point);
      } else {
        v = _mm512_mul_ps(x, scale);
        if constexpr (kOrder == FloatOrder::kBefore) v = _mm512_add_ps(v, zero_point);
      }
      v = _mm512_min_ps(v, limit);
      const Int even = _mm512_cvtps_epi32(v);
      if constexpr (!kHalfUp) return even;
      // A tie that went down to the even neighbour goes up instead; the difference is exact.
      const __mmask16 down = _mm512_cmp_ps_mask(_mm512_sub_ps(v, _mm512_cvtepi32_ps(even)),
                                                _mm512_set1_ps(0.5f), _CMP_EQ_OQ);
      return _mm512_mask_add_epi32(even, down, even, _mm512_set1_epi32(1));
    }

    __m512 scale, zero_point, limit;
  };

  struct Finish {
    Finish(int32_t offset_value, int32_t lo_value, int32_t hi_value)
        : offset(_mm512_set1_epi32(offset_value)),
          lo(_mm512_set1_epi32(lo_value - offset_value)),
          hi(_mm512_set1_epi32(hi_value - offset_value)) {}

    void store(const int32_t* v, uint8_t* y, size_t n) const {
      const Int x = _mm512_add_epi32(_mm512_min_epi32(_mm512_max_epi32(load(v), lo), hi), offset);
      const __m128i bytes = _mm512_cvtepi32_epi8(x);
      if (n == 16) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y), bytes);
      } else {
        _mm_mask_storeu_epi8(y, static_cast<__mmask16>((1u << n) - 1), bytes);
      }
    }

    Int offset, lo, hi;
  };
};

}  // namespace avx512vnni

// With v = the first stage's result, which is never INT32_MIN nor INT32_MAX, and s > 0 the second
// stage's shift: ((v - [v < 0]) >> (s - 1)) + 1 does not overflow, and half of it, rounded down, is
// v / 2^s rounded half away from zero. 13 instructions, 5 of them for port 0 only.
template <>
struct DoubleRounding<avx512vnni::Lanes> {
  using Int = __m512i;

  DoubleRounding(const Requant& r, size_t c)
      : multiplier(avx512vnni::Lanes::load(r.stages[0].multiplier + c)),
        odd_multiplier(_mm512_srli_epi64(multiplier, 32)) {
    const Int shift = _mm512_cvtepu8_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(r.stages[1].shift + c)));
    shifts = _mm512_test_epi32_mask(shift, shift);
    last = _mm512_min_epi32(shift, _mm512_set1_epi32(1));
    before = _mm512_sub_epi32(shift, last);
  }

  Int apply(Int x) const {
    const Int half = _mm512_set1_epi64(1 << 30);
    Int even = _mm512_add_epi64(_mm512_mul_epi32(x, multiplier), half);
    const Int odd_x = _mm512_shuffle_epi32(x, static_cast<_MM_PERM_ENUM>(0xf5));
    Int odd = _mm512_add_epi64(_mm512_mul_epi32(odd_x, odd_multiplier), half);
    // Doubled, the high halves are the quotients by 2^31.
    even = _mm512_add_epi64(even, even);
    odd = _mm512_add_epi64(odd, odd);
    const Int v = _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xf5));
    const Int w = _mm512_mask_add_epi32(v, shifts, v, _mm512_srai_epi32(v, 31));
    return _mm512_srav_epi32(_mm512_add_epi32(_mm512_srav_epi32(w, before), last), last);
  }

  Int multiplier, odd_multiplier;
  Int last, before;  // 1, and the shift less 1; both 0 where the shift is 0
  __mmask16 shifts;
};

}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_REQUANTIZE_AVX512VNNI_H_
