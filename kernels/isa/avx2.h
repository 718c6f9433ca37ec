// AVX2 for the kernel families, also the base of AVX-VNNI: requantisation of int32 accumulators to
// bytes. Included only by kernel files with one of these sets' compile flags.
#ifndef QRT_KERNELS_ISA_AVX2_H_
#define QRT_KERNELS_ISA_AVX2_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"
#include "kernels/isa/vec_avx2.h"
#include "kernels/requant.h"

namespace qrt {
namespace {
namespace avx2 {

// RQ_F32, half to even, zero point after rounding: the vector form of requantize(). Needs the
// rounding mode nearest-even, which a session sets.
struct RequantF32 {
  const float* scale;  // of the first channel
  __m256i zero_point;  // int16
  __m256i lo, hi;      // uint8
  __m256 limit;        // hi - zero_point
  bool plain;          // every scale < 1, so no product reaches 2^31; lo 0 and hi 255

  static bool handles(const Requant& r, size_t) {
    return !kIntegerOnly && r.kind == RequantKind::kF32 && r.round == Round::kHalfEven &&
           !r.zero_point_before;
  }

  // REQUIRES: handles(r); scales readable to the next multiple of 8 channels.
  static RequantF32 make(const Requant& r, const int32_t*, size_t channels, size_t) {
    int large = 0;
    for (size_t j = 0; j < channels; j += 8) {
      large |= _mm256_movemask_ps(
          _mm256_cmp_ps(_mm256_loadu_ps(r.scale + j), _mm256_set1_ps(1), _CMP_GE_OQ));
    }
    return {r.scale,
            _mm256_set1_epi16(static_cast<short>(r.zero_point)),
            _mm256_set1_epi8(static_cast<char>(r.lo)),
            _mm256_set1_epi8(static_cast<char>(r.hi)),
            _mm256_set1_ps(static_cast<float>(r.hi - r.zero_point)),
            large == 0 && r.lo == 0 && r.hi == 255};
  }

  QRT_INLINE __m256i start(__m256i bias) { return bias; }

  // CVTPS2DQ gives INT_MIN for everything out of range, which the packs below saturate to the
  // lowest output: right for negative values; the limit keeps positive ones from it.
  template <bool kPlain>
  __attribute__((always_inline)) __m256i rounded(__m256i acc, __m256 s) const {
    __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), s);
    if (!kPlain) v = _mm256_min_ps(v, limit);
    return _mm256_cvtps_epi32(v);
  }

  // Four vectors of 8 accumulators to 32 bytes. Dword 4 i + v of the result holds bytes
  // 4 i .. 4 i + 3 of vector v: the order the packs leave, undone by in_order().
  template <bool kPlain>
  __attribute__((always_inline)) __m256i bytes(__m256i v0, __m256i v1, __m256i v2, __m256i v3,
                                               __m256 s0, __m256 s1, __m256 s2, __m256 s3) const {
    const __m256i low = _mm256_packs_epi32(rounded<kPlain>(v0, s0), rounded<kPlain>(v1, s1));
    const __m256i high = _mm256_packs_epi32(rounded<kPlain>(v2, s2), rounded<kPlain>(v3, s3));
    const __m256i b = _mm256_packus_epi16(_mm256_adds_epi16(low, zero_point),
                                          _mm256_adds_epi16(high, zero_point));
    return kPlain ? b : _mm256_min_epu8(_mm256_max_epu8(b, lo), hi);
  }

  // bytes() in the order of the channels: vector 0 first.
  QRT_INLINE __m256i in_order(__m256i b) {
    return _mm256_permutevar8x32_epi32(b, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
};

}  // namespace avx2
}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_AVX2_H_
