// SPDX-License-Identifier: Apache-2.0
// The policy of loops.h on VPDPBUSD with 512 bits. For kernel files only: everything has internal linkage.
#ifndef QRT_KERNELS_NBITS_POLICY512_H_
#define QRT_KERNELS_NBITS_POLICY512_H_

#include <immintrin.h>

#define QRT_FLOAT_LANES 16
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

struct Avx512Vnni {
  static constexpr bool kLess128 = false;
  // Inline assembly for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(all_ints(q)));
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) { dot(acc, u, q); }
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_NBITS_POLICY512_H_
