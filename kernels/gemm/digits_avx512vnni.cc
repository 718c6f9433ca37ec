// SPDX-License-Identifier: Apache-2.0
// digits.h with AVX-512: eight 64-bit lanes.
#include <immintrin.h>

#include "kernels/gemm/digits_loops.h"

namespace qrt {
namespace {

struct Lanes64 {
  static constexpr size_t kLanes = 8;
  using Int = __m512i;

  static Int load(const int64_t* p) { return _mm512_loadu_si512(p); }
  static Int set(int64_t v) { return _mm512_set1_epi64(v); }
  static Int widen(const int32_t* p) {
    return _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Int add(Int a, Int b) { return _mm512_add_epi64(a, b); }
  static Int shift_left_8(Int v) { return _mm512_slli_epi64(v, 8); }
  static Int low_half(Int v) { return _mm512_srai_epi64(_mm512_slli_epi64(v, 32), 32); }
  static Int clamp(Int v, int64_t lo, int64_t hi) {
    return _mm512_min_epi64(_mm512_max_epi64(v, set(lo)), set(hi));
  }
  static void store(int16_t* y, Int v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm512_cvtepi64_epi16(v));
  }

  template <Round kRound>
  struct Stage {
    void set(const RequantStage& stage, size_t c) {
      const Int one = _mm512_set1_epi64(1);
      multiplier = widen(stage.multiplier + c);
      shift =
          _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(stage.shift + c)));
      bit = _mm512_sllv_epi64(one, shift);
      half = _mm512_srli_epi64(bit, 1);
      less = _mm512_min_epu64(half, one);
    }
    Int apply(Int v) const {
      const Int product = _mm512_mullo_epi64(v, multiplier);
      Int sum = _mm512_add_epi64(product, half);
      if constexpr (kRound == Round::kHalfEven)
        sum = _mm512_mask_sub_epi64(sum, _mm512_testn_epi64_mask(product, bit), sum, less);
      if constexpr (kRound == Round::kHalfAway)
        sum = _mm512_mask_sub_epi64(sum, _mm512_movepi64_mask(product), sum, less);
      return _mm512_srav_epi64(sum, shift);
    }
    Int multiplier, shift, bit, half;
    Int less;  // 1, or 0 where the shift is 0
  };
};

}  // namespace

void digits_split_avx512vnni(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  split(x, n, high, low);
}

void digits_combine_avx512vnni(const CombineArgs& args) { combine<Lanes64>(args); }

}  // namespace qrt
