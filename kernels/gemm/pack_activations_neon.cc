// SPDX-License-Identifier: Apache-2.0
// Packing on NEON.
#include <string.h>

#include "kernels/gemm/pack_activations_entry.h"
#include "kernels/gemm/pack_activations_loops.h"
#include "kernels/isa/neon.h"

namespace qrt {
namespace {

struct Zips128 {
  static constexpr size_t kLanes = 1;
  using Bytes = uint8x16_t;
  using Partial = size_t;
  using PartialLanes = size_t;
  struct Sums {
    __attribute__((always_inline)) void add(Bytes v) {
      sums = vpadalq_s16(sums, vpaddlq_s8(vreinterpretq_s8_u8(v)));
    }
    __attribute__((always_inline)) void store(uint32_t factor, uint32_t addend, int32_t* p) const {
      const uint32x4_t start = vdupq_n_u32(addend);
      vst1q_s32(p, vreinterpretq_s32_u32(vmlaq_n_u32(start, vreinterpretq_u32_s32(sums), factor)));
    }
    int32x4_t sums = vdupq_n_s32(0);
  };

  QRT_INLINE Bytes missing() { return vdupq_n_u8(128); }
  QRT_INLINE Bytes load(const uint8_t* p, Partial n) {
    return n == 16 ? vld1q_u8(p) : load_partial(p, n);
  }
  __attribute__((noinline)) static Bytes load_partial(const uint8_t* p, Partial n) {
    uint8_t bytes[16];
    memset(bytes, 128, sizeof bytes);
    memcpy(bytes, p, n);
    return vld1q_u8(bytes);
  }
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t) { return vld1q_u8(p); }
  QRT_INLINE Bytes load_lanes(const uint8_t* p, size_t, size_t, PartialLanes n) {
    return load(p, n);
  }
  QRT_INLINE Bytes low8(Bytes a, Bytes b) { return vzip1q_u8(a, b); }
  QRT_INLINE Bytes high8(Bytes a, Bytes b) { return vzip2q_u8(a, b); }
  QRT_INLINE uint16x8_t by16(Bytes v) { return vreinterpretq_u16_u8(v); }
  QRT_INLINE Bytes low16(Bytes a, Bytes b) {
    return vreinterpretq_u8_u16(vzip1q_u16(by16(a), by16(b)));
  }
  QRT_INLINE Bytes high16(Bytes a, Bytes b) {
    return vreinterpretq_u8_u16(vzip2q_u16(by16(a), by16(b)));
  }
  QRT_INLINE uint32x4_t by32(Bytes v) { return vreinterpretq_u32_u8(v); }
  QRT_INLINE Bytes low32(Bytes a, Bytes b) {
    return vreinterpretq_u8_u32(vzip1q_u32(by32(a), by32(b)));
  }
  QRT_INLINE Bytes high32(Bytes a, Bytes b) {
    return vreinterpretq_u8_u32(vzip2q_u32(by32(a), by32(b)));
  }
  QRT_INLINE uint64x2_t by64(Bytes v) { return vreinterpretq_u64_u8(v); }
  QRT_INLINE Bytes low64(Bytes a, Bytes b) {
    return vreinterpretq_u8_u64(vzip1q_u64(by64(a), by64(b)));
  }
  QRT_INLINE Bytes high64(Bytes a, Bytes b) {
    return vreinterpretq_u8_u64(vzip2q_u64(by64(a), by64(b)));
  }
  QRT_INLINE void to_blocks(Bytes (&)[4]) {}
  QRT_INLINE Bytes signs(Bytes v) { return veorq_u8(v, missing()); }
  QRT_INLINE void store(int8_t* p, Bytes v) { vst1q_s8(p, vreinterpretq_s8_u8(v)); }
};

}  // namespace

void pack_activations_neon(const ActivationPack& pack, size_t begin, size_t end) {
  pack_activations_of<Zips128>(pack, begin, end);
}

}  // namespace qrt
