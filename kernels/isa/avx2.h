// SPDX-License-Identifier: Apache-2.0
// AVX2 for the kernel families, also the base of AVX-VNNI: requantisation of int32 accumulators to
// bytes. Included only by kernel files with one of these sets' compile flags.
#ifndef QRT_KERNELS_ISA_AVX2_H_
#define QRT_KERNELS_ISA_AVX2_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/fixed_point_avx2.h"
#include "kernels/isa/inline.h"
#include "kernels/isa/vec_avx2.h"
#include "kernels/requant.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx2 {

// The constants of 8 channels for a requantisation in registers; `low` and `nudge` of kFixed only.
struct ChannelConstants {
  __m256 scale, low, nudge;
};

// The vector form of requantize() for RQ_F32, half to even, zero point after rounding, and for what
// FixedPoint handles. RQ_F32 needs the rounding mode nearest-even, which a session sets, the others
// RoundDown.
struct RequantInRegisters {
  enum Form {
    kLimited,  // everything that the saturating packs leave to do
    kPlain,    // every scale < 1, so no product reaches 2^31; lo 0 and hi 255
    kFixed,    // FixedPoint: scale is its high
  };

  const Requant* requant;
  __m256i zero_point;  // int16
  __m256i lo, hi;      // uint8
  __m256 limit;        // hi - zero_point
  Form form;

  static bool handles(const Requant& r, size_t channels) {
    if (kIntegerOnly) return false;
    return r.kind == RequantKind::kF32 ? r.round == Round::kHalfEven && !r.zero_point_before
                                       : FixedPoint::handles(r, 0, channels);
  }

  // REQUIRES: handles(r, channels); its arrays readable to the next multiple of 8 channels. Keeps the
  // address of r.
  static RequantInRegisters make(const Requant& r, const int32_t*, size_t channels, size_t) {
    return {&r,
            _mm256_set1_epi16(static_cast<short>(r.zero_point)),
            _mm256_set1_epi8(static_cast<char>(r.lo)),
            _mm256_set1_epi8(static_cast<char>(r.hi)),
            _mm256_set1_ps(static_cast<float>(r.hi - r.zero_point)),
            r.kind == RequantKind::kInt ? kFixed : float_form(r, channels)};
  }

  static Form float_form(const Requant& r, size_t channels) {
    int large = 0;
    for (size_t j = 0; j < channels; j += 8) {
      large |= _mm256_movemask_ps(
          _mm256_cmp_ps(_mm256_loadu_ps(r.scale + j), _mm256_set1_ps(1), _CMP_GE_OQ));
    }
    return large == 0 && r.lo == 0 && r.hi == 255 ? kPlain : kLimited;
  }

  QRT_INLINE __m256i start(__m256i bias) { return bias; }

  __attribute__((always_inline)) ChannelConstants constants(size_t channel) const {
    if (form == kFixed) {
      const FixedPoint f = FixedPoint::make(*requant, channel);
      return {f.high, f.low, f.nudge};
    }
    return {_mm256_loadu_ps(requant->scale + channel), _mm256_setzero_ps(), _mm256_setzero_ps()};
  }

  // Rounds to int32, which the packs saturate; kFixed gives twice the value. CVTPS2DQ gives INT_MIN
  // for everything out of range, which the packs saturate to the lowest output: right for negative
  // values; the limit keeps positive ones from it.
  template <Form kForm>
  __attribute__((always_inline)) __m256i rounded(__m256i acc, const ChannelConstants& k) const {
    if (kForm == kFixed) return FixedPoint::doubled<true>(acc, k.scale, k.low, k.nudge);
    __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), k.scale);
    if (kForm == kLimited) v = _mm256_min_ps(v, limit);
    return _mm256_cvtps_epi32(v);
  }

  // Requantises two vectors of 8 accumulators of two rows to 32 bytes. Dword 4 i + v of the result holds
  // bytes 4 i .. 4 i + 3 of vector v: the order in which packs leave them, and which in_order() undoes.
  template <Form kForm>
  __attribute__((always_inline)) __m256i bytes(const __m256i (&row)[2], const __m256i (&next)[2],
                                               const ChannelConstants (&k)[2]) const {
    __m256i low = _mm256_packs_epi32(rounded<kForm>(row[0], k[0]), rounded<kForm>(row[1], k[1]));
    __m256i high = _mm256_packs_epi32(rounded<kForm>(next[0], k[0]), rounded<kForm>(next[1], k[1]));
    if (kForm == kFixed) {
      low = FixedPoint::halved(low);
      high = FixedPoint::halved(high);
    }
    const __m256i b = _mm256_packus_epi16(_mm256_adds_epi16(low, zero_point),
                                          _mm256_adds_epi16(high, zero_point));
    return kForm == kPlain ? b : _mm256_min_epu8(_mm256_max_epu8(b, lo), hi);
  }

  // Brings the result of bytes() into the order of the channels: vector 0 first.
  QRT_INLINE __m256i in_order(__m256i b) {
    return _mm256_permutevar8x32_epi32(b, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
};

}  // namespace avx2
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_AVX2_H_
