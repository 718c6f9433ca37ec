// What the NEON policies of the depthwise family share: 16 channels to a register, one lane.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_NEON_H_

#include <arm_neon.h>

#include "kernels/depthwise/depthwise_tile.h"
#include "kernels/isa/requantize_neon.h"

namespace qrt {
namespace {

struct Neon {
  static constexpr int kBands = 1;
  using Row = uint8x16_t;
  using Acc = int32x4_t;
  using Lanes = neon::Lanes;

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
