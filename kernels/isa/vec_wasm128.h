// SPDX-License-Identifier: Apache-2.0
// The vector layer of WebAssembly's simd128; vec_avx2.h says what its functions do. Included only by kernel files with this
// set's compile flags.
#ifndef QRT_KERNELS_ISA_VEC_WASM128_H_
#define QRT_KERNELS_ISA_VEC_WASM128_H_

#include <string.h>
#include <wasm_simd128.h>

#include <cstddef>
#include <cstdint>

#include "kernels/edge/numbers.h"
#include "kernels/isa/inline.h"
#include "kernels/isa/wasm128.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace wasm128 {

struct Vec {
  static constexpr size_t kBytes = 16, kLanes = 4;
  static constexpr bool kStreams = false;
  using Int = v128_t;
  using Bytes = Int;
  using Words = Int;
  using Sums = Int;
  typedef float Float __attribute__((vector_size(16)));
  using Mask = size_t;  // how many lanes
  using Sixteen = Int;

  QRT_INLINE Int load(const void* p) { return wasm_v128_load(p); }
  QRT_INLINE Bytes load8(const void* p) { return load(p); }
  QRT_INLINE Words load16(const void* p) { return load(p); }
  QRT_INLINE void store(void* p, Int v) { wasm_v128_store(p, v); }
  QRT_INLINE Float load_float(const float* p) { return floats(wasm_v128_load(p)); }
  QRT_INLINE void store_float(float* p, Float v) { wasm_v128_store(p, bits(v)); }

  QRT_INLINE Mask first_lanes(size_t n) { return n < kLanes ? n : kLanes; }
  QRT_INLINE Int load(Mask m, const int32_t* p) {
    int32_t lanes[kLanes] = {};
    memcpy(lanes, p, m * sizeof *p);
    return load(lanes);
  }
  QRT_INLINE Float load_float(Mask m, const float* p) {
    float lanes[kLanes] = {};
    memcpy(lanes, p, m * sizeof *p);
    return load_float(lanes);
  }
  QRT_INLINE void store_float(Mask m, float* p, Float v) {
    float lanes[kLanes];
    store_float(lanes, v);
    memcpy(p, lanes, m * sizeof *p);
  }
  QRT_INLINE void store_partial(uint8_t* p, Int v, size_t n) { store_bytes(p, v, n); }
  QRT_INLINE void load_partial(uint8_t (&to)[64], const uint8_t* p, size_t n) {
    memset(to, 0, sizeof to);
    memcpy(to, p, n);
  }

  template <bool kSigned>
  QRT_INLINE void widen_pair(const uint8_t* p, Int (&v)[2]) {
    const Int words = kSigned ? wasm_i16x8_load8x8(p) : wasm_u16x8_load8x8(p);
    v[0] = wasm_i32x4_extend_low_i16x8(words);
    v[1] = wasm_i32x4_extend_high_i16x8(words);
  }
  template <bool kSigned>
  QRT_INLINE Int widen(const uint8_t* p) {
    return widen_four<kSigned>(wasm_v128_load32_zero(p));
  }
  template <bool kSigned>
  QRT_INLINE Int widen_partial(const uint8_t* p, size_t n) {
    uint8_t bytes[kLanes] = {};
    memcpy(bytes, p, first_lanes(n));
    return widen<kSigned>(bytes);
  }
  QRT_INLINE Int widen16(const int16_t* p) { return wasm_i32x4_load16x4(p); }
  QRT_INLINE void store_low_bytes(uint8_t* p, Int v) {
    const Int four = wasm_i8x16_shuffle(v, v, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    wasm_v128_store32_lane(p, four, 0);
  }
  QRT_INLINE void store_low_bytes_pair(uint8_t* p, Int a, Int b) {
    const Int eight =
        wasm_i8x16_shuffle(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    wasm_v128_store64_lane(p, eight, 0);
  }
  QRT_INLINE void store_low_bytes_partial(uint8_t* p, Int v, size_t n) {
    uint8_t bytes[kLanes];
    store_low_bytes(bytes, v);
    memcpy(p, bytes, first_lanes(n));
  }

  QRT_INLINE void sixteen_less(const uint8_t* p, int32_t less, Int (&v)[4]) {
    Words words[2];
    words_less(load(p), zero_point(less), words);
    v[0] = wasm_i32x4_extend_low_i16x8(words[0]);
    v[1] = wasm_i32x4_extend_high_i16x8(words[0]);
    v[2] = wasm_i32x4_extend_low_i16x8(words[1]);
    v[3] = wasm_i32x4_extend_high_i16x8(words[1]);
  }
  QRT_INLINE Sixteen narrow16(const Int (&v)[4], int32_t more) {
    const Words add = splat16(more);
    return packus16(add16(packs32(v[0], v[1]), add), add16(packs32(v[2], v[3]), add));
  }
  QRT_INLINE void store16(uint8_t* p, Sixteen v) { store(p, v); }
  QRT_INLINE void store16_partial(uint8_t* p, Sixteen v, size_t n) { store_partial(p, v, n); }

  QRT_INLINE Int zero() { return wasm_i32x4_const_splat(0); }
  QRT_INLINE Bytes splat8(int32_t v) { return wasm_i8x16_splat(static_cast<int8_t>(v)); }
  QRT_INLINE Words splat16(int32_t v) { return wasm_i16x8_splat(static_cast<int16_t>(v)); }
  QRT_INLINE Int splat32(int32_t v) { return wasm_i32x4_splat(v); }
  QRT_INLINE Float splat(float v) { return Float{v, v, v, v}; }

  QRT_INLINE Bytes add8(Bytes a, Bytes b) { return wasm_i8x16_add(a, b); }
  QRT_INLINE Bytes add8_where_equal(Bytes v, Bytes a, Bytes b, Bytes more) {
    return add8(v, wasm_v128_and(wasm_i8x16_eq(a, b), more));
  }
  QRT_INLINE Bytes min_u8(Bytes a, Bytes b) { return wasm_u8x16_min(a, b); }
  QRT_INLINE Bytes max_u8(Bytes a, Bytes b) { return wasm_u8x16_max(a, b); }
  QRT_INLINE Words max_s16(Words a, Words b) { return wasm_i16x8_max(a, b); }
  QRT_INLINE Int max_s32(Int a, Int b) { return wasm_i32x4_max(a, b); }
  QRT_INLINE Words add16(Words a, Words b) { return wasm_i16x8_add(a, b); }
  QRT_INLINE Words adds16(Words a, Words b) { return wasm_i16x8_add_sat(a, b); }
  QRT_INLINE Int add32(Int a, Int b) { return wasm_i32x4_add(a, b); }
  QRT_INLINE Int sub32(Int a, Int b) { return wasm_i32x4_sub(a, b); }

  using ZeroPoint = Words;
  QRT_INLINE ZeroPoint zero_point(int32_t v) { return splat16(v); }
  QRT_INLINE void words_less(Bytes bytes, ZeroPoint less, Words (&words)[2]) {
    words[0] = wasm_i16x8_sub(wasm_u16x8_extend_low_u8x16(bytes), less);
    words[1] = wasm_i16x8_sub(wasm_u16x8_extend_high_u8x16(bytes), less);
  }
  QRT_INLINE void products16(Words a, Words b, Int (&v)[2]) {
    v[0] = wasm_i32x4_extmul_low_i16x8(a, b);
    v[1] = wasm_i32x4_extmul_high_i16x8(a, b);
  }
  QRT_INLINE Int multiply16(Int v, int32_t k) {
    return wasm_i32x4_dot_i16x8(v, splat32(k & UINT16_MAX));
  }

  QRT_INLINE Sums no_sums() { return zero(); }
  QRT_INLINE void add_bytes(Sums (&sums)[2], Bytes bytes) {
    sums[0] = add16(sums[0], wasm_u16x8_extend_low_u8x16(bytes));
    sums[1] = add16(sums[1], wasm_u16x8_extend_high_u8x16(bytes));
  }
  QRT_INLINE void add_sums(Int (&lanes)[4], const Sums (&sums)[2]) {
    lanes[0] = add32(lanes[0], wasm_u32x4_extend_low_u16x8(sums[0]));
    lanes[1] = add32(lanes[1], wasm_u32x4_extend_high_u16x8(sums[0]));
    lanes[2] = add32(lanes[2], wasm_u32x4_extend_low_u16x8(sums[1]));
    lanes[3] = add32(lanes[3], wasm_u32x4_extend_high_u16x8(sums[1]));
  }

  QRT_INLINE Words packs32(Int a, Int b) { return wasm_i16x8_narrow_i32x4(a, b); }
  QRT_INLINE Bytes packus16(Words a, Words b) { return wasm_u8x16_narrow_i16x8(a, b); }
  QRT_INLINE Int order_of_packs() { return zero(); }
  QRT_INLINE Bytes in_order(Bytes bytes, Int) { return bytes; }
  struct BytesOfQuanta {
    BytesOfQuanta(int32_t zero_point, int32_t lo, int32_t offset)
        : to_distance(splat16(zero_point - lo)), to_byte(splat8(lo + offset)) {}
    __attribute__((always_inline)) Bytes of(Int v0, Int v1, Int v2, Int v3) const {
      const Words low = adds16(packs32(v0, v1), to_distance);
      const Words high = adds16(packs32(v2, v3), to_distance);
      return add8(packus16(low, high), to_byte);
    }
    Int to_distance, to_byte;
  };
  QRT_INLINE Words pack_sums16(Int a, Int b, int32_t more) {
    const Int lo = splat32(INT16_MIN - more), hi = splat32(INT16_MAX - more), add = splat32(more);
    const auto sum = [&](Int v) { return add32(wasm_i32x4_min(wasm_i32x4_max(v, lo), hi), add); };
    return packs32(sum(a), sum(b));
  }
  QRT_INLINE Words high_words(Int a, Int b) {
    return packs32(wasm_i32x4_shr(a, 16), wasm_i32x4_shr(b, 16));
  }
  QRT_INLINE bool any_low_word_below(const Int (&v)[4], uint16_t limit) {
    const Int least = wasm_u16x8_min(wasm_u16x8_min(v[0], v[1]), wasm_u16x8_min(v[2], v[3]));
    return wasm_v128_any_true(wasm_u16x8_lt(least, splat16(limit)));
  }
  QRT_INLINE uint32_t low_words_below(Int v, uint16_t limit) {
    const Int low = wasm_v128_and(v, splat32(0xffff));
    return static_cast<uint32_t>(wasm_i32x4_bitmask(wasm_i32x4_lt(low, splat32(limit))));
  }
  QRT_INLINE void store_first(uint8_t* p, Bytes v) { wasm_v128_store32_lane(p, v, 0); }

  QRT_INLINE Float to_float(Int v) { return floats(wasm_f32x4_convert_i32x4(v)); }
  template <bool kSigned>
  QRT_INLINE Float quarter_floats(Bytes bytes, int quarter) {
    // Indices from 16 on give 0.
    const int32_t first = static_cast<int32_t>(0x80808000) + 4 * quarter;
    const Int lanes =
        wasm_i8x16_swizzle(bytes, wasm_i32x4_add(splat32(first), wasm_i32x4_const(0, 1, 2, 3)));
    return to_float(kSigned ? wasm_i32x4_shr(wasm_i32x4_shl(lanes, 24), 24) : lanes);
  }
  template <bool kSigned>
  QRT_INLINE void to_floats(const uint8_t* p, Float (&v)[4]) {
    Int lanes[4];
    sixteen_less(p, kSigned ? 128 : 0, lanes);
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) v[i] = to_float(lanes[i]);
  }
  QRT_INLINE Bytes packed(Bytes bytes) { return bytes; }
  // Both saturate, and NaN is 0.
  QRT_INLINE Int round(Float v) { return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(bits(v))); }
  QRT_INLINE Int truncate(Float v) { return wasm_i32x4_trunc_sat_f32x4(bits(v)); }
  QRT_INLINE Int round_away(Float v) { return truncate(v + with_sign_of(0x1.fffffep-2f, v)); }
  QRT_INLINE Float fma(Float a, Float b, Float c) {
    return floats(fused_multiply_add(bits(a), bits(b), bits(c)));
  }
  // Takes the lesser: the pseudo-minimum of b and a is a < b ? a : b.
  QRT_INLINE Float min(Float a, Float b) { return floats(wasm_f32x4_pmin(bits(b), bits(a))); }
  QRT_INLINE Float max(Float a, Float b) { return floats(wasm_f32x4_pmax(bits(b), bits(a))); }
  QRT_INLINE Float at_most(Float v, Float least, Float most) { return min(max(v, least), most); }
  QRT_INLINE Float flip(Float v, Float mask) { return floats(wasm_v128_xor(bits(v), bits(mask))); }
  QRT_INLINE Float with_sign_of(float magnitude, Float v) {
    const Int sign = wasm_v128_and(bits(v), splat32(INT32_MIN));
    return floats(wasm_v128_or(sign, bits(splat(magnitude))));
  }
  QRT_INLINE Int add_where_equal(Int v, Float a, Float b) {
    return sub32(v, wasm_f32x4_eq(bits(a), bits(b)));
  }

  QRT_INLINE Float load_half(const uint16_t* p) {
    return Float{half_to_float(p[0]), half_to_float(p[1]), half_to_float(p[2]),
                 half_to_float(p[3])};
  }
  QRT_INLINE void store_half(uint16_t* p, Float v) {
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) p[i] = float_to_half(v[i]);
  }

 private:
  QRT_INLINE Float floats(Int v) { return reinterpret_cast<Float>(v); }
  QRT_INLINE Int bits(Float v) { return reinterpret_cast<Int>(v); }
  template <bool kSigned>
  QRT_INLINE Int widen_four(Int bytes) {
    return kSigned ? wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(bytes))
                   : wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(bytes));
  }
};

}  // namespace wasm128
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_VEC_WASM128_H_
