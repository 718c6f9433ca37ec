#include "kernels/isa/neon.h"
#include "kernels/lut/lines_loops.h"

namespace qrt {
namespace {

struct LinesNeon {
  using Bytes = uint8x16_t;
  static constexpr size_t kBytes = 16;

  static constexpr size_t kRows = 2;

  // Loaded for every two rows: registers do not hold all of it.
  template <Lines kLines>
  struct Constants {
    Constants(const LineBlock& block, size_t first) : k(block), i(first) {}

    const LineBlock& k;
    size_t i;
  };

  template <Lines kLines, size_t kRows>
  QRT_INLINE void map(const Constants<kLines>& constants, const uint8_t* x, size_t stride,
                      Bytes (&y)[kRows]) {
    const LineBlock& k = constants.k;
    constexpr bool kTwo = kLines != Lines::kOne;
    int32x4_t lanes[kRows][4];
    uint16x8_t words[kRows][2];
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const uint8x16_t bytes = vld1q_u8(x + r * stride);
      words[r][0] = vmovl_u8(vget_low_u8(bytes));
      words[r][1] = vmovl_high_u8(bytes);
    }
    QRT_UNROLL
    for (size_t part = 0; part < 4; ++part) {
      const size_t at = constants.i + part * 4;
      float32x4_t slope[2], intercept[2];
      uint32x4_t sign;
      QRT_UNROLL
      for (int line = 0; line < 1 + kTwo; ++line) {
        slope[line] = vld1q_f32(k.slope[line] + at);
        intercept[line] = vld1q_f32(k.intercept[line] + at);
      }
      if (kLines == Lines::kSigned) sign = vld1q_u32(k.sign + at);
      QRT_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const uint16x8_t half = words[r][part / 2];
        const float32x4_t v =
            vcvtq_f32_u32(part % 2 == 0 ? vmovl_u16(vget_low_u16(half)) : vmovl_high_u16(half));
        float32x4_t f = vfmaq_f32(intercept[0], v, slope[0]);
        if (kTwo) f = vmaxq_f32(f, vfmaq_f32(intercept[1], v, slope[1]));
        if (kLines == Lines::kSigned)
          f = vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(f), sign));
        lanes[r][part] = vcvtnq_s32_f32(f);
      }
    }
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const int16x8_t low = vqmovn_high_s32(vqmovn_s32(lanes[r][0]), lanes[r][1]);
      const int16x8_t high = vqmovn_high_s32(vqmovn_s32(lanes[r][2]), lanes[r][3]);
      y[r] = vqmovun_high_s16(vqmovun_s16(low), high);
    }
  }

  template <size_t kRows>
  QRT_INLINE void limit(const LineBlock& k, size_t i, Bytes (&y)[kRows]) {
    const uint8x16_t lo = vld1q_u8(k.lo + i), hi = vld1q_u8(k.hi + i);
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) y[r] = vminq_u8(vmaxq_u8(y[r], lo), hi);
  }

  template <size_t kRows>
  QRT_INLINE void mend(const LineBlock& k, size_t j, size_t i, const uint8_t* x, size_t stride,
                       Bytes (&y)[kRows]) {
    const uint8x16_t at = vld1q_u8(k.at[j] + i), more = vld1q_u8(k.more[j] + i);
    QRT_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const uint8x16_t here = vceqq_u8(vld1q_u8(x + r * stride), at);
      y[r] = vaddq_u8(y[r], vandq_u8(here, more));
    }
  }

  QRT_INLINE void store(uint8_t* y, Bytes v) { vst1q_u8(y, v); }
  QRT_INLINE void store_part(uint8_t* y, Bytes v, size_t n) { neon::store_bytes(y, v, n); }
};

}  // namespace
}  // namespace qrt

QRT_LINES_LOOPS(neon, qrt::LinesNeon)
