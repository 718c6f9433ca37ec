// What the NEON policies of the depthwise family share: 16 channels to a register, one lane.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_

#include <arm_neon.h>

#include "kernels/depthwise/depthwise_tile.h"

namespace qrt {
namespace {

struct Neon {
  static constexpr int kBands = 1;
  using Row = uint8x16_t;
  using Acc = int32x4_t;

  QRT_INLINE Row load_lanes(const uint8_t* const* p) { return vld1q_u8(p[0]); }
  QRT_INLINE Acc load_acc(const uint8_t* p) { return vreinterpretq_s32_u8(vld1q_u8(p)); }

  QRT_INLINE bool is_bounded(const uint8_t* constants, float reach) {
    uint32x4_t all = vdupq_n_u32(~0u);
    for (int q = 0; q < 4; ++q) {
      const float32x4_t bias = vabsq_f32(vcvtq_f32_s32(load_acc(constants + q * 16)));
      const float32x4_t scale = vreinterpretq_f32_u8(vld1q_u8(constants + 64 + q * 16));
      const float32x4_t limit = vmulq_f32(vaddq_f32(bias, vdupq_n_f32(reach)), scale);
      all = vandq_u32(all, vcltq_f32(limit, vdupq_n_f32(2e9f)));
    }
    return vminvq_u32(all) != 0;
  }

  QRT_INLINE void store_acc(const Acc acc[4], int32_t* out) {
    for (int q = 0; q < 4; ++q) vst1q_s32(out + q * 4, acc[q]);
  }

  // ROUND(product / 2^s), saturated to int32; s in 0..62. `half` is 0 if nothing is shifted out.
  template <Round kRound>
  QRT_INLINE int32x2_t round_products(int64x2_t product, int64x2_t s) {
    const int64x2_t bit = vshlq_s64(vdupq_n_s64(1), s);
    const int64x2_t half = vshrq_n_s64(bit, 1);
    const int64x2_t something = vreinterpretq_s64_u64(vtstq_s64(half, half));
    int64x2_t v = product;
    if constexpr (kRound != Round::kFloor) v = vaddq_s64(v, half);
    if constexpr (kRound == Round::kHalfAway)
      v = vaddq_s64(v, vandq_s64(vshrq_n_s64(product, 63), something));
    if constexpr (kRound == Round::kHalfEven) {
      const int64x2_t odd = vreinterpretq_s64_u64(vtstq_s64(product, bit));
      v = vaddq_s64(v, vbicq_s64(something, odd));
    }
    return vqmovn_s64(vshlq_s64(v, vnegq_s64(s)));
  }

  static constexpr size_t kStageLanes = 4;
  template <Round kRound>
  QRT_INLINE void round_stage(int32_t* v, const int32_t* multiplier, const uint8_t* shift,
                              int32_t clip_lo, int32_t clip_hi) {
    const int32x4_t x = vld1q_s32(v), m = vld1q_s32(multiplier);
    const int64x2_t s0 = {shift[0], shift[1]}, s1 = {shift[2], shift[3]};
    const int32x2_t low = round_products<kRound>(vmull_s32(vget_low_s32(x), vget_low_s32(m)), s0);
    const int32x2_t high = round_products<kRound>(vmull_high_s32(x, m), s1);
    const int32x4_t r = vmaxq_s32(vcombine_s32(low, high), vdupq_n_s32(clip_lo));
    vst1q_s32(v, vminq_s32(r, vdupq_n_s32(clip_hi)));
  }

  struct Finish {
    Finish(const Requant& r, size_t channels)
        : zero_point(vdupq_n_s16(static_cast<int16_t>(r.zero_point))),
          lo(vdupq_n_u8(static_cast<uint8_t>(r.lo))),
          hi(vdupq_n_u8(static_cast<uint8_t>(r.hi))),
          n(channels) {}

    template <bool kClamp>
    __attribute__((always_inline)) void store(const Acc acc[4], const uint8_t* scale, uint8_t* out,
                                              size_t, size_t) const {
      int16x4_t v[4];
      for (int q = 0; q < 4; ++q) {
        const float32x4_t s = vreinterpretq_f32_u8(vld1q_u8(scale + q * 16));
        v[q] = vqmovn_s32(vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(acc[q]), s)));
      }
      int16x8_t low = vcombine_s16(v[0], v[1]), high = vcombine_s16(v[2], v[3]);
      if (kClamp) {
        low = vqaddq_s16(low, zero_point);
        high = vqaddq_s16(high, zero_point);
      }
      uint8x16_t bytes = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
      if (kClamp) bytes = vminq_u8(vmaxq_u8(bytes, lo), hi);
      if (n == 16) {
        vst1q_u8(out, bytes);
        return;
      }
      if (n & 8) {
        vst1_u8(out, vget_low_u8(bytes));
        bytes = vextq_u8(bytes, bytes, 8);
        out += 8;
      }
      uint64_t rest = vgetq_lane_u64(vreinterpretq_u64_u8(bytes), 0);
      for (size_t i = 0; i < (n & 7); ++i, rest >>= 8) out[i] = static_cast<uint8_t>(rest);
    }

    int16x8_t zero_point;
    uint8x16_t lo, hi;
    size_t n;
  };
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_
