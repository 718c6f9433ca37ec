// SPDX-License-Identifier: Apache-2.0
// Requantisation of int32 accumulators to bytes in NEON registers, for the families that multiply.
#ifndef QRT_KERNELS_ISA_IN_REGISTERS_NEON_H_
#define QRT_KERNELS_ISA_IN_REGISTERS_NEON_H_

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"
#include "kernels/isa/requantize_neon.h"
#include "kernels/requant.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace neon {

// Fixed point: one stage half up with shifts from 32 on, or TFLite's double rounding.
enum class FixedForm { kNone, kHigh, kTwice };

// Returns the form of channels c .. c + n - 1.
inline FixedForm fixed_form(const Requant& r, size_t c, size_t n) {
  if (kIntegerOnly || r.kind != RequantKind::kInt) return FixedForm::kNone;
  const StageForms forms = forms_of(r, c, n);
  if (is_double_rounding(r, forms)) return FixedForm::kTwice;
  return r.stage_count == 1 && forms.of[0] == StageForm::kHigh && !clips(r.stages[0])
             ? FixedForm::kHigh
             : FixedForm::kNone;
}

// Returns SRSHL's shifts of four channels: the rest of the stage's shift, or the second stage's.
template <FixedForm kForm>
inline int32x4_t fixed_shifts(const Requant& r, size_t c) {
  if (kForm == FixedForm::kHigh)
    return vsubq_s32(vdupq_n_s32(31), Lanes::shifts(r.stages[0].shift + c));
  return vnegq_s32(Lanes::shifts(r.stages[1].shift + c));
}

// The three steps of a fixed-point product: multiply, subtract, shift. A floor first and half up
// last is half up. Half away from zero is half up of what is 1 less if negative, unless nothing is
// shifted out: then the shift is not negative.
template <FixedForm kForm>
QRT_INLINE int32x4_t fixed_product(int32x4_t v, int32x4_t multiplier) {
  return kForm == FixedForm::kHigh ? vqdmulhq_s32(v, multiplier) : vqrdmulhq_s32(v, multiplier);
}
template <FixedForm kForm>
QRT_INLINE int32x4_t fixed_less(int32x4_t v, int32x4_t shift) {
  return kForm == FixedForm::kHigh ? v : vsraq_n_s32(v, vandq_s32(v, shift), 31);
}
QRT_INLINE int32x4_t fixed_shift(int32x4_t v, int32x4_t shift) { return vrshlq_s32(v, shift); }

// The vector form of requantize() for RQ_F32, half to even, zero point after rounding, which needs
// the rounding mode nearest-even (a session sets it), and for fixed point. kProduct: the most that
// a product adds to or takes off a sum.
//
// Conversions between int and float cost Cortex-A76 four times as much as additions, which do the
// same for few products: a sum that starts at the bits of the float 2^23 + 2^22 is those of that
// number + sum as long as |sum| < 2^22; and a float within 16 bits plus it is rounded half to even,
// with the integer in the lower half of its bits. Behind a ReLU sums start at 2^23 and may come
// close to it: a negative one gives half of itself, and thus 0.
template <int32_t kProduct>
struct RequantInRegisters {
  enum Form {
    kConverted,  // RQ_F32, any sums
    kAdded,      // sums below 2^22 whose outputs are within 16 bits
    kFromZero,   // sums below 2^23, outputs likewise; zero point 0, lo 0 and hi 255
    kHigh,       // FixedForm
    kTwice,
  };
  static constexpr float kMagic = 12582912;  // 2^23 + 2^22
  static constexpr float kMostOutput = 32000;

  const Requant* requant;
  int16x8_t zero_point;
  uint8x16_t lo, hi;
  float32x4_t first;  // its bits are where sums start, beside the bias
  Form form;

  static bool handles(const Requant& r, size_t channels) {
    if (kIntegerOnly) return false;
    return r.kind == RequantKind::kF32 ? r.round == Round::kHalfEven && !r.zero_point_before
                                       : fixed_form(r, 0, channels) != FixedForm::kNone;
  }

  // REQUIRES: handles(r, channels); scales and bias readable to the next multiple of 4 channels.
  // Keeps the address of r.
  static RequantInRegisters make(const Requant& r, const int32_t* bias, size_t channels, size_t k) {
    const bool from_zero = r.zero_point == 0 && r.lo == 0 && r.hi == 255;
    const float limit = from_zero ? 1 << 23 : 1 << 22;
    Form form = kConverted;
    if (r.kind == RequantKind::kInt)
      form = r.stage_count == 1 ? kHigh : kTwice;
    else if (is_within(r, bias, channels, k, limit))
      form = from_zero ? kFromZero : kAdded;
    const float first = form == kFromZero ? limit : form == kAdded ? kMagic : 0;
    return {&r,
            vdupq_n_s16(static_cast<int16_t>(r.zero_point)),
            vdupq_n_u8(static_cast<uint8_t>(r.lo)),
            vdupq_n_u8(static_cast<uint8_t>(r.hi)),
            vdupq_n_f32(first),
            form};
  }

  // Returns whether all sums of k products and the bias are below `limit`, and their outputs within
  // 16 bits.
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

  // The constants of 16 channels.
  struct Constants {
    float32x4_t scale[4];
    int32x4_t multiplier[4], shift[4];
  };

  static constexpr bool is_fixed(Form f) { return f == kHigh || f == kTwice; }
  static constexpr FixedForm fixed(Form f) {
    return f == kHigh ? FixedForm::kHigh : FixedForm::kTwice;
  }

  template <Form kForm>
  __attribute__((always_inline)) void load(size_t channel, Constants& k) const {
    QRT_UNROLL
    for (size_t i = 0; i < 4; ++i) {
      const size_t c = channel + 4 * i;
      if constexpr (is_fixed(kForm)) {
        k.multiplier[i] = vld1q_s32(requant->stages[0].multiplier + c);
        k.shift[i] = fixed_shifts<fixed(kForm)>(*requant, c);
      } else {
        k.scale[i] = vld1q_f32(requant->scale + c);
      }
    }
  }

  // Requantises four vectors of 4 accumulators to 16 bytes, in order. Each step is done for all
  // four, which hides the latency of the previous one.
  template <Form kForm>
  __attribute__((always_inline)) uint8x16_t bytes(const int32x4_t (&v)[4],
                                                  const Constants& k) const {
    int16x8_t low, high;
    if constexpr (kForm == kAdded || kForm == kFromZero) {
      const float32x4_t magic = vdupq_n_f32(kMagic);
      float32x4_t x[4];
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = vsubq_f32(vreinterpretq_f32_s32(v[i]), first);
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = vmulq_f32(x[i], k.scale[i]);
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = vaddq_f32(x[i], magic);
      low = vuzp1q_s16(vreinterpretq_s16_f32(x[0]), vreinterpretq_s16_f32(x[1]));
      high = vuzp1q_s16(vreinterpretq_s16_f32(x[2]), vreinterpretq_s16_f32(x[3]));
    } else {
      int32x4_t x[4];
      rounded<kForm>(v, k, x);
      low = vqmovn_high_s32(vqmovn_s32(x[0]), x[1]);
      high = vqmovn_high_s32(vqmovn_s32(x[2]), x[3]);
    }
    if constexpr (kForm == kFromZero) return vqmovun_high_s16(vqmovun_s16(low), high);
    const uint8x16_t b =
        vqmovun_high_s16(vqmovun_s16(vqaddq_s16(low, zero_point)), vqaddq_s16(high, zero_point));
    return vminq_u8(vmaxq_u8(b, lo), hi);
  }

 private:
  template <Form kForm>
  QRT_INLINE void rounded(const int32x4_t (&v)[4], const Constants& k, int32x4_t (&x)[4]) {
    if constexpr (is_fixed(kForm)) {
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = fixed_product<fixed(kForm)>(v[i], k.multiplier[i]);
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = fixed_less<fixed(kForm)>(x[i], k.shift[i]);
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = fixed_shift(x[i], k.shift[i]);
    } else {  // FCVTNS saturates, and depends on no rounding mode
      float32x4_t y[4];
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) y[i] = vcvtq_f32_s32(v[i]);
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) y[i] = vmulq_f32(y[i], k.scale[i]);
      QRT_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = vcvtnq_s32_f32(y[i]);
    }
  }
};

}  // namespace neon
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_IN_REGISTERS_NEON_H_
