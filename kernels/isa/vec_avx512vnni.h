// SPDX-License-Identifier: Apache-2.0
// The vector layer of AVX-512; vec_avx2.h says what its functions do. Included only by kernel files
// with this set's compile flags.
#ifndef QRT_KERNELS_ISA_VEC_AVX512VNNI_H_
#define QRT_KERNELS_ISA_VEC_AVX512VNNI_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx512vnni {

struct Vec {
  static constexpr size_t kBytes = 64, kLanes = 16;
  static constexpr bool kStreams = true;
  using Int = __m512i;
  using Bytes = Int;
  using Words = Int;
  using Sums = Int;
  using Float = __m512;
  using Mask = __mmask16;
  using Sixteen = __m128i;

  QRT_INLINE Int load(const void* p) { return _mm512_loadu_si512(p); }
  QRT_INLINE Bytes load8(const void* p) { return load(p); }
  QRT_INLINE Words load16(const void* p) { return load(p); }
  QRT_INLINE void store(void* p, Int v) { _mm512_storeu_si512(p, v); }
  QRT_INLINE Float load_float(const float* p) { return _mm512_loadu_ps(p); }
  QRT_INLINE void store_float(float* p, Float v) { _mm512_storeu_ps(p, v); }
  QRT_INLINE void stream(void* p, Int v) { _mm512_stream_si512(static_cast<Int*>(p), v); }
  QRT_INLINE void stream_float(float* p, Float v) { _mm512_stream_ps(p, v); }
  QRT_INLINE void end_stream() { _mm_sfence(); }

  QRT_INLINE Mask first_lanes(size_t n) {
    return static_cast<Mask>(n >= kLanes ? 0xffff : (1u << n) - 1);
  }
  QRT_INLINE Int load(Mask m, const int32_t* p) { return _mm512_maskz_loadu_epi32(m, p); }
  QRT_INLINE Float load_float(Mask m, const float* p) { return _mm512_maskz_loadu_ps(m, p); }
  QRT_INLINE void store_float(Mask m, float* p, Float v) { _mm512_mask_storeu_ps(p, m, v); }
  QRT_INLINE void store_partial(uint8_t* p, Int v, size_t n) {
    _mm512_mask_storeu_epi8(p, (__mmask64{1} << n) - 1, v);
  }
  QRT_INLINE void load_partial(uint8_t (&to)[64], const uint8_t* p, size_t n) {
    store(to, _mm512_maskz_loadu_epi8(~uint64_t{0} >> (64 - n), p));
  }

  class Partial {
   public:
    explicit Partial(size_t n) : mask_(~uint64_t{0} >> (64 - n)) {}
    __attribute__((always_inline)) Int load(const uint8_t* p) const {
      return _mm512_maskz_loadu_epi8(mask_, p);
    }
    __attribute__((always_inline)) void store(uint8_t* p, Int v) const {
      _mm512_mask_storeu_epi8(p, mask_, v);
    }

   private:
    __mmask64 mask_;
  };
  using Whole = Partial;  // a full mask costs nothing

  template <bool kSigned>
  QRT_INLINE Int widen(const uint8_t* p) {
    return widen<kSigned>(load_bytes(p));
  }
  template <bool kSigned>
  QRT_INLINE void widen_pair(const uint8_t* p, Int (&v)[2]) {
    v[0] = widen<kSigned>(p);
    v[1] = widen<kSigned>(p + kLanes);
  }
  template <bool kSigned>
  QRT_INLINE Int widen_partial(const uint8_t* p, size_t n) {
    return widen<kSigned>(load_bytes_partial(p, n));
  }
  QRT_INLINE __m128i load_bytes(const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  QRT_INLINE __m128i load_bytes_partial(const uint8_t* p, size_t n) {
    return _mm_maskz_loadu_epi8(first_lanes(n), p);
  }
  template <bool kSigned>
  QRT_INLINE Int widen(__m128i bytes) {
    return kSigned ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
  }
  QRT_INLINE Int widen16(const int16_t* p) {
    return _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  QRT_INLINE void store_low_bytes(uint8_t* p, Int v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
  }
  QRT_INLINE void store_low_bytes_pair(uint8_t* p, Int a, Int b) {
    store_low_bytes(p, a);
    store_low_bytes(p + kLanes, b);
  }
  QRT_INLINE void store_low_bytes_partial(uint8_t* p, Int v, size_t n) {
    _mm512_mask_cvtepi32_storeu_epi8(p, first_lanes(n), v);
  }
  QRT_INLINE void sixteen_less(const uint8_t* p, int32_t zero_point, Int (&v)[1]) {
    v[0] = sub32(widen<false>(p), splat32(zero_point));
  }
  QRT_INLINE Sixteen narrow16(const Int (&v)[1], int32_t more) {
    return _mm512_cvtepi32_epi8(add32(v[0], splat32(more)));
  }
  QRT_INLINE void store16(uint8_t* p, Sixteen v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
  }
  QRT_INLINE void store16_partial(uint8_t* p, __m128i v, size_t n) {
    _mm_mask_storeu_epi8(p, static_cast<__mmask16>((1u << n) - 1), v);
  }

  QRT_INLINE Int zero() { return _mm512_setzero_si512(); }
  QRT_INLINE Int splat8(int32_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }
  QRT_INLINE Int splat16(int32_t v) { return _mm512_set1_epi16(static_cast<int16_t>(v)); }
  QRT_INLINE Int splat32(int32_t v) { return _mm512_set1_epi32(v); }
  QRT_INLINE Float splat(float v) { return _mm512_set1_ps(v); }

  QRT_INLINE Int add8(Int a, Int b) { return _mm512_add_epi8(a, b); }
  QRT_INLINE Int add8_where_equal(Int v, Int a, Int b, Int more) {
    return _mm512_mask_add_epi8(v, _mm512_cmpeq_epi8_mask(a, b), v, more);
  }
  QRT_INLINE Int min_u8(Int a, Int b) { return _mm512_min_epu8(a, b); }
  QRT_INLINE Int max_u8(Int a, Int b) { return _mm512_max_epu8(a, b); }
  QRT_INLINE Int max_s16(Int a, Int b) { return _mm512_max_epi16(a, b); }
  QRT_INLINE Int max_s32(Int a, Int b) { return _mm512_max_epi32(a, b); }
  QRT_INLINE Int add16(Int a, Int b) { return _mm512_add_epi16(a, b); }
  QRT_INLINE Int adds16(Int a, Int b) { return _mm512_adds_epi16(a, b); }
  QRT_INLINE Int sub16(Int a, Int b) { return _mm512_sub_epi16(a, b); }
  QRT_INLINE Int shift_left16(Int a, unsigned bits) { return _mm512_slli_epi16(a, bits); }
  QRT_INLINE Int shift_right16(Int a, unsigned bits) { return _mm512_srli_epi16(a, bits); }
  QRT_INLINE Int shift_left32(Int a, unsigned bits) { return _mm512_slli_epi32(a, bits); }
  QRT_INLINE Int shift_right32(Int a, unsigned bits) { return _mm512_srli_epi32(a, bits); }
  QRT_INLINE Int bits_of_both(Int a, Int b) { return _mm512_or_si512(a, b); }
  QRT_INLINE Int low_and_high(Int low, Int high) {
    return _mm512_mask_blend_epi16(0xaaaaaaaa, low, high);
  }
  QRT_INLINE Int mullo16(Int a, Int b) { return _mm512_mullo_epi16(a, b); }
  QRT_INLINE Int mulhi16(Int a, Int b) { return _mm512_mulhi_epi16(a, b); }
  QRT_INLINE Int madd16(Int a, Int b) { return _mm512_madd_epi16(a, b); }
  QRT_INLINE Int add32(Int a, Int b) { return _mm512_add_epi32(a, b); }
  QRT_INLINE Int sub32(Int a, Int b) { return _mm512_sub_epi32(a, b); }

  using ZeroPoint = Int;
  QRT_INLINE ZeroPoint zero_point(int32_t v) { return splat16(v); }
  QRT_INLINE void words_less(Int bytes, ZeroPoint zero_words, Int (&words)[2]) {
    words[0] = sub16(unpacklo8(bytes, zero()), zero_words);
    words[1] = sub16(unpackhi8(bytes, zero()), zero_words);
  }
  QRT_INLINE void products16(Int a, Int b, Int (&v)[2]) {
    const Int low = mullo16(a, b), high = mulhi16(a, b);
    v[0] = unpacklo16(low, high);
    v[1] = unpackhi16(low, high);
  }
  QRT_INLINE Int multiply16(Int v, int32_t k) { return madd16(v, splat32(k & UINT16_MAX)); }

  QRT_INLINE Sums no_sums() { return zero(); }
  QRT_INLINE void add_bytes(Int (&sums)[2], Int bytes) {
    sums[0] = add16(sums[0], bytes);
    sums[1] = add16(sums[1], shift_right16(bytes, 8));
  }
  QRT_INLINE void add_sums(Int (&lanes)[4], const Int (&sums)[2]) {
    const Int low = sub16(sums[0], shift_left16(sums[1], 8));
    const Int first = unpacklo16(low, sums[1]), second = unpackhi16(low, sums[1]);
    lanes[0] = add32(lanes[0], unpacklo16(first, zero()));
    lanes[1] = add32(lanes[1], unpackhi16(first, zero()));
    lanes[2] = add32(lanes[2], unpacklo16(second, zero()));
    lanes[3] = add32(lanes[3], unpackhi16(second, zero()));
  }

  QRT_INLINE Int unpacklo8(Int a, Int b) { return _mm512_unpacklo_epi8(a, b); }
  QRT_INLINE Int unpackhi8(Int a, Int b) { return _mm512_unpackhi_epi8(a, b); }
  QRT_INLINE Int unpacklo16(Int a, Int b) { return _mm512_unpacklo_epi16(a, b); }
  QRT_INLINE Int unpackhi16(Int a, Int b) { return _mm512_unpackhi_epi16(a, b); }
  QRT_INLINE Int quarter_lanes(Int bytes, int quarter) {
    const int32_t first = static_cast<int32_t>(0x80808000) + 4 * quarter;
    const __m128i from = _mm_setr_epi32(first, first + 1, first + 2, first + 3);
    return _mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(from));
  }
  QRT_INLINE Int packs32(Int a, Int b) { return _mm512_packs_epi32(a, b); }
  QRT_INLINE Int packus16(Int a, Int b) { return _mm512_packus_epi16(a, b); }
  QRT_INLINE Int order_of_packs() {
    return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  }
  QRT_INLINE Int in_order(Int bytes, Int order) { return _mm512_permutexvar_epi32(order, bytes); }
  QRT_INLINE Int pack_sums16(Int a, Int b, int32_t more) {
    typedef int32_t Lanes __attribute__((vector_size(kBytes)));
    const Lanes lo = INT16_MIN - more - Lanes{}, hi = INT16_MAX - more - Lanes{};
    const auto sum = [&](Int x) {
      const Lanes v = reinterpret_cast<Lanes>(x);
      return more == 0 ? x : reinterpret_cast<Int>((v < lo ? lo : v > hi ? hi : v) + more);
    };
    return in_order16(packs32(sum(a), sum(b)));
  }
  QRT_INLINE Int high_words(Int a, Int b) {
    alignas(64) static constexpr uint16_t kFrom[] = {1,  3,  5,  7,  33, 35, 37, 39, 9,  11, 13,
                                                     15, 41, 43, 45, 47, 17, 19, 21, 23, 49, 51,
                                                     53, 55, 25, 27, 29, 31, 57, 59, 61, 63};
    return _mm512_permutex2var_epi16(a, load(kFrom), b);
  }
  QRT_INLINE bool any_low_word_below(const Int (&v)[4], uint16_t limit) {
    const Int least = _mm512_min_epu16(_mm512_min_epu16(v[0], v[1]), _mm512_min_epu16(v[2], v[3]));
    return _mm512_cmplt_epu16_mask(least, splat16(limit)) != 0;
  }
  QRT_INLINE uint32_t low_words_below(Int v, uint16_t limit) {
    return _mm512_cmplt_epi32_mask(_mm512_and_si512(v, splat32(0xffff)), splat32(limit));
  }
  QRT_INLINE void store_first(uint8_t* p, Int v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_castsi512_si128(v));
  }
  QRT_INLINE Int in_order16(Int words) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), words);
  }

  struct BytesOfQuanta {
    BytesOfQuanta(int32_t zero_point, int32_t lo, int32_t offset)
        : to_distance(splat16(zero_point - lo)),
          to_byte(splat8(lo + offset)),
          order(order_of_packs()) {}
    __attribute__((always_inline)) Bytes of(Int v0, Int v1, Int v2, Int v3) const {
      const Words low = adds16(packs32(v0, v1), to_distance);
      const Words high = adds16(packs32(v2, v3), to_distance);
      return in_order(add8(packus16(low, high), to_byte), order);
    }
    Int to_distance, to_byte, order;
  };

  QRT_INLINE Float to_float(Int v) { return _mm512_cvtepi32_ps(v); }
  template <bool kSigned>
  QRT_INLINE Float quarter_floats(Int bytes, int quarter) {
    static_assert(!kSigned, "nothing needs them");
    return to_float(quarter_lanes(bytes, quarter));
  }
  template <bool kSigned>
  QRT_INLINE void to_floats(const uint8_t* p, Float (&v)[4]) {
    QRT_UNROLL
    for (size_t i = 0; i < 4; ++i) {
      const __m128i bytes = load_bytes(p + i * kLanes);
      v[i] = to_float(widen<kSigned>(kSigned ? _mm_xor_si128(bytes, _mm_set1_epi8(-128)) : bytes));
    }
  }
  QRT_INLINE Int packed(Int bytes) { return in_order(bytes, order_of_packs()); }
  QRT_INLINE Int round(Float v) { return _mm512_cvtps_epi32(v); }
  QRT_INLINE Int truncate(Float v) { return _mm512_cvttps_epi32(v); }
  QRT_INLINE Int round_away(Float v) { return truncate(v + with_sign_of(0x1.fffffep-2f, v)); }
  QRT_INLINE Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  QRT_INLINE Float min(Float a, Float b) { return _mm512_min_ps(a, b); }
  QRT_INLINE Float max(Float a, Float b) { return _mm512_max_ps(a, b); }
  QRT_INLINE Float at_most(Float v, Float, Float most) { return min(most, v); }
  QRT_INLINE Float flip(Float v, Float bits) { return _mm512_xor_ps(v, bits); }
  QRT_INLINE Float with_sign_of(float magnitude, Float v) {  // magnitude | (v & sign)
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(splat(magnitude)), _mm512_castps_si512(v), splat32(INT32_MIN), 0xf8));
  }
  QRT_INLINE Int add_where_equal(Int v, Float a, Float b) {
    return _mm512_mask_add_epi32(v, _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), v, splat32(1));
  }

  QRT_INLINE Float load_half(const uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  QRT_INLINE Float load_half_partial(const uint16_t* p, size_t n) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(n), p));
  }
  QRT_INLINE void store_half(uint16_t* p, Float v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow(v));
  }
  QRT_INLINE Int narrow_two(Float a, Float b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(narrow(a)), narrow(b), 1);
  }
  QRT_INLINE __m256i narrow(Float v) {
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
};

}  // namespace avx512vnni
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_VEC_AVX512VNNI_H_
