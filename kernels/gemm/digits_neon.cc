// SPDX-License-Identifier: Apache-2.0
// digits.h with NEON: two 64-bit lanes.
#include <arm_neon.h>

#include "kernels/gemm/digits_loops.h"

namespace qrt {
namespace {

struct Lanes64 {
  static constexpr size_t kLanes = 2;
  using Int = int64x2_t;

  static Int load(const int64_t* p) { return vld1q_s64(p); }
  static Int set(int64_t v) { return vdupq_n_s64(v); }
  static Int widen(const int32_t* p) { return vmovl_s32(vld1_s32(p)); }
  static Int add(Int a, Int b) { return vaddq_s64(a, b); }
  static Int shift_left_8(Int v) { return vshlq_n_s64(v, 8); }
  static Int low_half(Int v) { return vmovl_s32(vmovn_s64(v)); }
  static Int clamp(Int v, int64_t lo, int64_t hi) {
    const Int l = set(lo), h = set(hi);
    v = vbslq_s64(vcgtq_s64(l, v), l, v);
    return vbslq_s64(vcgtq_s64(v, h), h, v);
  }
  static void store(int16_t* y, Int v) {
    const int32x2_t ints = vmovn_s64(v);
    y[0] = static_cast<int16_t>(vget_lane_s32(ints, 0));
    y[1] = static_cast<int16_t>(vget_lane_s32(ints, 1));
  }

  template <Round kRound>
  struct Stage {
    void set(const RequantStage& stage, size_t c) {
      const int64_t shifts[2] = {stage.shift[c], stage.shift[c + 1]};
      multiplier = vreinterpret_u32_s32(vld1_s32(stage.multiplier + c));
      right = vnegq_s64(vld1q_s64(shifts));
      bit = vshlq_s64(vdupq_n_s64(1), vld1q_s64(shifts));
      half = vshrq_n_s64(bit, 1);
      less = vandq_s64(vreinterpretq_s64_u64(vcgtq_s64(half, vdupq_n_s64(0))), vdupq_n_s64(1));
    }
    Int apply(Int v) const {
      const uint64x2_t u = vreinterpretq_u64_s64(v);
      const uint64x2_t high = vmull_u32(vshrn_n_u64(u, 32), multiplier);
      const Int product = vreinterpretq_s64_u64(
          vaddq_u64(vmull_u32(vmovn_u64(u), multiplier), vshlq_n_u64(high, 32)));
      Int sum = vaddq_s64(product, half);
      if constexpr (kRound == Round::kHalfEven) {
        const uint64x2_t odd = vtstq_s64(product, bit);
        sum = vsubq_s64(sum, vbicq_s64(less, vreinterpretq_s64_u64(odd)));
      }
      if constexpr (kRound == Round::kHalfAway)
        sum = vsubq_s64(sum, vandq_s64(less, vshrq_n_s64(product, 63)));
      return vshlq_s64(sum, right);
    }
    uint32x2_t multiplier;
    Int right, bit, half;
    Int less;  // 1, or 0 where the shift is 0
  };
};

}  // namespace

void digits_split_neon(const int16_t* x, size_t n, uint8_t* high, uint8_t* low) {
  split(x, n, high, low);
}

void digits_combine_neon(const CombineArgs& args) { combine<Lanes64>(args); }

}  // namespace qrt
