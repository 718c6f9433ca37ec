// SPDX-License-Identifier: Apache-2.0
// Bytes from tables where no instruction looks up bytes: a table of 64 bytes is a register of 32 words,
// one of 128 two, which VPERMW and VPERMI2W look up by bits 1 to 6 of a byte; bit 0 is the byte of the
// word. Even and odd bytes are looked up apart. Included only by kernel files with AVX512-VNNI.
#ifndef QRT_KERNELS_ISA_LOOK_UP_WORDS_H_
#define QRT_KERNELS_ISA_LOOK_UP_WORDS_H_

#include <immintrin.h>

#include "kernels/isa/inline.h"

namespace qrt {
inline namespace QRT_KERNEL_SET {
namespace avx512vnni {

// Looks up 64 bytes. words(index, upper) looks up the words at the low bits of every word of
// `index`; where `upper` is set, in the part of the table behind its first 64.
template <class Words>
QRT_INLINE __m512i look_up_bytes(__m512i x, const Words& words) {
  const __m512i even =
      words(_mm512_srli_epi16(x, 1), _mm512_test_epi16_mask(x, _mm512_set1_epi16(1 << 7)));
  const __m512i odd = words(_mm512_srli_epi16(x, 9), _mm512_movepi16_mask(x));
  // Bytes are shifted by 0 or 8 bits, to the low byte and to the high one.
  const __m512i down = _mm512_slli_epi16(_mm512_and_si512(x, _mm512_set1_epi16(1)), 3);
  const __m512i up = _mm512_srli_epi16(_mm512_andnot_si512(x, _mm512_set1_epi16(1 << 8)), 5);
  return _mm512_mask_mov_epi8(_mm512_srlv_epi16(even, down), 0xaaaaaaaaaaaaaaaa,
                              _mm512_sllv_epi16(odd, up));
}

// 64 bytes a quarter; indices below 64 * kQuarters.
template <int kQuarters>
struct TableOfWords {
  __m512i quarter[kQuarters];

  __attribute__((always_inline)) inline __m512i look_up(__m512i x) const {
    return look_up_bytes(x, [this](__m512i index, __mmask32 upper) QRT_INLINE_LAMBDA {
      if constexpr (kQuarters == 1) return _mm512_permutexvar_epi16(index, quarter[0]);
      const __m512i low = _mm512_permutex2var_epi16(quarter[0], index, quarter[1 % kQuarters]);
      if constexpr (kQuarters == 2) return low;
      if constexpr (kQuarters == 3)
        return _mm512_mask_permutexvar_epi16(low, upper, index, quarter[2]);
      const __m512i high =
          _mm512_permutex2var_epi16(quarter[2 % kQuarters], index, quarter[3 % kQuarters]);
      return _mm512_mask_mov_epi16(low, upper, high);
    });
  }
};

}  // namespace avx512vnni
}  // namespace QRT_KERNEL_SET
}  // namespace qrt

#endif  // QRT_KERNELS_ISA_LOOK_UP_WORDS_H_
