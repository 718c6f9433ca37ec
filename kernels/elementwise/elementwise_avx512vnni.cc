// Elementwise add and mul: in float 64 bytes at a time, in integers by chunks.h.
#include <immintrin.h>

#include "kernels/elementwise/walk.h"
#include "kernels/isa/requantize_avx512vnni.h"

namespace qrt {
namespace {

// Four vectors of 16 numbers to 64 bytes: clamp(v + offset, lo, hi). The bytes come in the order of
// the packs: of each 128-bit lane of v0, v1, v2, v3 in turn.
inline __m512i to_bytes(__m512i v0, __m512i v1, __m512i v2, __m512i v3, __m512i offset, __m512i lo,
                        __m512i hi) {
  const __m512i w0 = _mm512_adds_epi16(_mm512_packs_epi32(v0, v1), offset);
  const __m512i w1 = _mm512_adds_epi16(_mm512_packs_epi32(v2, v3), offset);
  return _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(w0, w1), lo), hi);
}

template <class Block>
inline void part_by_masks(const Block& block, const uint8_t* a, const uint8_t* b, uint8_t* y,
                          size_t n) {
  const __mmask64 mask = ~uint64_t{0} >> (kBlock - n);
  alignas(64) uint8_t a_bytes[kBlock], b_bytes[kBlock];
  _mm512_store_si512(a_bytes, _mm512_maskz_loadu_epi8(mask, a));
  _mm512_store_si512(b_bytes, _mm512_maskz_loadu_epi8(mask, b));
  _mm512_mask_storeu_epi8(y, mask, block.compute(a_bytes, b_bytes));
}

template <bool kFma, bool kFirstSigned, bool kSecondSigned>
struct Sum {
  explicit Sum(const SumConstants& c)
      : first_scale(_mm512_set1_ps(c.first_scale)),
        second_scale(_mm512_set1_ps(c.second_scale)),
        constant(_mm512_set1_ps(c.constant)),
        offset(_mm512_set1_epi16(c.offset)),
        lo(_mm512_set1_epi8(static_cast<char>(c.lo))),
        hi(_mm512_set1_epi8(static_cast<char>(c.hi))),
        order(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)) {}

  template <bool kSigned>
  static __m512 numbers(const uint8_t* x) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
    return _mm512_cvtepi32_ps(kSigned
                                  ? _mm512_cvtepi8_epi32(_mm_xor_si128(bytes, _mm_set1_epi8(-128)))
                                  : _mm512_cvtepu8_epi32(bytes));
  }

  __m512i sums(const uint8_t* a, const uint8_t* b) const {
    const __m512 x1 = numbers<kFirstSigned>(a), x2 = numbers<kSecondSigned>(b);
    if (kFma)
      return _mm512_cvtps_epi32(
          _mm512_fmadd_ps(x2, second_scale, _mm512_fmadd_ps(x1, first_scale, constant)));
    return _mm512_cvtps_epi32(_mm512_add_ps(_mm512_add_ps(constant, _mm512_mul_ps(x1, first_scale)),
                                            _mm512_mul_ps(x2, second_scale)));
  }

  __m512i compute(const uint8_t* a, const uint8_t* b) const {
    const __m512i bytes = to_bytes(sums(a, b), sums(a + 16, b + 16), sums(a + 32, b + 32),
                                   sums(a + 48, b + 48), offset, lo, hi);
    return _mm512_permutexvar_epi32(order, bytes);
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    _mm512_storeu_si512(y, compute(a, b));
  }
  void part(const uint8_t* a, const uint8_t* b, uint8_t* y, size_t n) const {
    part_by_masks(*this, a, b, y, n);
  }

  __m512 first_scale, second_scale, constant;
  __m512i offset, lo, hi, order;
};

template <bool kFused, bool kHalfUp>
struct Product {
  explicit Product(const ProductConstants& c)
      : scale(_mm512_set1_ps(c.scale)),
        addend(_mm512_set1_ps(c.addend)),
        a_zero_point(_mm512_set1_epi16(c.a_zero_point)),
        b_zero_point(_mm512_set1_epi16(c.b_zero_point)),
        offset(_mm512_set1_epi16(c.offset)),
        lo(_mm512_set1_epi8(static_cast<char>(c.lo))),
        hi(_mm512_set1_epi8(static_cast<char>(c.hi))) {}

  __m512i scaled(__m512i product) const {
    const __m512 p = _mm512_cvtepi32_ps(product);
    const __m512 v =
        kFused ? _mm512_fmadd_ps(p, scale, addend) : _mm512_add_ps(_mm512_mul_ps(p, scale), addend);
    const __m512i even = _mm512_cvtps_epi32(v);
    if (!kHalfUp) return even;
    // A tie that went down to the even neighbour goes up instead.
    const __mmask16 down = _mm512_cmp_ps_mask(_mm512_sub_ps(v, _mm512_cvtepi32_ps(even)),
                                              _mm512_set1_ps(0.5f), _CMP_EQ_OQ);
    return _mm512_mask_add_epi32(even, down, even, _mm512_set1_epi32(1));
  }

  // Unpacking and packing both stay within 128-bit lanes, so the order of the bytes comes back.
  __m512i compute(const uint8_t* a, const uint8_t* b) const {
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i x0 = _mm512_sub_epi16(_mm512_unpacklo_epi8(x, zero), a_zero_point);
    const __m512i x1 = _mm512_sub_epi16(_mm512_unpackhi_epi8(x, zero), a_zero_point);
    const __m512i y0 = _mm512_sub_epi16(_mm512_unpacklo_epi8(y, zero), b_zero_point);
    const __m512i y1 = _mm512_sub_epi16(_mm512_unpackhi_epi8(y, zero), b_zero_point);
    const __m512i low0 = _mm512_mullo_epi16(x0, y0), high0 = _mm512_mulhi_epi16(x0, y0);
    const __m512i low1 = _mm512_mullo_epi16(x1, y1), high1 = _mm512_mulhi_epi16(x1, y1);
    return to_bytes(scaled(_mm512_unpacklo_epi16(low0, high0)),
                    scaled(_mm512_unpackhi_epi16(low0, high0)),
                    scaled(_mm512_unpacklo_epi16(low1, high1)),
                    scaled(_mm512_unpackhi_epi16(low1, high1)), offset, lo, hi);
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    _mm512_storeu_si512(y, compute(a, b));
  }
  void part(const uint8_t* a, const uint8_t* b, uint8_t* y, size_t n) const {
    part_by_masks(*this, a, b, y, n);
  }

  __m512 scale, addend;
  __m512i a_zero_point, b_zero_point, offset, lo, hi;
};

}  // namespace

void elementwise_add_avx512vnni(const AddParams& params, const ElementwiseRun& run) {
  add<Sum>(params, run);
}

void elementwise_add_int_avx512vnni(const AddIntParams& params, const ElementwiseRun& run) {
  add_in_chunks<avx512vnni::Lanes>(params, run);
}

void elementwise_mul_avx512vnni(const MulParams& params, const ElementwiseRun& run) {
  mul<Product, avx512vnni::Lanes>(params, run);
}

}  // namespace qrt
