// SPDX-License-Identifier: Apache-2.0
// The vector layer of AVX2: what the families that are written once for all instruction sets need of
// one, each function a few instructions. vec_<isa>.h of the other sets have the same names; those that
// only some sets have, and only the files of these use, say so. Included only by kernel files with
// this set's compile flags.
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

// Stores the first n bytes of v, n <= 16.
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
  // True where loops read data beyond the caches from several places in turn, and write around the caches.
  static constexpr bool kStreams = true;
  using Int = __m256i;  // lanes of 8, 16 or 32 bits, as a function's name says
  using Bytes = Int;    // elsewhere a type of its own, as
  using Words = Int;    // result of load8() and load16()
  using Sums = Int;
  using Float = __m256;     // has + - * / by the compilers' vector extension
  using Mask = __m256i;     // a truth for each lane
  using Sixteen = __m128i;  // bytes

  // Whole registers, any alignment.
  QRT_INLINE Int load(const void* p) { return _mm256_loadu_si256(static_cast<const Int*>(p)); }
  QRT_INLINE Bytes load8(const void* p) { return load(p); }
  QRT_INLINE Words load16(const void* p) { return load(p); }
  QRT_INLINE void store(void* p, Int v) { _mm256_storeu_si256(static_cast<Int*>(p), v); }
  QRT_INLINE Float load_float(const float* p) { return _mm256_loadu_ps(p); }
  QRT_INLINE void store_float(float* p, Float v) { _mm256_storeu_ps(p, v); }
  // Store past the caches. x86 only. REQUIRES: p is aligned to kBytes.
  QRT_INLINE void stream(void* p, Int v) { _mm256_stream_si256(static_cast<Int*>(p), v); }
  QRT_INLINE void stream_float(float* p, Float v) { _mm256_stream_ps(p, v); }
  QRT_INLINE void end_stream() { _mm_sfence(); }

  // Loads and stores of the first n lanes or bytes alone. The other lanes of a loaded register are 0.
  QRT_INLINE Mask first_lanes(size_t n) {
    static constexpr int32_t kMasks[2 * kLanes] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return load(kMasks + kLanes - (n < kLanes ? n : kLanes));
  }
  QRT_INLINE Int load(Mask m, const int32_t* p) { return _mm256_maskload_epi32(p, m); }
  QRT_INLINE Float load_float(Mask m, const float* p) { return _mm256_maskload_ps(p, m); }
  QRT_INLINE void store_float(Mask m, float* p, Float v) { _mm256_maskstore_ps(p, m, v); }
  QRT_INLINE void store_partial(uint8_t* p, Int v, size_t n) {  // n < kBytes bytes
    __m128i low = _mm256_castsi256_si128(v);
    if (n & 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), low);
      low = _mm256_extracti128_si256(v, 1);
      p += 16;
    }
    store_bytes(p, low, n & 15);
  }
  QRT_INLINE void load_partial(uint8_t (&to)[64], const uint8_t* p, size_t n) {  // n <= 64
    memset(to, 0, sizeof to);
    memcpy(to, p, n);
  }

  // The first n bytes of a register, 0 < n <= kBytes: nothing else is read or stored. x86 only.
  class Partial {
   public:
    explicit Partial(size_t n) : n_(n), dwords_(n % 4 == 0 ? first_lanes(n / 4) : zero()) {}
    __attribute__((always_inline)) Int load(const uint8_t* p) const {
      if (n_ % 4 == 0) return Vec::load(dwords_, reinterpret_cast<const int32_t*>(p));
      uint8_t bytes[64];
      load_partial(bytes, p, n_);
      return Vec::load(bytes);
    }
    __attribute__((always_inline)) void store(uint8_t* p, Int v) const { store_partial(p, v, n_); }

   private:
    size_t n_;
    Mask dwords_;
  };
  struct Whole {
    explicit Whole(size_t) {}
    QRT_INLINE Int load(const uint8_t* p) { return Vec::load(p); }
    QRT_INLINE void store(uint8_t* p, Int v) { Vec::store(p, v); }
  };

  // Bytes as lanes: as many as a register has lanes, twice as many, and the first n of them.
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
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  }
  QRT_INLINE __m128i load_bytes_partial(const uint8_t* p, size_t n) {
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
  // Stores the low byte of every lane.
  QRT_INLINE void store_low_bytes(uint8_t* p, Int v) {
    const Int low = _mm256_and_si256(v, splat32(255));
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }
  QRT_INLINE void store_low_bytes_pair(uint8_t* p, Int a, Int b) {
    store_low_bytes(p, a);
    store_low_bytes(p + kLanes, b);
  }
  QRT_INLINE void store_low_bytes_partial(uint8_t* p, Int v, size_t n) {
    uint8_t bytes[kLanes];
    store_low_bytes(bytes, v);
    memcpy(p, bytes, n < kLanes ? n : kLanes);
  }
  // Subtracts a zero point from 16 bytes, in order.
  QRT_INLINE void sixteen_less(const uint8_t* p, int32_t zero_point, Int (&v)[2]) {
    const Int zero = splat32(zero_point);
    v[0] = sub32(widen<false>(p), zero);
    v[1] = sub32(widen<false>(p + kLanes), zero);
  }
  // Narrows 16 lanes to 16 bytes, in order: v + more, which is within 0..255.
  QRT_INLINE Sixteen narrow16(const Int (&v)[2], int32_t more) {
    const Int add = splat32(more);
    const auto words = [&](Int lanes) {
      const Int x = add32(lanes, add);
      return _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    };
    return _mm_packus_epi16(words(v[0]), words(v[1]));
  }
  QRT_INLINE void store16(uint8_t* p, Sixteen v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
  }
  QRT_INLINE void store16_partial(uint8_t* p, __m128i v, size_t n) { store_bytes(p, v, n); }

  QRT_INLINE Int zero() { return _mm256_setzero_si256(); }
  QRT_INLINE Int splat8(int32_t v) { return _mm256_set1_epi8(static_cast<char>(v)); }
  QRT_INLINE Int splat16(int32_t v) { return _mm256_set1_epi16(static_cast<int16_t>(v)); }
  QRT_INLINE Int splat32(int32_t v) { return _mm256_set1_epi32(v); }
  QRT_INLINE Float splat(float v) { return _mm256_set1_ps(v); }

  QRT_INLINE Int add8(Int a, Int b) { return _mm256_add_epi8(a, b); }
  // Returns v + more where a == b, else v.
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
  // Shifts lanes of uint16.
  QRT_INLINE Int shift_right16(Int a, int bits) { return _mm256_srli_epi16(a, bits); }
  QRT_INLINE Int shift_left32(Int a, int bits) { return _mm256_slli_epi32(a, bits); }
  QRT_INLINE Int shift_right32(Int a, int bits) { return _mm256_srli_epi32(a, bits); }
  QRT_INLINE Int bits_of_both(Int a, Int b) { return _mm256_or_si256(a, b); }
  // Returns, in each lane, the low word of `low` and the high word of `high`.
  QRT_INLINE Int low_and_high(Int low, Int high) { return _mm256_blend_epi16(low, high, 0xaa); }
  QRT_INLINE Int mullo16(Int a, Int b) { return _mm256_mullo_epi16(a, b); }
  QRT_INLINE Int mulhi16(Int a, Int b) { return _mm256_mulhi_epi16(a, b); }
  QRT_INLINE Int madd16(Int a, Int b) { return _mm256_madd_epi16(a, b); }  // sums of two products
  QRT_INLINE Int add32(Int a, Int b) { return _mm256_add_epi32(a, b); }
  QRT_INLINE Int sub32(Int a, Int b) { return _mm256_sub_epi32(a, b); }

  // Bytes less a zero point as words, and products of words as lanes, both in an order that packing
  // restores.
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
  // Lanes times k, all within int16. Pairs of products: of the low words, and of what is above v's
  // with 0.
  QRT_INLINE Int multiply16(Int v, int32_t k) { return madd16(v, splat32(k & UINT16_MAX)); }

  // Sums of up to 257 bytes each, and these added to lanes, which packing puts in the order of the bytes.
  // Words of two bytes: sums[0] of the words, modulo 2^16, sums[1] of their high bytes. Less 256 times
  // the latter the former are the sums of the low bytes.
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

  // Unpack and pack within each 128 bits, as the instructions do: packing what was unpacked restores the order.
  QRT_INLINE Int unpacklo8(Int a, Int b) { return _mm256_unpacklo_epi8(a, b); }
  QRT_INLINE Int unpackhi8(Int a, Int b) { return _mm256_unpackhi_epi8(a, b); }
  QRT_INLINE Int unpacklo16(Int a, Int b) { return _mm256_unpacklo_epi16(a, b); }
  QRT_INLINE Int unpackhi16(Int a, Int b) { return _mm256_unpackhi_epi16(a, b); }
  // Returns bytes 4 * quarter.. of each 128 bits, one to a lane: what unpacking twice gives.
  QRT_INLINE Int quarter_lanes(Int bytes, int quarter) {
    const int32_t first = static_cast<int32_t>(0x80808000) + 4 * quarter;
    const __m128i from = _mm_setr_epi32(first, first + 1, first + 2, first + 3);
    return _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(from));
  }
  QRT_INLINE Int packs32(Int a, Int b) { return _mm256_packs_epi32(a, b); }
  QRT_INLINE Int packus16(Int a, Int b) { return _mm256_packus_epi16(a, b); }
  // Returns the permutation that puts bytes packed from four registers of lanes into the order of
  // the lanes.
  QRT_INLINE Int order_of_packs() { return _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7); }
  QRT_INLINE Int in_order(Int bytes, Int order) {
    return _mm256_permutevar8x32_epi32(bytes, order);
  }
  // Returns clamp(v + more) of two registers of lanes as int16, in their order.
  QRT_INLINE Int pack_sums16(Int a, Int b, int32_t more) {
    typedef int32_t Lanes __attribute__((vector_size(kBytes)));
    // Within limits less `more`, so that nothing is added to what saturates.
    const Lanes lo = INT16_MIN - more - Lanes{}, hi = INT16_MAX - more - Lanes{};
    const auto sum = [&](Int x) {
      const Lanes v = reinterpret_cast<Lanes>(x);
      return more == 0 ? x : reinterpret_cast<Int>((v < lo ? lo : v > hi ? hi : v) + more);
    };
    return in_order16(packs32(sum(a), sum(b)));
  }
  // Returns the high words of lanes, in the order of packs32.
  QRT_INLINE Int high_words(Int a, Int b) {
    return packs32(_mm256_srai_epi32(a, 16), _mm256_srai_epi32(b, 16));
  }
  // Returns whether the low 16 bits of any lane of v are below the limit, as unsigned numbers. REQUIRES: lanes
  // are -65536 to -1, so that their high words are no less than any limit.
  QRT_INLINE bool any_low_word_below(const Int (&v)[4], uint16_t limit) {
    const Int least = _mm256_min_epu16(_mm256_min_epu16(v[0], v[1]), _mm256_min_epu16(v[2], v[3]));
    const Int is_not = _mm256_cmpeq_epi16(_mm256_max_epu16(least, splat16(limit)), least);
    return _mm256_movemask_epi8(is_not) != -1;
  }
  // Returns a bit for each lane whose low 16 bits are below the limit.
  QRT_INLINE uint32_t low_words_below(Int v, uint16_t limit) {
    const Int is = _mm256_cmpgt_epi32(splat32(limit), _mm256_and_si256(v, splat32(0xffff)));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is)));
  }
  // The first kLanes bytes.
  QRT_INLINE void store_first(uint8_t* p, Int v) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(v));
  }
  // Words that were packed from two registers of lanes, in the order of these.
  QRT_INLINE Int in_order16(Int words) { return _mm256_permute4x64_epi64(words, 0xd8); }

  // The bytes zero_point + quanta, not less than lo, both plus `offset` and modulo 256; the quanta as
  // round(at_most()) leaves them. Packed as distances from lo, 0..255; adding lo modulo 256 gives the
  // byte of either type.
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

  QRT_INLINE Float to_float(Int v) { return _mm256_cvtepi32_ps(v); }
  // Converts quarter_lanes() to floats; signed bytes are int8.
  template <bool kSigned>
  QRT_INLINE Float quarter_floats(Int bytes, int quarter) {
    static_assert(!kSigned, "nothing needs them");
    return to_float(quarter_lanes(bytes, quarter));
  }
  // Converts bytes, less 128 where signed, to floats, in an order that packed() undoes.
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
  // Convert to int32. Where a float has no int32 they give INT32_MIN; NEON's saturate, and NaN gives 0 there.
  QRT_INLINE Int round(Float v) { return _mm256_cvtps_epi32(v); }  // half to even
  QRT_INLINE Int truncate(Float v) { return _mm256_cvttps_epi32(v); }
  // Rounds half away from 0, |v| < 2^22: adding the float just below a half leaves alone what is below a half.
  QRT_INLINE Int round_away(Float v) { return truncate(v + with_sign_of(0x1.fffffep-2f, v)); }
  QRT_INLINE Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  // b where a is NaN.
  QRT_INLINE Float min(Float a, Float b) { return _mm256_min_ps(a, b); }
  QRT_INLINE Float max(Float a, Float b) { return _mm256_max_ps(a, b); }
  // Returns min(v, most). A v below `least`, or NaN, stays as it is or becomes `least`:
  // BytesOfQuanta makes lo of all of these.
  QRT_INLINE Float at_most(Float v, Float, Float most) { return min(most, v); }
  // Returns v with its bits changed where `bits` has ones.
  QRT_INLINE Float flip(Float v, Float bits) { return _mm256_xor_ps(v, bits); }
  // Returns `magnitude`, whose sign is 0, with the sign of v.
  QRT_INLINE Float with_sign_of(float magnitude, Float v) {
    return _mm256_or_ps(_mm256_and_ps(v, splat(-0.0f)), splat(magnitude));
  }
  // Returns v + 1 where a == b, else v: a true comparison is -1.
  QRT_INLINE Int add_where_equal(Int v, Float a, Float b) {
    return sub32(v, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
  }

  // float16 of kLanes, nearest even.
  QRT_INLINE Float load_half(const uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  QRT_INLINE Float load_half_partial(const uint16_t* p, size_t n) {
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
