// SPDX-License-Identifier: Apache-2.0
// Depthwise for NEON: each image row widened once to int16, products by SMLAL.
#include "kernels/depthwise/depthwise_neon.h"

namespace qrt {
namespace {

struct NeonInt16 : Neon {
  static constexpr DepthwiseTile kTile = kDepthwiseNeon;
  static constexpr int kOutputs = 4;
  static constexpr bool kSlides = false;
  static constexpr int kParts = 2, kUnrolledTaps = 3;
  using Data = int16x4_t;

  template <int>
  QRT_INLINE Row load_row(const uint8_t* const* p) {
    return vld1q_u8(p[0]);
  }
  QRT_INLINE Row load_repeated(const uint8_t* const* p, Row order) {
    return vqtbl1q_u8(vld1q_u8(p[0]), order);
  }
  QRT_INLINE void store_data(uint8_t* p, Data v) { vst1_u8(p, vreinterpret_u8_s16(v)); }
  QRT_INLINE void interleave(const Row row[1], Data cells[4]) {
    const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(row[0])));
    const int16x8_t high = vreinterpretq_s16_u16(vmovl_high_u8(row[0]));
    cells[0] = vget_low_s16(low);
    cells[1] = vget_high_s16(low);
    cells[2] = vget_low_s16(high);
    cells[3] = vget_high_s16(high);
  }
  template <int kRows, int kPixels>
  QRT_INLINE void multiply_taps(Acc (&acc)[kRows][kPixels][4], const uint8_t* data,
                                size_t pixel_step, const uint8_t* const (&weights)[kRows],
                                size_t taps) {
    Taps<NeonInt16, kRows, kPixels>(data, pixel_step, weights).multiply(acc, taps);
  }
  QRT_INLINE void multiply(int half, Acc& acc, uint8x16_t data, uint8x16_t weights) {
    if (half == 0)
      __asm__ volatile("smlal %0.4s, %1.4h, %2.4h" : "+w"(acc) : "w"(data), "w"(weights));
    else
      __asm__ volatile("smlal2 %0.4s, %1.8h, %2.8h" : "+w"(acc) : "w"(data), "w"(weights));
  }
};

}  // namespace

void depthwise_u8s8_neon(const DepthwiseArgs& args) { run<NeonInt16>(args); }

}  // namespace qrt
