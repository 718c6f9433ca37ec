// SPDX-License-Identifier: Apache-2.0
// NEON policy of requantize_tile.h, also that of the dot product sets.
#ifndef QRT_KERNELS_ISA_REQUANTIZE_NEON_H_
#define QRT_KERNELS_ISA_REQUANTIZE_NEON_H_

#include <arm_neon.h>
#include <string.h>

#include "kernels/isa/requantize_tile.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace neon {

struct Lanes {
  static constexpr size_t kLanes = 4;
  using Int = int32x4_t;

  static Int load(const int32_t* p) { return vld1q_s32(p); }
  static void save(int32_t* p, Int v) { vst1q_s32(p, v); }
  static Int clip(Int v, int32_t lo, int32_t hi) {
    return vminq_s32(vmaxq_s32(v, vdupq_n_s32(lo)), vdupq_n_s32(hi));
  }
  template <bool kAdds>
  static void to_float(const int32_t* acc, const float* scale, const float* addend, uint8_t* y) {
    float32x4_t v = vmulq_f32(vcvtq_f32_s32(load(acc)), vld1q_f32(scale));
    if constexpr (kAdds) v = vaddq_f32(v, vld1q_f32(addend));
    vst1q_u8(y, vreinterpretq_u8_f32(v));
  }
  static Int shifts(const uint8_t* p) { return Int{p[0], p[1], p[2], p[3]}; }
  // Returns v with the sign of x, v >= 0.
  static Int with_sign(Int v, Int x) {
    const Int negative = vshrq_n_s32(x, 31);
    return vsubq_s32(veorq_s32(v, negative), negative);
  }
  static uint32x4_t magnitude(Int x) { return vreinterpretq_u32_s32(vabsq_s32(x)); }

  // ROUND(x / 2^s) in 32 bits; s 0..31. SRSHL rounds half up without overflow.
  template <Round kRound>
  struct Shift {
    Shift(const RequantStage& stage, size_t c) : right(vnegq_s32(shifts(stage.shift + c))) {
      const uint32x4_t bit = vshlq_u32(vdupq_n_u32(1), vnegq_s32(right));
      half = vshrq_n_u32(bit, 1);
      below = vsubq_u32(bit, vdupq_n_u32(1));
      odd = vminq_u32(half, vdupq_n_u32(1));
    }

    Int apply(Int x) const {
      if constexpr (kRound == Round::kFloor) return vshlq_s32(x, right);
      if constexpr (kRound == Round::kHalfAway)
        return with_sign(vreinterpretq_s32_u32(vrshlq_u32(magnitude(x), right)), x);
      const Int up = vrshlq_s32(x, right);
      if constexpr (kRound == Round::kHalfUp) return up;
      // A tie went up: clearing the lowest bit makes it even.
      const uint32x4_t tie = vceqq_u32(vandq_u32(vreinterpretq_u32_s32(x), below), half);
      return vbicq_s32(up, vreinterpretq_s32_u32(vandq_u32(tie, odd)));
    }

    Int right;
    uint32x4_t half, below;
    uint32x4_t odd;  // 1, or 0 where the shift is 0
  };

  // Products of 64 bits of the lower and of the upper lanes; s 0..62.
  template <bool kClips, Round kRound>
  struct Product {
    struct Half {
      explicit Half(int32x2_t shift) {
        const int64x2_t s = vmovl_s32(shift);
        right = vnegq_s64(s);
        bit = vshlq_s64(vdupq_n_s64(1), s);
        something = vreinterpretq_s64_u64(vcltzq_s64(right));
      }

      int64x2_t apply(int64x2_t product) const {
        if constexpr (kRound == Round::kFloor) return vshlq_s64(product, right);
        int64x2_t v = product;
        // Half up, but 1 less if negative, or if even.
        if constexpr (kRound == Round::kHalfAway)
          v = vaddq_s64(v, vandq_s64(vshrq_n_s64(product, 63), something));
        if constexpr (kRound == Round::kHalfEven) {
          const int64x2_t odd = vreinterpretq_s64_u64(vtstq_s64(product, bit));
          v = vaddq_s64(v, vbicq_s64(something, odd));
        }
        return vrshlq_s64(v, right);
      }

      int64x2_t right, bit;
      int64x2_t something;  // -1, or 0 where the shift is 0
    };

    Product(const RequantStage& stage, size_t c) : Product(stage, shifts(stage.shift + c), c) {}
    Product(const RequantStage& stage, Int s, size_t c)
        : multiplier(load(stage.multiplier + c)),
          lo(vdupq_n_s32(stage.clip_lo)),
          hi(vdupq_n_s32(stage.clip_hi)),
          low(vget_low_s32(s)),
          high(vget_high_s32(s)) {}

    Int apply(Int x) const {
      const int64x2_t l = low.apply(vmull_s32(vget_low_s32(x), vget_low_s32(multiplier)));
      const int64x2_t h = high.apply(vmull_high_s32(x, multiplier));
      if constexpr (!kClips) return vuzp1q_s32(vreinterpretq_s32_s64(l), vreinterpretq_s32_s64(h));
      return vminq_s32(vmaxq_s32(vqmovn_high_s64(vqmovn_s64(l), h), lo), hi);
    }

    Int multiplier, lo, hi;
    Half low, high;
  };

  template <StageForm kForm, Round kRound>
  struct Stage : Product<kForm == StageForm::kClipped, kRound> {
    using Product<kForm == StageForm::kClipped, kRound>::Product;
  };
  template <Round kRound>
  struct Stage<StageForm::kShift, kRound> : Shift<kRound> {
    using Shift<kRound>::Shift;
  };
  // SQRDMULH is floor((2 x m + 2^31) / 2^32); it saturates only -2^31 * -2^31.
  template <Round kRound>
  struct Stage<StageForm::kQ31, kRound> {
    Stage(const RequantStage& stage, size_t c) : multiplier(load(stage.multiplier + c)) {}
    Int apply(Int x) const { return vqrdmulhq_s32(x, multiplier); }
    Int multiplier;
  };
  // Floor first and half up last is half up: SQDMULH shifts by 31, SRSHL by the rest, at least 1.
  template <Round kRound>
  struct Stage<StageForm::kHigh, kRound> {
    Stage(const RequantStage& stage, size_t c)
        : multiplier(load(stage.multiplier + c)),
          right(vsubq_s32(vdupq_n_s32(31), shifts(stage.shift + c))) {}
    Int apply(Int x) const { return vrshlq_s32(vqdmulhq_s32(x, multiplier), right); }
    Int multiplier, right;
  };

  // FCVTNS and FCVTMS saturate: no limit is needed before them.
  template <FloatOrder kOrder, bool kHalfUp>
  struct FloatStage {
    FloatStage(const Requant& r, size_t c)
        : scale(vld1q_f32(r.scale + c)),
          zero_point(vdupq_n_f32(static_cast<float>(r.zero_point))) {}

    Int apply(Int acc) const {
      const float32x4_t x = vcvtq_f32_s32(acc);
      float32x4_t v;
      if constexpr (kOrder == FloatOrder::kFused) {
        v = vfmaq_f32(zero_point, x, scale);
      } else {
        v = vmulq_f32(x, scale);
        if constexpr (kOrder == FloatOrder::kBefore) v = vaddq_f32(v, zero_point);
      }
      const Int even = vcvtnq_s32_f32(v);
      if constexpr (!kHalfUp) return even;
      // A tie that went down to the even neighbour goes up instead (a true comparison is -1); the
      // difference is exact.
      const uint32x4_t down = vceqq_f32(vsubq_f32(v, vcvtq_f32_s32(even)), vdupq_n_f32(0.5f));
      return vsubq_s32(even, vreinterpretq_s32_u32(down));
    }

    float32x4_t scale, zero_point;
  };

  struct Finish {
    Finish(int32_t offset_value, int32_t lo_value, int32_t hi_value)
        : offset(vdupq_n_s16(static_cast<int16_t>(offset_value))),
          lo(vdupq_n_u8(static_cast<uint8_t>(lo_value))),
          hi(vdupq_n_u8(static_cast<uint8_t>(hi_value))) {}

    void store(const int32_t* v, uint8_t* y, size_t n) const {
      const int16x8_t w0 = vqmovn_high_s32(vqmovn_s32(load(v)), load(v + 4));
      const int16x8_t w1 = vqmovn_high_s32(vqmovn_s32(load(v + 8)), load(v + 12));
      const uint8x16_t b =
          vqmovun_high_s16(vqmovun_s16(vqaddq_s16(w0, offset)), vqaddq_s16(w1, offset));
      const uint8x16_t bytes = vminq_u8(vmaxq_u8(b, lo), hi);
      if (n == 16) {
        vst1q_u8(y, bytes);
      } else {
        uint8_t all[16];
        vst1q_u8(all, bytes);
        memcpy(y, all, n);
      }
    }

    int16x8_t offset;
    uint8x16_t lo, hi;
  };
};

}  // namespace neon
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_REQUANTIZE_NEON_H_
