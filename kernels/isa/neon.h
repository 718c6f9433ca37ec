// SPDX-License-Identifier: Apache-2.0
// AArch64 NEON for the kernel families, also the base of the dot product sets: stores of part of a
// vector.
#ifndef QRT_KERNELS_ISA_NEON_H_
#define QRT_KERNELS_ISA_NEON_H_

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "kernels/isa/inline.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace neon {

// Stores the first n bytes of v, n <= 16.
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

}  // namespace neon
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_NEON_H_
