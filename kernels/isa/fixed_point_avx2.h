// SPDX-License-Identifier: Apache-2.0
// Fixed-point requantisations of AVX2 in registers: the arithmetic of fixed_point_avx512vnni.h, which
// says why it is exact, on 256 bits. There is no rounding within an instruction: RoundDown sets it
// for the whole call of a kernel. Included only by kernel files with this set's flags.
#ifndef QRT_KERNELS_ISA_FIXED_POINT_AVX2_H_
#define QRT_KERNELS_ISA_FIXED_POINT_AVX2_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"
#include "kernels/requant.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx2 {

// Floats are rounded down while it lives, if the requantisation is one of integers. Its other
// vector forms do not round floats.
class RoundDown {
 public:
  explicit RoundDown(const Requant& r)
      : is_set_(!kIntegerOnly && r.kind == RequantKind::kInt), saved_(is_set_ ? _mm_getcsr() : 0) {
    if (is_set_) _mm_setcsr((saved_ & ~static_cast<unsigned>(_MM_ROUND_MASK)) | _MM_ROUND_DOWN);
  }
  ~RoundDown() {
    if (is_set_) _mm_setcsr(saved_);
  }
  RoundDown(const RoundDown&) = delete;
  RoundDown& operator=(const RoundDown&) = delete;

 private:
  const bool is_set_;
  const unsigned saved_;
};

struct FixedPoint {
  __m256 high, low, nudge;  // H, L, |n| of 8 channels

  // Returns s of the 8 channels from c on.
  QRT_INLINE __m256i shifts(const Requant& r, size_t c) {
    const RequantStage& last = r.stages[r.stage_count - 1];
    const __m256i shift = widened(last.shift + c);
    return r.stage_count == 2 ? shift : _mm256_sub_epi32(shift, _mm256_set1_epi32(31));
  }

  // Returns whether the channels c .. c + channels - 1 can be done so. m = 0 is 0 whatever s.
  static bool handles(const Requant& r, size_t c, size_t channels) {
    if (kIntegerOnly || !is_fixed_point(r)) return false;
    const RequantStage &first = r.stages[0], &second = r.stages[1];
    const bool two = r.stage_count == 2;
    const __m256i one = _mm256_set1_epi32(1), zero = _mm256_setzero_si256();
    __m256i all = _mm256_set1_epi32(-1);
    for (size_t j = c; j < c + channels; j += 8) {
      const __m256i m = load(first.multiplier + j), s = shifts(r, j);
      const __m256i small = _mm256_or_si256(_mm256_cmpgt_epi32(one, s),  // s is not 1 .. 14
                                            _mm256_cmpgt_epi32(s, _mm256_set1_epi32(14)));
      const __m256i large = _mm256_cmpgt_epi32(m, _mm256_set1_epi32((1 << 30) - 1));
      all = _mm256_and_si256(
          all, _mm256_or_si256(_mm256_andnot_si256(small, large), _mm256_cmpeq_epi32(m, zero)));
      if (two) {
        const __m256i by_31 = _mm256_cmpeq_epi32(widened(first.shift + j), _mm256_set1_epi32(31));
        all = _mm256_and_si256(
            all, _mm256_and_si256(by_31, _mm256_cmpeq_epi32(load(second.multiplier + j), one)));
      }
    }
    return _mm256_movemask_epi8(all) == -1;
  }

  // REQUIRES: handles() of these 8 channels.
  static FixedPoint make(const Requant& r, size_t c) {
    const __m256i m = load(r.stages[0].multiplier + c), s = shifts(r, c);
    const __m256i rest = _mm256_set1_epi32(127);
    const __m256 unit = power(_mm256_sub_epi32(_mm256_set1_epi32(-30), s));
    const __m256 nudge = power(_mm256_sub_epi32(_mm256_setzero_si256(), s));
    const __m256i none =
        r.stage_count == 2 ? _mm256_cmpeq_epi32(m, _mm256_setzero_si256()) : _mm256_set1_epi32(-1);
    return {_mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_andnot_si256(rest, m)), unit),
            _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_and_si256(rest, m)), unit),
            _mm256_andnot_ps(_mm256_castsi256_ps(none), nudge)};
  }

  // Returns i for 8 sums. REQUIRES: RoundDown. Without kSigned, a negative acc gives any i with y <= 0.
  template <bool kSigned>
  QRT_INLINE __m256i doubled(__m256i acc, __m256 high, __m256 low, __m256 nudge) {
    const __m256 x = _mm256_cvtepi32_ps(acc);
    if constexpr (kSigned) nudge = _mm256_or_ps(nudge, _mm256_and_ps(x, _mm256_set1_ps(-0.0f)));
    return _mm256_cvtps_epi32(_mm256_fmadd_ps(x, high, _mm256_fmadd_ps(x, low, nudge)));
  }

  // y of words i.
  QRT_INLINE __m256i halved(__m256i i) {
    return _mm256_mulhrs_epi16(i, _mm256_set1_epi16(1 << 14));
  }

 private:
  QRT_INLINE __m256i load(const int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  QRT_INLINE __m256i widened(const uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  // 2^e, e -126..127.
  QRT_INLINE __m256 power(__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
  }
};

}  // namespace avx2
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_FIXED_POINT_AVX2_H_
