// SPDX-License-Identifier: Apache-2.0
// The vector layer of AArch64's NEON; vec_avx2.h says what its functions do. Included only by kernel files with this set's
// compile flags.
#ifndef QRT_KERNELS_ISA_VEC_NEON_H_
#define QRT_KERNELS_ISA_VEC_NEON_H_

#include <arm_neon.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"
#include "kernels/isa/neon.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace neon {

struct Vec {
  static constexpr size_t kBytes = 16, kLanes = 4;
  static constexpr bool kStreams = false;
  // Types of their own: g++ 12 moves a register that changes its type from one round of a loop to the next.
  using Bytes = uint8x16_t;
  using Words = int16x8_t;
  using Sums = uint16x8_t;
  using Int = int32x4_t;
  using Float = float32x4_t;
  using Sixteen = Bytes;
  using Mask = size_t;  // how many lanes

  QRT_INLINE Int load(const void* p) { return vreinterpretq_s32_u8(load8(p)); }
  QRT_INLINE Bytes load8(const void* p) { return vld1q_u8(static_cast<const uint8_t*>(p)); }
  QRT_INLINE Words load16(const void* p) { return vreinterpretq_s16_u8(load8(p)); }
  QRT_INLINE void store(void* p, Bytes v) { vst1q_u8(static_cast<uint8_t*>(p), v); }
  QRT_INLINE void store(void* p, Words v) { store(p, vreinterpretq_u8_s16(v)); }
  QRT_INLINE void store(void* p, Int v) { store(p, vreinterpretq_u8_s32(v)); }
  QRT_INLINE Float load_float(const float* p) { return vld1q_f32(p); }
  QRT_INLINE void store_float(float* p, Float v) { vst1q_f32(p, v); }

  QRT_INLINE Mask first_lanes(size_t n) { return n < kLanes ? n : kLanes; }
  QRT_INLINE Int load(Mask m, const int32_t* p) {
    int32_t lanes[kLanes] = {};
    memcpy(lanes, p, m * sizeof *p);
    return vld1q_s32(lanes);
  }
  QRT_INLINE Float load_float(Mask m, const float* p) {
    float lanes[kLanes] = {};
    memcpy(lanes, p, m * sizeof *p);
    return vld1q_f32(lanes);
  }
  QRT_INLINE void store_float(Mask m, float* p, Float v) {
    float lanes[kLanes];
    vst1q_f32(lanes, v);
    memcpy(p, lanes, m * sizeof *p);
  }
  QRT_INLINE void store_partial(uint8_t* p, Bytes v, size_t n) { store_bytes(p, v, n); }
  QRT_INLINE void store_partial(uint8_t* p, Words v, size_t n) {
    store_bytes(p, vreinterpretq_u8_s16(v), n);
  }
  QRT_INLINE void load_partial(uint8_t (&to)[64], const uint8_t* p, size_t n) {
    memset(to, 0, sizeof to);
    memcpy(to, p, n);
  }

  template <bool kSigned>
  QRT_INLINE void widen_pair(const uint8_t* p, Int (&v)[2]) {
    const uint8x8_t bytes = vld1_u8(p);
    const int16x8_t words =
        kSigned ? vmovl_s8(vreinterpret_s8_u8(bytes)) : vreinterpretq_s16_u16(vmovl_u8(bytes));
    v[0] = vmovl_s16(vget_low_s16(words));
    v[1] = vmovl_high_s16(words);
  }
  template <bool kSigned>
  QRT_INLINE Int widen_partial(const uint8_t* p, size_t n) {
    uint8_t bytes[2 * kLanes] = {};
    memcpy(bytes, p, first_lanes(n));
    Int v[2];
    widen_pair<kSigned>(bytes, v);
    return v[0];
  }
  template <bool kSigned>
  QRT_INLINE Int widen(const uint8_t* p) {
    uint32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    const uint8x8_t eight = vreinterpret_u8_u32(vdup_n_u32(bytes));
    return kSigned ? vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(eight))))
                   : vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(eight))));
  }
  QRT_INLINE Int widen16(const int16_t* p) { return vmovl_s16(vld1_s16(p)); }
  QRT_INLINE void store_low_bytes(uint8_t* p, Int v) {
    const uint16x4_t words = vmovn_u32(vreinterpretq_u32_s32(v));
    const uint32_t bytes =
        vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0);
    memcpy(p, &bytes, sizeof bytes);
  }
  QRT_INLINE void store_low_bytes_pair(uint8_t* p, Int a, Int b) {
    const int16x8_t words = vmovn_high_s32(vmovn_s32(a), b);
    vst1_u8(p, vreinterpret_u8_s8(vmovn_s16(words)));
  }
  QRT_INLINE void store_low_bytes_partial(uint8_t* p, Int v, size_t n) {
    uint8_t bytes[kLanes];
    store_low_bytes(bytes, v);
    memcpy(p, bytes, first_lanes(n));
  }

  QRT_INLINE void sixteen_less(const uint8_t* p, int32_t zero_point, Int (&v)[4]) {
    const uint8x16_t x = vld1q_u8(p);
    const uint8x8_t zero = vdup_n_u8(static_cast<uint8_t>(zero_point));
    const int16x8_t low = vreinterpretq_s16_u16(vsubl_u8(vget_low_u8(x), zero));
    const int16x8_t high = vreinterpretq_s16_u16(vsubl_u8(vget_high_u8(x), zero));
    v[0] = vmovl_s16(vget_low_s16(low));
    v[1] = vmovl_high_s16(low);
    v[2] = vmovl_s16(vget_low_s16(high));
    v[3] = vmovl_high_s16(high);
  }
  QRT_INLINE Sixteen narrow16(const Int (&v)[4], int32_t more) {
    const int16x8_t add = vdupq_n_s16(static_cast<int16_t>(more));
    const int16x8_t low = vaddq_s16(vmovn_high_s32(vmovn_s32(v[0]), v[1]), add);
    const int16x8_t high = vaddq_s16(vmovn_high_s32(vmovn_s32(v[2]), v[3]), add);
    return vqmovun_high_s16(vqmovun_s16(low), high);
  }
  QRT_INLINE void store16(uint8_t* p, Sixteen v) { store(p, v); }
  QRT_INLINE void store16_partial(uint8_t* p, Sixteen v, size_t n) { store_partial(p, v, n); }

  QRT_INLINE Int zero() { return vdupq_n_s32(0); }
  QRT_INLINE Bytes splat8(int32_t v) { return vdupq_n_u8(static_cast<uint8_t>(v)); }
  QRT_INLINE Words splat16(int32_t v) { return vdupq_n_s16(static_cast<int16_t>(v)); }
  QRT_INLINE Int splat32(int32_t v) { return vdupq_n_s32(v); }
  QRT_INLINE Float splat(float v) { return vdupq_n_f32(v); }

  QRT_INLINE Bytes add8(Bytes a, Bytes b) { return vaddq_u8(a, b); }
  QRT_INLINE Bytes add8_where_equal(Bytes v, Bytes a, Bytes b, Bytes more) {
    return vaddq_u8(v, vandq_u8(vceqq_u8(a, b), more));
  }
  QRT_INLINE Bytes min_u8(Bytes a, Bytes b) { return vminq_u8(a, b); }
  QRT_INLINE Bytes max_u8(Bytes a, Bytes b) { return vmaxq_u8(a, b); }
  QRT_INLINE Words max_s16(Words a, Words b) { return vmaxq_s16(a, b); }
  QRT_INLINE Int max_s32(Int a, Int b) { return vmaxq_s32(a, b); }
  QRT_INLINE Words add16(Words a, Words b) { return vaddq_s16(a, b); }
  QRT_INLINE Words adds16(Words a, Words b) { return vqaddq_s16(a, b); }
  QRT_INLINE Int add32(Int a, Int b) { return vaddq_s32(a, b); }
  QRT_INLINE Int sub32(Int a, Int b) { return vsubq_s32(a, b); }

  using ZeroPoint = uint8x8_t;
  QRT_INLINE ZeroPoint zero_point(int32_t v) { return vdup_n_u8(static_cast<uint8_t>(v)); }
  QRT_INLINE void words_less(Bytes bytes, ZeroPoint zero, Words (&words)[2]) {
    words[0] = vreinterpretq_s16_u16(vsubl_u8(vget_low_u8(bytes), zero));
    words[1] = vreinterpretq_s16_u16(vsubl_u8(vget_high_u8(bytes), zero));
  }
  QRT_INLINE void products16(Words a, Words b, Int (&v)[2]) {
    v[0] = vmull_s16(vget_low_s16(a), vget_low_s16(b));
    v[1] = vmull_high_s16(a, b);
  }
  QRT_INLINE Int multiply16(Int v, int32_t k) { return vmulq_n_s32(v, k); }

  QRT_INLINE Sums no_sums() { return vdupq_n_u16(0); }
  QRT_INLINE void add_bytes(Sums (&sums)[2], Bytes bytes) {
    sums[0] = vaddw_u8(sums[0], vget_low_u8(bytes));
    sums[1] = vaddw_high_u8(sums[1], bytes);
  }
  QRT_INLINE void add_sums(Int (&lanes)[4], const Sums (&sums)[2]) {
    lanes[0] = vreinterpretq_s32_u32(vaddw_u16(u32(lanes[0]), vget_low_u16(sums[0])));
    lanes[1] = vreinterpretq_s32_u32(vaddw_high_u16(u32(lanes[1]), sums[0]));
    lanes[2] = vreinterpretq_s32_u32(vaddw_u16(u32(lanes[2]), vget_low_u16(sums[1])));
    lanes[3] = vreinterpretq_s32_u32(vaddw_high_u16(u32(lanes[3]), sums[1]));
  }

  QRT_INLINE Words packs32(Int a, Int b) { return vqmovn_high_s32(vqmovn_s32(a), b); }
  QRT_INLINE Bytes packus16(Words a, Words b) { return vqmovun_high_s16(vqmovun_s16(a), b); }
  QRT_INLINE Int order_of_packs() { return zero(); }
  QRT_INLINE Bytes in_order(Bytes bytes, Int) { return bytes; }
  // Within limits already: narrowing drops the high bits, which leaves the byte modulo 256.
  struct BytesOfQuanta {
    BytesOfQuanta(int32_t zero_point, int32_t, int32_t offset)
        : more(splat8(zero_point + offset)) {}
    __attribute__((always_inline)) Bytes of(Int v0, Int v1, Int v2, Int v3) const {
      const Words low = vmovn_high_s32(vmovn_s32(v0), v1);
      const Words high = vmovn_high_s32(vmovn_s32(v2), v3);
      return add8(vreinterpretq_u8_s8(vmovn_high_s16(vmovn_s16(low), high)), more);
    }
    Bytes more;
  };
  QRT_INLINE Words pack_sums16(Int a, Int b, int32_t more) {
    const Int add = splat32(more);
    return packs32(vqaddq_s32(a, add), vqaddq_s32(b, add));
  }
  QRT_INLINE Words high_words(Int a, Int b) {
    return vuzp2q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
  }
  QRT_INLINE bool any_low_word_below(const Int (&v)[4], uint16_t limit) {
    const auto low = [](Int a, Int b) {
      return vuzp1q_u16(vreinterpretq_u16_s32(a), vreinterpretq_u16_s32(b));
    };
    return vminvq_u16(vminq_u16(low(v[0], v[1]), low(v[2], v[3]))) < limit;
  }
  QRT_INLINE uint32_t low_words_below(Int v, uint16_t limit) {
    static constexpr uint16_t kBits[] = {1, 2, 4, 8};
    const uint16x4_t low = vmovn_u32(u32(v));
    return vaddv_u16(vand_u16(vclt_u16(low, vdup_n_u16(limit)), vld1_u16(kBits)));
  }
  QRT_INLINE void store_first(uint8_t* p, Bytes v) {
    const uint32_t bytes = vgetq_lane_u32(vreinterpretq_u32_u8(v), 0);
    memcpy(p, &bytes, sizeof bytes);
  }

  QRT_INLINE Float to_float(Int v) { return vcvtq_f32_s32(v); }
  // Converts bytes to floats: TBL puts four bytes on top of zeros (entry 0xff is outside the
  // register), and the conversion divides by 2^24.
  template <bool kSigned>
  QRT_INLINE Float quarter_floats(Bytes bytes, int quarter) {
    const uint32_t first = (static_cast<uint32_t>(quarter) << 26) + 0x00ffffff;
    const uint32x4_t from = {first, first + (1u << 24), first + (2u << 24), first + (3u << 24)};
    const uint8x16_t v = vqtbl1q_u8(bytes, vreinterpretq_u8_u32(from));
    return kSigned ? vcvtq_n_f32_s32(vreinterpretq_s32_u8(v), 24)
                   : vcvtq_n_f32_u32(vreinterpretq_u32_u8(v), 24);
  }
  template <bool kSigned>
  QRT_INLINE void to_floats(const uint8_t* p, Float (&v)[4]) {
    const Bytes stored = load8(p), bytes = kSigned ? veorq_u8(stored, splat8(0x80)) : stored;
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) v[i] = quarter_floats<kSigned>(bytes, i);
  }
  QRT_INLINE Bytes packed(Bytes bytes) { return bytes; }
  // Convert to int32. Both saturate: what is below int32 becomes INT32_MIN, and NaN 0.
  QRT_INLINE Int round(Float v) { return vcvtnq_s32_f32(v); }
  QRT_INLINE Int round_away(Float v) { return vcvtaq_s32_f32(v); }
  QRT_INLINE Int truncate(Float v) { return vcvtq_s32_f32(v); }
  QRT_INLINE Float fma(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }
  // Take the lesser or the greater: FMINNM and FMAXNM give the number where the other operand is a quiet NaN.
  QRT_INLINE Float min(Float a, Float b) { return vminnmq_f32(a, b); }
  QRT_INLINE Float max(Float a, Float b) { return vmaxnmq_f32(a, b); }
  QRT_INLINE Float at_most(Float v, Float least, Float most) { return min(max(v, least), most); }
  QRT_INLINE Float flip(Float v, Float bits) {
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(v), vreinterpretq_u32_f32(bits)));
  }
  QRT_INLINE Int add_where_equal(Int v, Float a, Float b) {
    return vsubq_s32(v, vreinterpretq_s32_u32(vceqq_f32(a, b)));
  }

  QRT_INLINE Float load_half(const uint16_t* p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
  }
  QRT_INLINE void store_half(uint16_t* p, Float v) {
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v)));
  }

 private:
  QRT_INLINE uint32x4_t u32(Int v) { return vreinterpretq_u32_s32(v); }
};

}  // namespace neon
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_VEC_NEON_H_
