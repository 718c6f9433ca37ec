// SPDX-License-Identifier: Apache-2.0
// Affine fits of 16 channels, a lane each. With the real factor multiplier / 2^shift, k - factor * T(k) is
// (addend - rest(k)) / 2^shift, where rest(k) = (addend - k * 2^shift) modulo the multiplier. The least and the
// greatest of these are found in fractions of the multiplier of 32 bits, whose additions are modulo by
// themselves. The slope's distance from the factor moves the result by that times T(k): known well enough for
// kPart outputs together.
#include <immintrin.h>

#include "kernels/affine/affine.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr int kOutputs = 256;  // one more than there are beside 0: a fit keeps it as well
constexpr int kParts = 4, kPart = kOutputs / kParts;

// A fraction of an output is off by kError at most, however it is rounded: by less than 1.01 at the start
// and for every output before. It is kept too large, by 0 to 2 * kError.
constexpr uint32_t kError = 260;
constexpr double kFraction = 4294967296;  // 2^32

// More than the roundings of what is below 2, times a few.
constexpr double kMargin = 1.0 / (int64_t{1} << 45);

QRT_INLINE __m512d splat(double v) { return _mm512_set1_pd(v); }

// Values of 8 channels.
struct Eight {
  Eight(const AffineBlock& block, size_t first)
      : m(_mm512_cvtepi32_pd(load(block.multiplier + first))),
        unit(_mm512_scalef_pd(
            splat(1),
            _mm512_sub_pd(_mm512_setzero_pd(), _mm512_cvtepi32_pd(load(block.shift + first))))),
        factor(_mm512_mul_pd(m, unit)),
        inverse(_mm512_div_pd(splat(1), factor)),
        addend(_mm512_add_pd(splat(0.5), _mm512_mul_pd(splat(block.extra), unit))) {}

  static __m256i load(const int32_t* values) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
  }
  // Modulo 1, in fractions.
  static __m256i fraction(__m512d v) {
    return _mm512_cvtepi64_epi32(_mm512_cvtpd_epi64(_mm512_mul_pd(v, splat(kFraction))));
  }
  __m256i step() const { return fraction(inverse); }
  __m256i start() const {
    return _mm256_add_epi32(fraction(_mm512_mul_pd(addend, inverse)), _mm256_set1_epi32(kError));
  }

  // Narrows the bounds of the intercept to those that outputs kPart * part + 1 .. kPart * (part + 1) leave.
  void limit(int part, __m512d drift, __m256i smallest, __m256i greatest) {
    const __m512d zero = _mm512_setzero_pd(), last = _mm512_sub_pd(factor, unit);
    const __m512d scale = _mm512_mul_pd(factor, splat(1 / kFraction));
    const __m512d small = _mm512_sub_pd(_mm512_cvtepu32_pd(smallest), splat(2 * kError));
    // Fractions wrap around: one below 0 cannot be told from one above the last.
    const __mmask8 wraps = _mm512_cmp_pd_mask(small, zero, _CMP_LT_OQ);
    const __m512d least_rest = _mm512_mul_pd(_mm512_max_pd(small, zero), scale);
    const __m512d most_rest = _mm512_mask_mov_pd(
        _mm512_min_pd(_mm512_mul_pd(_mm512_cvtepu32_pd(greatest), scale), last), wraps, last);
    const __m512d first = _mm512_mul_pd(drift, _mm512_mul_pd(inverse, splat(kPart * part)));
    const __m512d end = _mm512_mul_pd(
        drift, _mm512_add_pd(_mm512_mul_pd(inverse, splat(kPart * (part + 1))), splat(1)));
    low = _mm512_max_pd(
        low, _mm512_sub_pd(_mm512_sub_pd(addend, least_rest), _mm512_min_pd(first, end)));
    high = _mm512_min_pd(
        high, _mm512_sub_pd(_mm512_sub_pd(addend, most_rest), _mm512_max_pd(first, end)));
  }

  // Chooses the intercept midway between its bounds. Returns for which channels they leave room.
  __mmask8 fit(__m512d slope, __m256* intercept) const {
    const __m512d least = _mm512_add_pd(low, splat(kMargin));
    const __m512d most = _mm512_sub_pd(_mm512_add_pd(high, slope), splat(kMargin));
    *intercept = _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_add_pd(least, most), splat(0.5)));
    const __m512d b = _mm512_cvtps_pd(*intercept);
    return _mm512_cmp_pd_mask(b, least, _CMP_GE_OQ) & _mm512_cmp_pd_mask(b, most, _CMP_LT_OQ);
  }

  __m512d m, unit, factor, inverse, addend;
  __m512d low = splat(-2), high = splat(2);
};

QRT_INLINE __m512i join(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

}  // namespace

uint32_t affine_fits_avx512vnni(const AffineBlock& block, float* slope, float* intercept) {
  Eight low(block, 0), high(block, 8);
  const __m256 a_low = _mm512_cvtpd_ps(low.factor), a_high = _mm512_cvtpd_ps(high.factor);
  const __m512d slope_low = _mm512_cvtps_pd(a_low), slope_high = _mm512_cvtps_pd(a_high);
  const __m512d drift_low = _mm512_sub_pd(slope_low, low.factor),
                drift_high = _mm512_sub_pd(slope_high, high.factor);
  const __m512i step = join(low.step(), high.step());
  __m512i rest = join(low.start(), high.start());
  for (int part = 0; part < kParts; ++part) {
    __m512i smallest = _mm512_set1_epi32(-1), greatest = _mm512_setzero_si512();
    QRT_UNROLL
    for (int i = 0; i < kPart; ++i) {
      rest = _mm512_sub_epi32(rest, step);
      smallest = _mm512_min_epu32(smallest, rest);
      greatest = _mm512_max_epu32(greatest, rest);
    }
    low.limit(part, drift_low, _mm512_castsi512_si256(smallest), _mm512_castsi512_si256(greatest));
    high.limit(part, drift_high, _mm512_extracti64x4_epi64(smallest, 1),
               _mm512_extracti64x4_epi64(greatest, 1));
  }
  __m256 b_low, b_high;
  const uint32_t fits =
      low.fit(slope_low, &b_low) | static_cast<uint32_t>(high.fit(slope_high, &b_high)) << 8;
  _mm256_storeu_ps(slope, a_low);
  _mm256_storeu_ps(slope + 8, a_high);
  _mm256_storeu_ps(intercept, b_low);
  _mm256_storeu_ps(intercept + 8, b_high);
  return fits;
}

}  // namespace qrt
