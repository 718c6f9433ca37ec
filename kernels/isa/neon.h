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

// RQ_F32, half to even, zero point after rounding: the vector form of requantize(), which needs the
// rounding mode nearest-even (a session sets it). kProduct: the most that a product adds to or
// takes off a sum.
//
// Conversions between int and float cost Cortex-A76 four times as much as additions, which do the
// same for few products: a sum that starts at the bits of the float 2^23 + 2^22 is those of that
// number + sum as long as |sum| < 2^22; and a float within 16 bits plus it is rounded half to even,
// with the integer in the lower half of its bits. Behind a ReLU sums start at 2^23 and may come
// close to it: a negative one gives half of itself, and thus 0.
template <int32_t kProduct>
struct RequantF32 {
  enum Form {
    kConverted,  // any sums
    kAdded,      // sums below 2^22 whose outputs are within 16 bits
    kFromZero,   // sums below 2^23, outputs likewise; zero point 0, lo 0 and hi 255
  };
  static constexpr float kMagic = 12582912;  // 2^23 + 2^22
  static constexpr float kMostOutput = 32000;

  const float* scale;  // of the first channel
  int16x8_t zero_point;
  uint8x16_t lo, hi;
  float32x4_t first;  // its bits are where sums start, beside the bias
  Form form;

  static bool handles(const Requant& r, size_t) {
    return !kIntegerOnly && r.kind == RequantKind::kF32 && r.round == Round::kHalfEven &&
           !r.zero_point_before;
  }

  // REQUIRES: handles(r); scales and bias readable to the next multiple of 4 channels.
  static RequantF32 make(const Requant& r, const int32_t* bias, size_t channels, size_t k) {
    const bool from_zero = r.zero_point == 0 && r.lo == 0 && r.hi == 255;
    const float limit = from_zero ? 1 << 23 : 1 << 22;
    const Form form = !is_within(r, bias, channels, k, limit) ? kConverted
                      : from_zero                             ? kFromZero
                                                              : kAdded;
    return {r.scale,
            vdupq_n_s16(static_cast<int16_t>(r.zero_point)),
            vdupq_n_u8(static_cast<uint8_t>(r.lo)),
            vdupq_n_u8(static_cast<uint8_t>(r.hi)),
            vdupq_n_f32(form == kConverted  ? 0
                        : form == kFromZero ? limit
                                            : kMagic),
            form};
  }

  // Whether all sums of k products and the bias are below `limit`, and their outputs within 16
  // bits.
  static bool is_within(const Requant& r, const int32_t* bias, size_t channels, size_t k,
                        float limit) {
    const float32x4_t reach = vdupq_n_f32(static_cast<float>(kProduct) * static_cast<float>(k));
    uint32x4_t all = vdupq_n_u32(~0u);
    for (size_t j = 0; j < channels; j += 4) {
      const float32x4_t sum = vaddq_f32(vabsq_f32(vcvtq_f32_s32(vld1q_s32(bias + j))), reach);
      const float32x4_t output = vmulq_f32(sum, vld1q_f32(r.scale + j));
      all = vandq_u32(all, vcltq_f32(sum, vdupq_n_f32(limit)));
      all = vandq_u32(all, vcltq_f32(output, vdupq_n_f32(kMostOutput)));
    }
    return vminvq_u32(all) != 0;
  }

  template <class Acc>
  __attribute__((always_inline)) Acc start(Acc bias) const {
    return bias + vreinterpretq_s32_f32(first);
  }

  // Four vectors of 4 accumulators to 16 bytes, in order. Each step of all four hides the latencies
  // of the one before it.
  template <Form kForm>
  __attribute__((always_inline)) uint8x16_t bytes(const int32x4_t (&v)[4],
                                                  const float32x4_t (&s)[4]) const {
    float32x4_t x[4];
    QRT_UNROLL
    for (int i = 0; i < 4; ++i)
      x[i] =
          kForm == kConverted ? vcvtq_f32_s32(v[i]) : vsubq_f32(vreinterpretq_f32_s32(v[i]), first);
    QRT_UNROLL
    for (int i = 0; i < 4; ++i) x[i] = vmulq_f32(x[i], s[i]);
    int16x8_t low, high;
    if constexpr (kForm == kConverted) {  // FCVTNS saturates, and depends on no rounding mode
      int32x4_t y[4];
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) y[i] = vcvtnq_s32_f32(x[i]);
      low = vqmovn_high_s32(vqmovn_s32(y[0]), y[1]);
      high = vqmovn_high_s32(vqmovn_s32(y[2]), y[3]);
    } else {
      int16x8_t y[4];
      QRT_UNROLL
      for (int i = 0; i < 4; ++i)
        y[i] = vreinterpretq_s16_f32(vaddq_f32(x[i], vdupq_n_f32(kMagic)));
      low = vuzp1q_s16(y[0], y[1]);
      high = vuzp1q_s16(y[2], y[3]);
    }
    if constexpr (kForm == kFromZero) return vqmovun_high_s16(vqmovun_s16(low), high);
    const uint8x16_t b =
        vqmovun_high_s16(vqmovun_s16(vqaddq_s16(low, zero_point)), vqaddq_s16(high, zero_point));
    return vminq_u8(vmaxq_u8(b, lo), hi);
  }
};

}  // namespace neon
}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_NEON_H_
