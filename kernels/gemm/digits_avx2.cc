// SPDX-License-Identifier: Apache-2.0
// digits.h with AVX2: four 64-bit lanes, which have no multiplication beyond 32 bits, no
// arithmetic shift and no minimum of their own.
#include <immintrin.h>

#include "kernels/gemm/digits_loops.h"

namespace qrt {
namespace {

struct Lanes64 {
  static constexpr size_t kLanes = 4;
  using Int = __m256i;

  static Int load(const int64_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static Int set(int64_t v) { return _mm256_set1_epi64x(v); }
  static Int widen(const int32_t* p) {
    return _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static Int add(Int a, Int b) { return _mm256_add_epi64(a, b); }
  static Int shift_left_8(Int v) { return _mm256_slli_epi64(v, 8); }
  static Int low_half(Int v) {
    const Int sign = set(int64_t{1} << 31);
    return _mm256_sub_epi64(_mm256_xor_si256(_mm256_and_si256(v, set(0xffffffff)), sign), sign);
  }
  static Int clamp(Int v, int64_t lo, int64_t hi) {
    const Int l = set(lo), h = set(hi);
    v = _mm256_blendv_epi8(v, l, _mm256_cmpgt_epi64(l, v));
    return _mm256_blendv_epi8(v, h, _mm256_cmpgt_epi64(v, h));
  }
  static void store(int16_t* y, Int v) {
    const Int even = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    const __m128i ints = _mm256_castsi256_si128(even);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(y), _mm_packs_epi32(ints, ints));
  }

  template <Round kRound>
  struct Stage {
    void set(const RequantStage& stage, size_t c) {
      const Int one = _mm256_set1_epi64x(1);
      int32_t shifts;
      memcpy(&shifts, stage.shift + c, sizeof shifts);
      multiplier = widen(stage.multiplier + c);
      shift = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(shifts));
      bit = _mm256_sllv_epi64(one, shift);
      half = _mm256_srli_epi64(bit, 1);
      less = _mm256_srlv_epi64(half, _mm256_subs_epu16(shift, one));
      base = _mm256_set1_epi64x(int64_t{1} << 62);
      shifted_base = _mm256_srlv_epi64(base, shift);
    }
    Int apply(Int v) const {
      const Int high = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), multiplier);
      const Int product =
          _mm256_add_epi64(_mm256_mul_epu32(v, multiplier), _mm256_slli_epi64(high, 32));
      Int sum = _mm256_add_epi64(product, half);
      if constexpr (kRound == Round::kHalfEven) {
        const Int even = _mm256_cmpeq_epi64(_mm256_and_si256(product, bit), _mm256_setzero_si256());
        sum = _mm256_sub_epi64(sum, _mm256_and_si256(even, less));
      }
      if constexpr (kRound == Round::kHalfAway) {
        const Int negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), product);
        sum = _mm256_sub_epi64(sum, _mm256_and_si256(negative, less));
      }
      // |sum| < 2^62 + 2^61: shifted as a number that is not negative.
      return _mm256_sub_epi64(_mm256_srlv_epi64(_mm256_add_epi64(sum, base), shift), shifted_base);
    }
    Int multiplier, shift, bit, half;
    Int less;  // 1, or 0 where the shift is 0
    Int base, shifted_base;
  };
};

}  // namespace

void digits_split_avx2(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  split(x, n, high, low);
}

void digits_combine_avx2(const CombineArgs& args) { combine<Lanes64>(args); }

}  // namespace qrt
