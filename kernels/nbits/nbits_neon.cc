// SPDX-License-Identifier: Apache-2.0
#include <arm_neon.h>

#define QRT_FLOAT_LANES 4
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

struct Neon {
  static constexpr bool kLess128 = true;
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    const int8x16_t w = (int8x16_t)u;
    const int8x8_t four = vreinterpret_s8_s32(vdup_n_s32(q));
    // Sums of two products: 2 * 128 * 127 at most.
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(w), four));
    const int32x4_t high = vpaddlq_s16(vmull_s8(vget_high_s8(w), four));
    acc = acc + (Ints)vpaddq_s32(low, high);
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) {
    dot(acc, u ^ static_cast<int32_t>(0x80808080), q);
  }
};

}  // namespace

QRT_NBITS_ROW(neon, Neon, 4, 1)

}  // namespace qrt
