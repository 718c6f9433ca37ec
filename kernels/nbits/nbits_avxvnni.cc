// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#define QRT_FLOAT_LANES 8
#include "kernels/isa/avxvnni.h"
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

struct AvxVnni {
  static constexpr bool kLess128 = false;
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    __asm__(QRT_AVXVNNI "vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(u), "x"(all_ints(q)));
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) { dot(acc, u, q); }
};

}  // namespace

QRT_NBITS_ROW(avxvnni, AvxVnni, 4, 1)

}  // namespace qrt
