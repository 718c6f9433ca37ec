#include <arm_neon.h>

#include "kernels/resize/float_loops.h"

namespace qrt {
namespace {

struct Lanes {
  static constexpr size_t kBlock = 4;
  static constexpr size_t kBlocks = 4;
  static constexpr bool kDoubles = true;
  typedef float Block __attribute__((vector_size(16)));
  using Ints = int32x4_t;

  // Two products with 1 / scale in two parts; bounds.cc has the proof.
  template <bool kMayTruncate>
  struct Steps {
    explicit Steps(const ResizeBytes& b) : truncates(kMayTruncate && b.truncates) {
      const float reciprocal = 1 / b.scale;
      inverse = splat(reciprocal);
      rest = fma(splat(-reciprocal), splat(b.scale), splat(1)) * inverse;
    }
    Ints operator()(Block sums) const {
      const Block v = fma(sums, inverse, sums * rest);
      return truncates ? truncate(v) : vcvtnq_s32_f32(neon(v));
    }

    const bool truncates;
    Block inverse, rest;
  };

  QRT_INLINE float32x4_t neon(Block v) { return reinterpret_cast<float32x4_t>(v); }
  QRT_INLINE Block splat(float v) { return v - Block{}; }
  QRT_INLINE Block fma(Block a, Block b, Block c) {
    return reinterpret_cast<Block>(vfmaq_f32(neon(c), neon(a), neon(b)));
  }
  QRT_INLINE Ints truncate(Block v) { return vcvtq_s32_f32(neon(v)); }

  QRT_INLINE void store(uint8_t* y, const Ints (&v)[4], const ResizeBytes& b) {
    const int16x8_t offset = vdupq_n_s16(static_cast<int16_t>(b.offset));
    const int16x8_t low = vcombine_s16(vqmovn_s32(v[0]), vqmovn_s32(v[1]));
    const int16x8_t high = vcombine_s16(vqmovn_s32(v[2]), vqmovn_s32(v[3]));
    store_words(y, vqaddq_s16(low, offset), vqaddq_s16(high, offset), b);
  }
  QRT_INLINE void store_high(uint8_t* y, const Ints (&v)[4], int16_t more, const ResizeBytes& b) {
    const int16x8_t add = vdupq_n_s16(more);
    const int16x8_t low = vcombine_s16(vshrn_n_s32(v[0], 16), vshrn_n_s32(v[1], 16));
    const int16x8_t high = vcombine_s16(vshrn_n_s32(v[2], 16), vshrn_n_s32(v[3], 16));
    store_words(y, vaddq_s16(low, add), vaddq_s16(high, add), b);
  }
  QRT_INLINE bool any_word_below(const Ints (&v)[4], uint16_t limit) {
    const uint16x8_t low = vcombine_u16(low_words(v[0]), low_words(v[1]));
    const uint16x8_t high = vcombine_u16(low_words(v[2]), low_words(v[3]));
    return vminvq_u16(vminq_u16(low, high)) < limit;
  }
  QRT_INLINE uint32_t words_below(Ints v, uint16_t limit) {
    static constexpr uint16_t kBits[] = {1, 2, 4, 8};
    return vaddv_u16(vand_u16(vclt_u16(low_words(v), vdup_n_u16(limit)), vld1_u16(kBits)));
  }

 private:
  QRT_INLINE uint16x4_t low_words(Ints v) { return vmovn_u32(vreinterpretq_u32_s32(v)); }
  QRT_INLINE void store_words(uint8_t* y, int16x8_t low, int16x8_t high, const ResizeBytes& b) {
    const uint8x16_t bytes = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
    const uint8x16_t lo = vdupq_n_u8(static_cast<uint8_t>(b.lo));
    const uint8x16_t hi = vdupq_n_u8(static_cast<uint8_t>(b.hi));
    vst1q_u8(y, vminq_u8(vmaxq_u8(bytes, lo), hi));
  }
};

}  // namespace

void resize_f32_neon(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                     const ResizeBytes& bytes, uint8_t* y) {
  row_f32<Lanes>(row, plane, bytes, y);
}
void resize_columns_neon(const ResizeRow<float>& row, const float* source, float* y) {
  weigh_columns<Lanes>(row, source, y);
}
void resize_f32_by_columns_neon(const ResizeRow<float>& row, const ResizePlane<float, float>& plane,
                                const ResizeColumns& columns, const ResizeBytes& bytes,
                                uint8_t* y) {
  row_by_columns<Lanes>(row, plane, columns, bytes, y);
}

}  // namespace qrt
