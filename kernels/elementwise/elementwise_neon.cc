// Elementwise add and mul: in float 64 bytes at a time, in integers by chunks.h.
#include <arm_neon.h>

#include "kernels/elementwise/chunks_int16.h"
#include "kernels/elementwise/walk.h"
#include "kernels/isa/requantize_neon.h"

namespace qrt {
namespace {

// Sixteen numbers to bytes: clamp(v + offset, lo, hi).
inline uint8x16_t to_bytes(int32x4_t v0, int32x4_t v1, int32x4_t v2, int32x4_t v3, int16x8_t offset,
                           uint8x16_t lo, uint8x16_t hi) {
  const int16x8_t w0 = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(v0), v1), offset);
  const int16x8_t w1 = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(v2), v3), offset);
  return vminq_u8(vmaxq_u8(vqmovun_high_s16(vqmovun_s16(w0), w1), lo), hi);
}

template <bool kFma, bool kFirstSigned, bool kSecondSigned>
struct Sum : PartByCopy {
  explicit Sum(const SumConstants& c)
      : first_scale(vdupq_n_f32(c.first_scale)),
        second_scale(vdupq_n_f32(c.second_scale)),
        constant(vdupq_n_f32(c.constant)),
        offset(vdupq_n_s16(c.offset)),
        lo(vdupq_n_u8(c.lo)),
        hi(vdupq_n_u8(c.hi)) {
    // Entry 0xff is outside the register: zero.
    const uint32x4_t lanes = {0u << 24, 1u << 24, 2u << 24, 3u << 24};
    for (uint32_t part = 0; part < 4; ++part)
      top[part] = vreinterpretq_u8_u32(vaddq_u32(lanes, vdupq_n_u32(part << 26 | 0x00ffffff)));
  }

  // Four of 16 bytes as numbers: TBL puts them on top of zeros, the conversion divides by 2^24.
  template <bool kSigned>
  float32x4_t numbers(uint8x16_t x, int part) const {
    const uint8x16_t v = vqtbl1q_u8(x, top[part]);
    return kSigned ? vcvtq_n_f32_s32(vreinterpretq_s32_u8(v), 24)
                   : vcvtq_n_f32_u32(vreinterpretq_u32_u8(v), 24);
  }

  int32x4_t sums(uint8x16_t a, uint8x16_t b, int part) const {
    const float32x4_t x1 = numbers<kFirstSigned>(a, part), x2 = numbers<kSecondSigned>(b, part);
    if (kFma)
      return vcvtnq_s32_f32(vfmaq_f32(vfmaq_f32(constant, x1, first_scale), x2, second_scale));
    return vcvtnq_s32_f32(
        vaddq_f32(vaddq_f32(constant, vmulq_f32(x1, first_scale)), vmulq_f32(x2, second_scale)));
  }

  template <bool kSigned>
  static uint8x16_t load(const uint8_t* x) {
    const uint8x16_t bytes = vld1q_u8(x);
    return kSigned ? veorq_u8(bytes, vdupq_n_u8(0x80)) : bytes;
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    for (size_t i = 0; i < kBlock; i += 16) {
      const uint8x16_t x1 = load<kFirstSigned>(a + i), x2 = load<kSecondSigned>(b + i);
      vst1q_u8(y + i, to_bytes(sums(x1, x2, 0), sums(x1, x2, 1), sums(x1, x2, 2), sums(x1, x2, 3),
                               offset, lo, hi));
    }
  }

  float32x4_t first_scale, second_scale, constant;
  int16x8_t offset;
  uint8x16_t lo, hi, top[4];
};

template <bool kFused, bool kHalfUp>
struct Product : PartByCopy {
  explicit Product(const ProductConstants& c)
      : scale(vdupq_n_f32(c.scale)),
        addend(vdupq_n_f32(c.addend)),
        a_zero_point(vdup_n_u8(static_cast<uint8_t>(c.a_zero_point))),
        b_zero_point(vdup_n_u8(static_cast<uint8_t>(c.b_zero_point))),
        offset(vdupq_n_s16(c.offset)),
        lo(vdupq_n_u8(c.lo)),
        hi(vdupq_n_u8(c.hi)) {}

  int32x4_t scaled(int32x4_t product) const {
    const float32x4_t p = vcvtq_f32_s32(product);
    const float32x4_t v =
        kFused ? vfmaq_f32(addend, p, scale) : vaddq_f32(vmulq_f32(p, scale), addend);
    const int32x4_t even = vcvtnq_s32_f32(v);
    if (!kHalfUp) return even;
    // A tie that went down to the even neighbour goes up instead: a true comparison is -1.
    const uint32x4_t down = vceqq_f32(vsubq_f32(v, vcvtq_f32_s32(even)), vdupq_n_f32(0.5f));
    return vsubq_s32(even, vreinterpretq_s32_u32(down));
  }

  static int16x8_t differences(uint8x8_t x, uint8x8_t zero_point) {
    return vreinterpretq_s16_u16(vsubl_u8(x, zero_point));
  }

  void whole(const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    for (size_t i = 0; i < kBlock; i += 16) {
      const uint8x16_t xa = vld1q_u8(a + i), xb = vld1q_u8(b + i);
      const int16x8_t a0 = differences(vget_low_u8(xa), a_zero_point);
      const int16x8_t a1 = differences(vget_high_u8(xa), a_zero_point);
      const int16x8_t b0 = differences(vget_low_u8(xb), b_zero_point);
      const int16x8_t b1 = differences(vget_high_u8(xb), b_zero_point);
      vst1q_u8(y + i, to_bytes(scaled(vmull_s16(vget_low_s16(a0), vget_low_s16(b0))),
                               scaled(vmull_high_s16(a0, b0)),
                               scaled(vmull_s16(vget_low_s16(a1), vget_low_s16(b1))),
                               scaled(vmull_high_s16(a1, b1)), offset, lo, hi));
    }
  }

  float32x4_t scale, addend;
  uint8x8_t a_zero_point, b_zero_point;
  int16x8_t offset;
  uint8x16_t lo, hi;
};

}  // namespace

void elementwise_add_neon(const AddParams& params, const ElementwiseRun& run) {
  add<Sum>(params, run);
}

void elementwise_mul_neon(const MulParams& params, const ElementwiseRun& run) {
  mul<Product, neon::Lanes>(params, run);
}

QRT_ELEMENTWISE_INTEGERS(neon, neon::Lanes)

}  // namespace qrt
