// Affine fits of 16 channels, a lane each. With the real factor multiplier / 2^shift, k - factor * T(k) is
// (addend - rest(k)) / 2^shift, where rest(k) = T(k) * multiplier + addend - k * 2^shift, in
// 0..multiplier-1, falls by a constant modulo the multiplier. What the slope is beside the factor moves
// that by at most as much times T(256). All of it is exact: multiples of 2^-41 below 2.
#include <immintrin.h>

#include "kernels/affine/affine.h"
#include "kernels/isa/inline.h"

namespace qrt {
namespace {

constexpr int kOutputs = 256;  // one more than there are beside 0: a fit keeps it as well

// Values of 8 channels in 64 bits.
struct Eight {
  Eight(const AffineBlock& block, size_t first)
      : m(_mm512_cvtepi32_epi64(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block.multiplier + first)))),
        whole(_mm512_sllv_epi64(_mm512_set1_epi64(1),
                                _mm512_cvtepi32_epi64(_mm256_loadu_si256(
                                    reinterpret_cast<const __m256i*>(block.shift + first))))),
        addend(_mm512_loadu_si512(block.addend + first)),
        reciprocal(_mm512_div_pd(_mm512_set1_pd(1), _mm512_cvtepi64_pd(m))) {}

  // v modulo m, v in 0 .. 2^43: the quotient by the reciprocal is right but for one.
  __m512i modulo(__m512i v) const {
    const __m512i q = _mm512_cvttpd_epi64(_mm512_mul_pd(_mm512_cvtepi64_pd(v), reciprocal));
    const __m512i rest = _mm512_sub_epi64(v, _mm512_mullo_epi64(q, m));
    const __m512i up = _mm512_min_epu64(rest, _mm512_add_epi64(rest, m));
    return _mm512_min_epu64(up, _mm512_sub_epi64(up, m));
  }
  __m512i fall() const { return modulo(whole); }
  // rest(1)
  __m512i first_rest() const {
    const __m512i most = _mm512_sub_epi64(m, _mm512_set1_epi64(1));
    return _mm512_sub_epi64(most, modulo(_mm512_add_epi64(_mm512_sub_epi64(whole, addend), most)));
  }

  // The intercept, between its bounds; which of them are apart.
  __mmask8 fit(__m256 slope, __m256i smallest, __m256i greatest, __m256* intercept) const {
    const __m512d zero = _mm512_setzero_pd(), a = _mm512_cvtps_pd(slope);
    const __m512d wholes = _mm512_cvtepi64_pd(whole), adds = _mm512_cvtepi64_pd(addend);
    const __m512d unit = _mm512_div_pd(_mm512_set1_pd(1), wholes);
    // At least T(256).
    const __m512d last = _mm512_roundscale_pd(
        _mm512_add_pd(_mm512_mul_pd(_mm512_mul_pd(_mm512_set1_pd(kOutputs), wholes), reciprocal),
                      _mm512_set1_pd(2)),
        _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512d drift =
        _mm512_mul_pd(_mm512_sub_pd(a, _mm512_mul_pd(_mm512_cvtepi64_pd(m), unit)), last);
    const __m512d back = _mm512_sub_pd(zero, drift);
    const __m512d low =
        _mm512_add_pd(_mm512_mul_pd(_mm512_sub_pd(adds, _mm512_cvtepi32_pd(smallest)), unit),
                      _mm512_max_pd(back, zero));
    const __m512d high = _mm512_add_pd(
        _mm512_add_pd(_mm512_mul_pd(_mm512_sub_pd(adds, _mm512_cvtepi32_pd(greatest)), unit),
                      _mm512_min_pd(back, zero)),
        a);
    *intercept = _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_add_pd(low, high), _mm512_set1_pd(0.5)));
    const __m512d b = _mm512_cvtps_pd(*intercept);
    return _mm512_cmp_pd_mask(b, low, _CMP_GE_OQ) & _mm512_cmp_pd_mask(b, high, _CMP_LT_OQ);
  }

  __m512i m, whole, addend;
  __m512d reciprocal;
};

QRT_INLINE __m512i join(__m512i low, __m512i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(low)),
                            _mm512_cvtepi64_epi32(high), 1);
}

}  // namespace

uint32_t affine_fits_avx512vnni(const AffineBlock& block, float* slope, float* intercept) {
  const Eight low(block, 0), high(block, 8);
  const __m512i m = _mm512_loadu_si512(block.multiplier);
  const __m512i fall = join(low.fall(), high.fall());
  // A step further; modulo m, as numbers without sign, below 2^31.
  const auto next = [m](__m512i rest, __m512i by) QRT_INLINE_LAMBDA {
    const __m512i v = _mm512_sub_epi32(rest, by);
    return _mm512_min_epu32(v, _mm512_add_epi32(v, m));
  };
  // Odd and even outputs are two chains.
  const __m512i twice = _mm512_add_epi32(fall, fall);
  const __m512i falls = _mm512_min_epu32(twice, _mm512_sub_epi32(twice, m));
  __m512i odd = join(low.first_rest(), high.first_rest()), even = next(odd, fall);
  __m512i smallest = _mm512_min_epu32(odd, even), greatest = _mm512_max_epu32(odd, even);
  for (int i = 1; i < kOutputs / 2; ++i) {
    odd = next(odd, falls);
    even = next(even, falls);
    smallest = _mm512_min_epu32(smallest, _mm512_min_epu32(odd, even));
    greatest = _mm512_max_epu32(greatest, _mm512_max_epu32(odd, even));
  }
  const __m512 a = _mm512_div_ps(
      _mm512_cvtepi32_ps(m),
      _mm512_scalef_ps(_mm512_set1_ps(1), _mm512_cvtepi32_ps(_mm512_loadu_si512(block.shift))));
  __m256 b_low, b_high;
  const uint32_t fits = low.fit(_mm512_castps512_ps256(a), _mm512_castsi512_si256(smallest),
                                _mm512_castsi512_si256(greatest), &b_low) |
                        static_cast<uint32_t>(high.fit(
                            _mm512_extractf32x8_ps(a, 1), _mm512_extracti64x4_epi64(smallest, 1),
                            _mm512_extracti64x4_epi64(greatest, 1), &b_high))
                            << 8;
  _mm512_storeu_ps(slope, a);
  _mm256_storeu_ps(intercept, b_low);
  _mm256_storeu_ps(intercept + 8, b_high);
  return fits;
}

}  // namespace qrt
