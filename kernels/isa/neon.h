// AArch64 NEON for the kernel families, also the base of the dot product sets: requantisation of
// int32 accumulators to bytes, and stores of part of a vector.
#ifndef QRT_KERNELS_ISA_NEON_H_
#define QRT_KERNELS_ISA_NEON_H_

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"
#include "kernels/requant.h"

namespace qrt {
namespace {
namespace neon {

// The first n bytes of v, n <= 16.
QRT_INLINE void store_bytes(uint8_t* p, uint8x16_t v, size_t n) {
  if (n == 16) {
    vst1q_u8(p, v);
    return;
  }
  if (n & 8) {
    vst1_u8(p, vget_low_u8(v));
    v = vextq_u8(v, v, 8);
    p += 8;
  }
  if (n & 4) {
    const uint32_t x = vgetq_lane_u32(vreinterpretq_u32_u8(v), 0);
    __builtin_memcpy(p, &x, 4);
    v = vextq_u8(v, v, 4);
    p += 4;
  }
  if (n & 2) {
    const uint16_t x = vgetq_lane_u16(vreinterpretq_u16_u8(v), 0);
    __builtin_memcpy(p, &x, 2);
    v = vextq_u8(v, v, 2);
    p += 2;
  }
  if (n & 1) *p = vgetq_lane_u8(v, 0);
}

// RQ_F32, half to even, zero point after rounding: the vector form of requantize(). FCVTNS
// saturates, so no limit is needed before it; it does not depend on the rounding mode, FMUL and
// SCVTF do (nearest-even, which a session sets).
struct RequantF32 {
  const float* scale;  // of the first channel
  int16x8_t zero_point;
  uint8x16_t lo, hi;

  static bool handles(const Requant& r, size_t) {
    return !kIntegerOnly && r.kind == RequantKind::kF32 && r.round == Round::kHalfEven &&
           !r.zero_point_before;
  }

  // REQUIRES: handles(r).
  static RequantF32 make(const Requant& r, const int32_t*, size_t, size_t) {
    return {r.scale, vdupq_n_s16(static_cast<int16_t>(r.zero_point)),
            vdupq_n_u8(static_cast<uint8_t>(r.lo)), vdupq_n_u8(static_cast<uint8_t>(r.hi))};
  }

  template <class Acc>
  QRT_INLINE Acc start(Acc bias) {
    return bias;
  }

  QRT_INLINE int32x4_t rounded(int32x4_t acc, float32x4_t s) {
    return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(acc), s));
  }

  // Four vectors of 4 accumulators to 16 bytes, in order.
  __attribute__((always_inline)) uint8x16_t bytes(int32x4_t v0, int32x4_t v1, int32x4_t v2,
                                                  int32x4_t v3, const float32x4_t (&s)[4]) const {
    const int16x8_t low = vqmovn_high_s32(vqmovn_s32(rounded(v0, s[0])), rounded(v1, s[1]));
    const int16x8_t high = vqmovn_high_s32(vqmovn_s32(rounded(v2, s[2])), rounded(v3, s[3]));
    const uint8x16_t b =
        vqmovun_high_s16(vqmovun_s16(vqaddq_s16(low, zero_point)), vqaddq_s16(high, zero_point));
    return vminq_u8(vmaxq_u8(b, lo), hi);
  }
};

}  // namespace neon
}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_NEON_H_
