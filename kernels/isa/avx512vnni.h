// SPDX-License-Identifier: Apache-2.0
// AVX-512 VNNI for the kernel families: the byte dot product, and requantisation of int32
// accumulators to bytes. Included only by kernel files with this set's compile flags.
#ifndef QRT_KERNELS_ISA_AVX512VNNI_H_
#define QRT_KERNELS_ISA_AVX512VNNI_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/fixed_point_avx512vnni.h"
#include "kernels/isa/inline.h"
#include "kernels/requant.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx512vnni {

// Adds dot products: acc[i] += sum over j < 4 of a[4 i + j] * b[4 i + j]; a unsigned, b signed. By
// inline assembly, because g++ 12 keeps arrays of accumulators in memory when this is the intrinsic.
QRT_INLINE void dot(__m512i& acc, __m512i a, __m512i b) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
}

// A sum that starts at the bits of the float 2^23 is, as a float f, 2^23 + sum from 0 up to 2^23,
// and 2^23 + sum / 2 or less below 0. So f * s - 2^23 * s, rounded once, is fl32(sum * s), exact
// like CVTDQ2PS and MULPS but in one instruction; negative sums give something negative, which is
// all that a requantisation with nothing below its zero point wants of them. 2^23 * s has the digits
// of s.
// Beyond 2^23 f is too large, 2^(23 + n) at n * 2^23, which changes nothing where a sum of 2^23 is
// the greatest output or more, and while f * s is below 2^31.
// Sums stay below kFusedSums; where a scale is kSaturatingScale or more and less than 1, below
// kMostFusedSums: 2^23 times such a scale is 256 or more, and f * s stays below 2^31.
constexpr int32_t kFusedSums = 1 << 23;
constexpr float kSaturatingScale = 0x1p-15f;
constexpr int32_t kMostFusedSums = 1 << 26;
constexpr size_t kMaxFusedK = 2048;  // 255 * 128 for each leaves some room for the bias

// Returns whether 16 channels' sums of k products stay in that range, and do not wrap around below it.
QRT_INLINE bool can_fuse(__m512i bias, __m512 scale, size_t k) {
  if (k > kMaxFusedK) return false;
  const int32_t reach = 32640 * static_cast<int32_t>(k);
  const __mmask16 saturates =
      _mm512_cmp_ps_mask(scale, _mm512_set1_ps(kSaturatingScale), _CMP_GE_OQ) &
      _mm512_cmp_ps_mask(scale, _mm512_set1_ps(1), _CMP_LT_OQ);
  const __m512i most = _mm512_mask_set1_epi32(_mm512_set1_epi32(kFusedSums - reach), saturates,
                                              kMostFusedSums - reach);
  return (_mm512_cmplt_epi32_mask(bias, most) &
          _mm512_cmpgt_epi32_mask(bias, _mm512_set1_epi32(-(1 << 30)))) == 0xffff;
}
QRT_INLINE __m512i start_sum(__m512i bias) {
  return _mm512_add_epi32(bias, _mm512_set1_epi32(0x4b000000));
}
QRT_INLINE __m512 offset_of(__m512 scale) {
  return _mm512_mul_ps(scale, _mm512_set1_ps(-8388608.0f));
}
QRT_INLINE __m512i rounded_sum(__m512i sum, __m512 scale, __m512 offset) {
  return _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_castsi512_ps(sum), scale, offset));
}

// The constants of 16 channels for a requantisation in registers; `offset` and `nudge` in some forms only.
struct ChannelConstants {
  __m512 scale, offset, nudge;
};

// The vector form of requantize() for RQ_F32, half to even, zero point after rounding, and for what
// FixedPoint handles. RQ_F32 needs the rounding mode nearest-even, which a session sets.
struct RequantInRegisters {
  // The work that is left behind the saturating packs.
  enum Form {
    kLimited,        // everything
    kPlain,          // every scale < 1, so no product reaches 2^31; lo 0 and hi 255
    kFromZero,       // kPlain with zero point 0, as behind a ReLU
    kFused,          // every scale < 1, nothing below the zero point, and sums for rounded_sum()
    kFixed,          // FixedPoint: scale and offset are its high and low
    kFixedFromZero,  // kFixed with zero point 0, lo 0 and hi 255
    kAffine,         // an affine fit, from zero: scale and offset are its slope and intercept
  };

  const Requant* requant;
  __m512i zero_point;  // int16
  __m512i lo, hi;      // uint8
  __m512i span;        // hi - lo, uint8
  __m512 limit;        // hi - zero_point
  __m512i first;       // added to the bias where sums start
  Form form;
  bool is_full;  // zero point 0, lo 0 and hi 255

  static bool handles(const Requant& r, size_t channels) {
    if (kIntegerOnly) return false;
    return r.kind == RequantKind::kF32 ? r.round == Round::kHalfEven && !r.zero_point_before
                                       : r.slope != nullptr || FixedPoint::handles(r, 0, channels);
  }

  // REQUIRES: handles(r, channels); scales and bias readable to the next multiple of 16 channels.
  // Keeps the address of r.
  static RequantInRegisters make(const Requant& r, const int32_t* bias, size_t channels, size_t k) {
    const Form form = r.kind == RequantKind::kF32 ? float_form(r, bias, channels, k)
                      : r.slope != nullptr        ? kAffine
                      : is_from_zero(r)           ? kFixedFromZero
                                                  : kFixed;
    return {&r,
            _mm512_set1_epi16(static_cast<short>(r.zero_point)),
            _mm512_set1_epi8(static_cast<char>(r.lo)),
            _mm512_set1_epi8(static_cast<char>(r.hi)),
            _mm512_set1_epi8(static_cast<char>(r.hi - r.lo)),
            _mm512_set1_ps(static_cast<float>(r.hi - r.zero_point)),
            form == kFused ? start_sum(_mm512_setzero_si512()) : _mm512_setzero_si512(),
            form,
            is_from_zero(r)};
  }

  static bool is_from_zero(const Requant& r) {
    return r.zero_point == 0 && r.lo == 0 && r.hi == 255;
  }

  static Form float_form(const Requant& r, const int32_t* bias, size_t channels, size_t k) {
    __mmask16 large = 0;
    bool fuses = r.lo == r.zero_point;
    for (size_t j = 0; j < channels; j += 16) {
      const __m512 s = _mm512_loadu_ps(r.scale + j);
      large |= _mm512_cmp_ps_mask(s, _mm512_set1_ps(1), _CMP_GE_OQ);
      fuses = fuses && can_fuse(_mm512_loadu_si512(bias + j), s, k);
    }
    return large != 0                 ? kLimited
           : fuses                    ? kFused
           : r.lo != 0 || r.hi != 255 ? kLimited
           : r.zero_point != 0        ? kPlain
                                      : kFromZero;
  }

  // Returns whether the zero point takes no instruction of its own: kPlain is kFromZero with a zero point of 0.
  bool is_plain() const { return form == kPlain || form == kFromZero; }

  __attribute__((always_inline)) __m512i start(__m512i bias) const {
    return _mm512_add_epi32(bias, first);
  }
  __attribute__((always_inline)) __m256i start(__m256i bias) const {
    return _mm256_add_epi32(bias, _mm512_castsi512_si256(first));
  }

  __attribute__((always_inline)) ChannelConstants constants(size_t channel) const {
    if (form == kAffine) {
      return {_mm512_loadu_ps(requant->slope + channel),
              _mm512_loadu_ps(requant->intercept + channel), _mm512_setzero_ps()};
    }
    if (form == kFixed || form == kFixedFromZero) {
      const FixedPoint f = FixedPoint::make(*requant, channel);
      return {f.high, f.low, f.nudge};
    }
    const __m512 scale = _mm512_loadu_ps(requant->scale + channel);
    return {scale, offset_of(scale), _mm512_setzero_ps()};
  }

  // Rounds to int32, which the packs saturate; the fixed-point forms give twice the value. CVTPS2DQ
  // gives INT_MIN for everything out of range, which the packs below saturate to the lowest output:
  // right for negative values; the limit keeps positive ones from it.
  template <Form kForm>
  QRT_INLINE __m512i rounded(__m512i acc, const ChannelConstants& k, __m512 limit) {
    if (kForm == kFixed) return FixedPoint::doubled<true>(acc, k.scale, k.offset, k.nudge);
    if (kForm == kFixedFromZero) return FixedPoint::doubled<false>(acc, k.scale, k.offset, k.nudge);
    if (kForm == kFused) return rounded_sum(acc, k.scale, k.offset);
    if (kForm == kAffine) return FixedPoint::of_affine(acc, k.scale, k.offset);
    __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), k.scale);
    if (kForm == kLimited) v = _mm512_min_ps(v, limit);
    return _mm512_cvtps_epi32(v);
  }

  // Requantises four vectors of 16 accumulators to 64 bytes. Dword 4 i + v of the result holds bytes
  // 4 i .. 4 i + 3 of vector v: the order in which packs leave them, and which in_order() undoes.
  template <Form kForm, int NV>
  __attribute__((always_inline)) __m512i bytes(__m512i v0, __m512i v1, __m512i v2, __m512i v3,
                                               const ChannelConstants (&k)[NV]) const {
    const __m512i r0 = rounded<kForm>(v0, k[0], limit);
    const __m512i r1 = rounded<kForm>(v1, k[1 % NV], limit);
    const __m512i r2 = rounded<kForm>(v2, k[2 % NV], limit);
    const __m512i r3 = rounded<kForm>(v3, k[3 % NV], limit);
    __m512i low = _mm512_packs_epi32(r0, r1), high = _mm512_packs_epi32(r2, r3);
    if (kForm == kFixed || kForm == kFixedFromZero) {
      low = FixedPoint::halved(low);
      high = FixedPoint::halved(high);
    }
    if (kForm == kLimited || kForm == kPlain || kForm == kFixed) {
      low = _mm512_adds_epi16(low, zero_point);
      high = _mm512_adds_epi16(high, zero_point);
    }
    const __m512i b = _mm512_packus_epi16(low, high);
    if (kForm == kFused && !is_full) return _mm512_add_epi8(_mm512_min_epu8(b, span), lo);
    const bool limits = kForm == kLimited || kForm == kFixed;
    return limits ? _mm512_min_epu8(_mm512_max_epu8(b, lo), hi) : b;
  }

  // Brings the result of bytes() into the order of the channels: vector 0 first.
  QRT_INLINE __m512i in_order(__m512i b) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, b);
  }
};

}  // namespace avx512vnni
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_AVX512VNNI_H_
