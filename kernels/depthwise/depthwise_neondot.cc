// Depthwise for NEON with dot products: SDOT on four rows, the sign bit of the image flipped.
#include "kernels/depthwise/depthwise_neon.h"

namespace qrt {
namespace {

struct NeonDot : Neon {
  static constexpr DepthwiseTile kTile = kDepthwiseNeonDot;
  static constexpr int kOutputs = 2;
  static constexpr bool kSlides = true;
  static constexpr bool kFuses = false;
  static constexpr int kParts = 4, kUnrolledTaps = 4;
  static constexpr bool kFixes = false;
  using Data = int8x16_t;

  QRT_INLINE Row load_row(const uint8_t* const* p) {
    return veorq_u8(vld1q_u8(p[0]), vdupq_n_u8(0x80));
  }
  QRT_INLINE Data load_data(const uint8_t* p) { return vreinterpretq_s8_u8(vld1q_u8(p)); }
  QRT_INLINE void store_data(uint8_t* p, Data v) { vst1q_u8(p, vreinterpretq_u8_s8(v)); }
  QRT_INLINE void interleave(const Row row[4], Data cells[4]) {
    const uint16x8_t low01 = vreinterpretq_u16_u8(vzip1q_u8(row[0], row[1]));
    const uint16x8_t high01 = vreinterpretq_u16_u8(vzip2q_u8(row[0], row[1]));
    const uint16x8_t low23 = vreinterpretq_u16_u8(vzip1q_u8(row[2], row[3]));
    const uint16x8_t high23 = vreinterpretq_u16_u8(vzip2q_u8(row[2], row[3]));
    cells[0] = vreinterpretq_s8_u16(vzip1q_u16(low01, low23));
    cells[1] = vreinterpretq_s8_u16(vzip2q_u16(low01, low23));
    cells[2] = vreinterpretq_s8_u16(vzip1q_u16(high01, high23));
    cells[3] = vreinterpretq_s8_u16(vzip2q_u16(high01, high23));
  }
  QRT_INLINE Data load_weights(const uint8_t* p) { return load_data(p); }
  // Volatile: clang 14 would load the data of several taps before the first product, and spill
  // accumulators for them.
  QRT_INLINE void dot(Acc& acc, Data data, Data weights) {
    __asm__ volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(data), "w"(weights));
  }
  template <int kRows, int kPixels>
  QRT_INLINE void multiply_taps(Acc (&acc)[kRows][kPixels][4], const uint8_t* data,
                                size_t pixel_step, const uint8_t* const (&weights)[kRows],
                                size_t taps) {
    Taps<NeonDot, kRows, kPixels>(data, pixel_step, weights).multiply(acc, taps);
  }
  QRT_INLINE void multiply(int, Acc& acc, uint8x16_t data, uint8x16_t weights) {
    __asm__ volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(data), "w"(weights));
  }
  QRT_INLINE void dot(Acc& acc, Data data, const uint8_t* weights) {
    dot(acc, data, load_data(weights));
  }
};

}  // namespace

void depthwise_u8s8_neondot(const DepthwiseArgs& args) { run<NeonDot>(args); }

}  // namespace qrt
