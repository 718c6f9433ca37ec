// Elementwise add and mul: in float 64 bytes at a time, in integers by chunks.h.
#include <immintrin.h>

#include "kernels/elementwise/walk.h"
#include "kernels/isa/requantize_avx2.h"

namespace qrt {
namespace {

// Four vectors of 8 numbers to 32 bytes: clamp(v + offset, lo, hi). The bytes come in the order of
// the packs: of each 128-bit lane of v0, v1, v2, v3 in turn.
inline __m256i to_bytes(__m256i v0, __m256i v1, __m256i v2, __m256i v3, __m256i offset, __m256i lo,
                        __m256i hi) {
  const __m256i w0 = _mm256_adds_epi16(_mm256_packs_epi32(v0, v1), offset);
  const __m256i w1 = _mm256_adds_epi16(_mm256_packs_epi32(v2, v3), offset);
  return _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(w0, w1), lo), hi);
}

inline void store(uint8_t* y, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), v); }

template <bool kFma, bool kFirstSigned, bool kSecondSigned>
struct Sum {
  explicit Sum(const SumConstants& c)
      : first_scale(_mm256_set1_ps(c.first_scale)),
        second_scale(_mm256_set1_ps(c.second_scale)),
        constant(_mm256_set1_ps(c.constant)),
        offset(_mm256_set1_epi16(c.offset)),
        lo(_mm256_set1_epi8(static_cast<char>(c.lo))),
        hi(_mm256_set1_epi8(static_cast<char>(c.hi))),
        order(_mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)) {}

  template <bool kSigned>
  static __m256 numbers(const uint8_t* x) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x));
    return _mm256_cvtepi32_ps(kSigned
                                  ? _mm256_cvtepi8_epi32(_mm_xor_si128(bytes, _mm_set1_epi8(-128)))
                                  : _mm256_cvtepu8_epi32(bytes));
  }

  __m256i sums(const uint8_t* a, const uint8_t* b) const {
    const __m256 x1 = numbers<kFirstSigned>(a), x2 = numbers<kSecondSigned>(b);
    if (kFma)
      return _mm256_cvtps_epi32(
          _mm256_fmadd_ps(x2, second_scale, _mm256_fmadd_ps(x1, first_scale, constant)));
    return _mm256_cvtps_epi32(_mm256_add_ps(_mm256_add_ps(constant, _mm256_mul_ps(x1, first_scale)),
                                            _mm256_mul_ps(x2, second_scale)));
  }

  __m256i half(const uint8_t* a, const uint8_t* b) const {
    const __m256i bytes = to_bytes(sums(a, b), sums(a + 8, b + 8), sums(a + 16, b + 16),
                                   sums(a + 24, b + 24), offset, lo, hi);
    return _mm256_permutevar8x32_epi32(bytes, order);
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    store(y, half(a, b));
    store(y + 32, half(a + 32, b + 32));
  }
  void part(const uint8_t* a, const uint8_t* b, uint8_t* y, size_t n) const {
    part_by_buffers(*this, a, b, y, n);
  }

  __m256 first_scale, second_scale, constant;
  __m256i offset, lo, hi, order;
};

template <bool kFused, bool kHalfUp>
struct Product {
  explicit Product(const ProductConstants& c)
      : scale(_mm256_set1_ps(c.scale)),
        addend(_mm256_set1_ps(c.addend)),
        a_zero_point(_mm256_set1_epi16(c.a_zero_point)),
        b_zero_point(_mm256_set1_epi16(c.b_zero_point)),
        offset(_mm256_set1_epi16(c.offset)),
        lo(_mm256_set1_epi8(static_cast<char>(c.lo))),
        hi(_mm256_set1_epi8(static_cast<char>(c.hi))) {}

  __m256i scaled(__m256i product) const {
    const __m256 p = _mm256_cvtepi32_ps(product);
    const __m256 v =
        kFused ? _mm256_fmadd_ps(p, scale, addend) : _mm256_add_ps(_mm256_mul_ps(p, scale), addend);
    const __m256i even = _mm256_cvtps_epi32(v);
    if (!kHalfUp) return even;
    // A tie that went down to the even neighbour goes up instead: a true comparison is -1.
    const __m256 down =
        _mm256_cmp_ps(_mm256_sub_ps(v, _mm256_cvtepi32_ps(even)), _mm256_set1_ps(0.5f), _CMP_EQ_OQ);
    return _mm256_sub_epi32(even, _mm256_castps_si256(down));
  }

  // Unpacking and packing both stay within 128-bit lanes, so the order of the bytes comes back.
  __m256i half(const uint8_t* a, const uint8_t* b) const {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    const __m256i zero = _mm256_setzero_si256();
    const __m256i x0 = _mm256_sub_epi16(_mm256_unpacklo_epi8(x, zero), a_zero_point);
    const __m256i x1 = _mm256_sub_epi16(_mm256_unpackhi_epi8(x, zero), a_zero_point);
    const __m256i y0 = _mm256_sub_epi16(_mm256_unpacklo_epi8(y, zero), b_zero_point);
    const __m256i y1 = _mm256_sub_epi16(_mm256_unpackhi_epi8(y, zero), b_zero_point);
    const __m256i low0 = _mm256_mullo_epi16(x0, y0), high0 = _mm256_mulhi_epi16(x0, y0);
    const __m256i low1 = _mm256_mullo_epi16(x1, y1), high1 = _mm256_mulhi_epi16(x1, y1);
    return to_bytes(scaled(_mm256_unpacklo_epi16(low0, high0)),
                    scaled(_mm256_unpackhi_epi16(low0, high0)),
                    scaled(_mm256_unpacklo_epi16(low1, high1)),
                    scaled(_mm256_unpackhi_epi16(low1, high1)), offset, lo, hi);
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    store(y, half(a, b));
    store(y + 32, half(a + 32, b + 32));
  }
  void part(const uint8_t* a, const uint8_t* b, uint8_t* y, size_t n) const {
    part_by_buffers(*this, a, b, y, n);
  }

  __m256 scale, addend;
  __m256i a_zero_point, b_zero_point, offset, lo, hi;
};

}  // namespace

void elementwise_add_avx2(const AddParams& params, const ElementwiseRun& run) {
  add<Sum>(params, run);
}

void elementwise_add_int_avx2(const AddIntParams& params, const ElementwiseRun& run) {
  add_in_chunks<avx2::Lanes>(params, run);
}

void elementwise_mul_avx2(const MulParams& params, const ElementwiseRun& run) {
  mul<Product, avx2::Lanes>(params, run);
}

}  // namespace qrt
