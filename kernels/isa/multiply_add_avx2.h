// SPDX-License-Identifier: Apache-2.0
// VPMADDWD into accumulators, for kernel files built with AVX2.
#ifndef QRT_KERNELS_ISA_MULTIPLY_ADD_AVX2_H_
#define QRT_KERNELS_ISA_MULTIPLY_ADD_AVX2_H_

#include <immintrin.h>

#include "kernels/isa/inline.h"

namespace qrt {
namespace {

// Adds a * b to acc: sums of two adjacent 16-bit products. By inline assembly, for the reason given
// in isa/avx512vnni.h.
QRT_INLINE void multiply_add(__m256i& acc, __m256i a, __m256i b) {
  __m256i t;
  __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(acc), "=&x"(t) : "x"(a), "x"(b));
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_MULTIPLY_ADD_AVX2_H_
