#include <arm_neon.h>

#include "kernels/formula/formula_loops.h"

namespace qrt {
namespace {

struct FormulaVectorsNeon {
  using Ints = int32x4_t;
  static constexpr size_t kLanes = 4;

  QRT_INLINE Ints widen(const uint8_t* p) {
    uint32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    const uint16x8_t words = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(bytes)));
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
  }
  QRT_INLINE Ints widen(const int16_t* p) { return vmovl_s16(vld1_s16(p)); }

  QRT_INLINE Ints multiply16(Ints v, int32_t k) { return v * k; }

  // Saturating to 16 bits first changes nothing: zero points are below 2^8.
  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, uint8_t* y) {
    const int16x8_t zero = vdupq_n_s16(static_cast<int16_t>(zero_point));
    QRT_UNROLL
    for (int i = 0; i < kRegisters; i += 2, y += 8) {
      const int16x8_t words = vcombine_s16(vqmovn_s32(v[i]), vqmovn_s32(v[i + 1]));
      vst1_u8(y, vqmovun_s16(vqaddq_s16(words, zero)));
    }
  }
  QRT_INLINE void narrow(const Ints (&v)[kRegisters], int32_t zero_point, int16_t* y) {
    const int32x4_t zero = vdupq_n_s32(zero_point);
    QRT_UNROLL
    for (int i = 0; i < kRegisters; ++i, y += kLanes)
      vst1_s16(y, vqmovn_s32(vqaddq_s32(v[i], zero)));
  }
};

}  // namespace
}  // namespace qrt

QRT_FORMULA_LOOPS(neon, qrt::FormulaVectorsNeon)
