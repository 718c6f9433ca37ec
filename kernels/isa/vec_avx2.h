// The vector layer of AVX2: what the families that are written once for x86 (elementwise, pool,
// edge) need of an instruction set, each function a few instructions. vec_avx512vnni.h has the same
// names. Included only by kernel files with this set's compile flags.
#ifndef QRT_KERNELS_ISA_VEC_AVX2_H_
#define QRT_KERNELS_ISA_VEC_AVX2_H_

#include <immintrin.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx2 {

// The first n bytes of v, n <= 16.
QRT_INLINE void store_bytes(uint8_t* p, __m128i v, size_t n) {
  if (n == 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
    return;
  }
  if (n & 8) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), v);
    v = _mm_unpackhi_epi64(v, v);
    p += 8;
  }
  if (n & 4) {
    const int32_t x = _mm_cvtsi128_si32(v);
    __builtin_memcpy(p, &x, 4);
    v = _mm_srli_epi64(v, 32);
    p += 4;
  }
  if (n & 2) {
    const int16_t x = static_cast<int16_t>(_mm_cvtsi128_si32(v));
    __builtin_memcpy(p, &x, 2);
    v = _mm_srli_epi64(v, 16);
    p += 2;
  }
  if (n & 1) *p = static_cast<uint8_t>(_mm_cvtsi128_si32(v));
}

struct Vec {
  static constexpr size_t kBytes = 32, kLanes = 8;  // lanes: of 32 bits
  using Int = __m256i;   // of 8, 16 or 32 bits, as a function's name says
  using Float = __m256;  // has + - * / by the compilers' vector extension
  using Mask = __m256i;  // of lanes

  // Whole registers, any alignment.
  QRT_INLINE Int load(const void* p) { return _mm256_loadu_si256(static_cast<const Int*>(p)); }
  QRT_INLINE void store(void* p, Int v) { _mm256_storeu_si256(static_cast<Int*>(p), v); }
  QRT_INLINE Float load_float(const float* p) { return _mm256_loadu_ps(p); }
  QRT_INLINE void store_float(float* p, Float v) { _mm256_storeu_ps(p, v); }
  // Past the caches; p aligned to kBytes.
  QRT_INLINE void stream(void* p, Int v) { _mm256_stream_si256(static_cast<Int*>(p), v); }
  QRT_INLINE void stream_float(float* p, Float v) { _mm256_stream_ps(p, v); }

  // Parts: nothing else is read or stored. The rest of what is read is 0.
  QRT_INLINE Mask first_lanes(size_t n) {
    static constexpr int32_t kMasks[2 * kLanes] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return load(kMasks + kLanes - (n < kLanes ? n : kLanes));
  }
  QRT_INLINE Int load(Mask m, const int32_t* p) { return _mm256_maskload_epi32(p, m); }
  QRT_INLINE Float load_float(Mask m, const float* p) { return _mm256_maskload_ps(p, m); }
  QRT_INLINE void store_float(Mask m, float* p, Float v) { _mm256_maskstore_ps(p, m, v); }
  QRT_INLINE void store_part(uint8_t* p, Int v, size_t n) {  // n < kBytes bytes
    __m128i low = _mm256_castsi256_si128(v);
    if (n & 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), low);
      low = _mm256_extracti128_si256(v, 1);
      p += 16;
    }
    store_bytes(p, low, n & 15);
  }
  QRT_INLINE void load_part(uint8_t (&to)[64], const uint8_t* p, size_t n) {  // n <= 64
    memset(to, 0, sizeof to);
    memcpy(to, p, n);
  }

  // The first n bytes of a register, 0 < n <= kBytes: nothing else is read or stored.
  class Part {
   public:
    explicit Part(size_t n) : n_(n), dwords_(n % 4 == 0 ? first_lanes(n / 4) : zero()) {}
    __attribute__((always_inline)) Int load(const uint8_t* p) const {
      if (n_ % 4 == 0) return Vec::load(dwords_, reinterpret_cast<const int32_t*>(p));
      uint8_t bytes[64];
      load_part(bytes, p, n_);
      return Vec::load(bytes);
    }
    __attribute__((always_inline)) void store(uint8_t* p, Int v) const { store_part(p, v, n_); }

   private:
    size_t n_;
    Mask dwords_;
  };
  struct Whole {
    explicit Whole(size_t) {}
    QRT_INLINE Int load(const uint8_t* p) { return Vec::load(p); }
    QRT_INLINE void store(uint8_t* p, Int v) { Vec::store(p, v); }
  };

  // A byte of every lane.
  QRT_INLINE __m128i load_bytes(const uint8_t* p) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  }
  QRT_INLINE __m128i load_bytes_part(const uint8_t* p, size_t n) {
    uint8_t bytes[kLanes] = {};
    memcpy(bytes, p, n < kLanes ? n : kLanes);
    return load_bytes(bytes);
  }
  template <bool kSigned>
  QRT_INLINE Int widen(__m128i bytes) {
    return kSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
  }
  // An int16 of every lane.
  QRT_INLINE Int widen16(const int16_t* p) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  // The low byte of every lane.
  QRT_INLINE void store_low_bytes(uint8_t* p, Int v) {
    const Int low = _mm256_and_si256(v, splat32(255));
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }
  QRT_INLINE void store_low_bytes_part(uint8_t* p, Int v, size_t n) {
    uint8_t bytes[kLanes];
    store_low_bytes(bytes, v);
    memcpy(p, bytes, n < kLanes ? n : kLanes);
  }
  // 16 lanes within 0..255 as 16 bytes, in order.
  QRT_INLINE __m128i narrow16(const Int (&v)[2]) {
    const auto words = [](Int x) {
      return _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    };
    return _mm_packus_epi16(words(v[0]), words(v[1]));
  }
  QRT_INLINE void store16_part(uint8_t* p, __m128i v, size_t n) { store_bytes(p, v, n); }

  QRT_INLINE Int zero() { return _mm256_setzero_si256(); }
  QRT_INLINE Int splat8(int32_t v) { return _mm256_set1_epi8(static_cast<char>(v)); }
  QRT_INLINE Int splat16(int32_t v) { return _mm256_set1_epi16(static_cast<int16_t>(v)); }
  QRT_INLINE Int splat32(int32_t v) { return _mm256_set1_epi32(v); }
  QRT_INLINE Float splat(float v) { return _mm256_set1_ps(v); }

  QRT_INLINE Int add8(Int a, Int b) { return _mm256_add_epi8(a, b); }
  // v + more where a == b, else v.
  QRT_INLINE Int add8_where_equal(Int v, Int a, Int b, Int more) {
    return add8(v, _mm256_and_si256(_mm256_cmpeq_epi8(a, b), more));
  }
  QRT_INLINE Int min_u8(Int a, Int b) { return _mm256_min_epu8(a, b); }
  QRT_INLINE Int max_u8(Int a, Int b) { return _mm256_max_epu8(a, b); }
  QRT_INLINE Int max_s16(Int a, Int b) { return _mm256_max_epi16(a, b); }
  QRT_INLINE Int max_s32(Int a, Int b) { return _mm256_max_epi32(a, b); }
  QRT_INLINE Int add16(Int a, Int b) { return _mm256_add_epi16(a, b); }
  QRT_INLINE Int adds16(Int a, Int b) { return _mm256_adds_epi16(a, b); }
  QRT_INLINE Int sub16(Int a, Int b) { return _mm256_sub_epi16(a, b); }
  QRT_INLINE Int shift_left16(Int a, int bits) { return _mm256_slli_epi16(a, bits); }
  QRT_INLINE Int shift_right16(Int a, int bits) { return _mm256_srli_epi16(a, bits); }  // of uint16
  QRT_INLINE Int shift_left32(Int a, int bits) { return _mm256_slli_epi32(a, bits); }
  QRT_INLINE Int shift_right32(Int a, int bits) { return _mm256_srli_epi32(a, bits); }
  QRT_INLINE Int bits_of_both(Int a, Int b) { return _mm256_or_si256(a, b); }
  // Each lane's low word of one and high word of the other.
  QRT_INLINE Int low_and_high(Int low, Int high) { return _mm256_blend_epi16(low, high, 0xaa); }
  QRT_INLINE Int mullo16(Int a, Int b) { return _mm256_mullo_epi16(a, b); }
  QRT_INLINE Int mulhi16(Int a, Int b) { return _mm256_mulhi_epi16(a, b); }
  QRT_INLINE Int madd16(Int a, Int b) { return _mm256_madd_epi16(a, b); }  // sums of two products
  QRT_INLINE Int add32(Int a, Int b) { return _mm256_add_epi32(a, b); }
  QRT_INLINE Int sub32(Int a, Int b) { return _mm256_sub_epi32(a, b); }

  // Within each 128 bits, as the instructions do: packing what was unpacked restores the order.
  QRT_INLINE Int unpacklo8(Int a, Int b) { return _mm256_unpacklo_epi8(a, b); }
  QRT_INLINE Int unpackhi8(Int a, Int b) { return _mm256_unpackhi_epi8(a, b); }
  QRT_INLINE Int unpacklo16(Int a, Int b) { return _mm256_unpacklo_epi16(a, b); }
  QRT_INLINE Int unpackhi16(Int a, Int b) { return _mm256_unpackhi_epi16(a, b); }
  // Bytes 4 * quarter.. of each 128 bits, one to a lane: what unpacking twice gives.
  QRT_INLINE Int quarter_lanes(Int bytes, int quarter) {
    const int32_t first = static_cast<int32_t>(0x80808000) + 4 * quarter;
    const __m128i from = _mm_setr_epi32(first, first + 1, first + 2, first + 3);
    return _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(from));
  }
  QRT_INLINE Int packs32(Int a, Int b) { return _mm256_packs_epi32(a, b); }
  QRT_INLINE Int packus16(Int a, Int b) { return _mm256_packus_epi16(a, b); }
  // Bytes that were packed from four registers of lanes, in the order of these.
  QRT_INLINE Int order_of_packs() { return _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7); }
  QRT_INLINE Int in_order(Int bytes, Int order) {
    return _mm256_permutevar8x32_epi32(bytes, order);
  }
  // Words that were packed from two registers of lanes, in the order of these.
  QRT_INLINE Int in_order16(Int words) { return _mm256_permute4x64_epi64(words, 0xd8); }

  QRT_INLINE Float to_float(Int v) { return _mm256_cvtepi32_ps(v); }
  // Bytes, less 128 where signed, in the order from which packed() brings them back.
  template <bool kSigned>
  QRT_INLINE void to_floats(const uint8_t* p, Float (&v)[4]) {
    const Int bytes = load(p);
    const Int low = unpacklo8(bytes, zero()), high = unpackhi8(bytes, zero());
    const Int lanes[] = {unpacklo16(low, zero()), unpackhi16(low, zero()), unpacklo16(high, zero()),
                         unpackhi16(high, zero())};
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) v[i] = to_float(kSigned ? sub32(lanes[i], splat32(128)) : lanes[i]);
  }
  QRT_INLINE Int packed(Int bytes) { return bytes; }
  // INT32_MIN where there is no int32.
  QRT_INLINE Int round(Float v) { return _mm256_cvtps_epi32(v); }  // half to even
  QRT_INLINE Int truncate(Float v) { return _mm256_cvttps_epi32(v); }
  QRT_INLINE Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  // b where one of them is NaN.
  QRT_INLINE Float min(Float a, Float b) { return _mm256_min_ps(a, b); }
  QRT_INLINE Float max(Float a, Float b) { return _mm256_max_ps(a, b); }
  // v with its bits changed where `bits` has ones.
  QRT_INLINE Float flip(Float v, Float bits) { return _mm256_xor_ps(v, bits); }
  // `magnitude`, whose sign is 0, with the sign of v.
  QRT_INLINE Float with_sign_of(float magnitude, Float v) {
    return _mm256_or_ps(_mm256_and_ps(v, splat(-0.0f)), splat(magnitude));
  }
  // v + 1 where a == b, else v: a true comparison is -1.
  QRT_INLINE Int add_where_equal(Int v, Float a, Float b) {
    return sub32(v, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
  }

  // float16 of kLanes, nearest even.
  QRT_INLINE Float load_half(const uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  QRT_INLINE Float load_half_part(const uint16_t* p, size_t n) {
    uint16_t halves[kLanes] = {};
    memcpy(halves, p, (n < kLanes ? n : kLanes) * sizeof *p);
    return load_half(halves);
  }
  QRT_INLINE void store_half(uint16_t* p, Float v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow(v));
  }
  QRT_INLINE Int narrow_two(Float a, Float b) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(narrow(a)), narrow(b), 1);
  }
  QRT_INLINE __m128i narrow(Float v) { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT); }
};

}  // namespace avx2
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_VEC_AVX2_H_
