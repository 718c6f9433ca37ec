// SPDX-License-Identifier: Apache-2.0
#include <arm_neon.h>

#define QRT_FLOAT_LANES 4
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

struct NeonDot {
  static constexpr bool kLess128 = true;
  // Adds dot products by inline assembly, for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(u), "w"(all_ints(q)));
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) {
    dot(acc, u ^ static_cast<int32_t>(0x80808080), q);
  }
};

}  // namespace

QRT_NBITS_ROW(neondot, NeonDot, 4, 2)

}  // namespace qrt
