// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#define QRT_FLOAT_LANES 16
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

struct Avx512Vnni {
  static constexpr bool kLess128 = false;
  // Adds dot products by inline assembly, for the reason given in isa/avx512vnni.h.
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(all_ints(q)));
  }
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) { dot(acc, u, q); }
};

}  // namespace

QRT_NBITS_ROW(avx512vnni, Avx512Vnni, 8, 1)

}  // namespace qrt
