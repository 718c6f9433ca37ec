// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#define QRT_FLOAT_LANES 8
#include "kernels/nbits/loops.h"

namespace qrt {
namespace {

// VPMADDUBSW: two products of bytes as an int16, which hold 2 * 15 * 127, and 2 * 128 * 127.
struct Avx2 {
  static constexpr bool kLess128 = true;
  QRT_INLINE void add(Ints& acc, __m256i pairs) {
    acc = acc + (Ints)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  QRT_INLINE void dot(Ints& acc, Ints u, int32_t q) {
    add(acc, _mm256_maddubs_epi16((__m256i)u, _mm256_set1_epi32(q)));
  }
  // Multiplies |u - 128| by q with the sign of u - 128.
  QRT_INLINE void dot8(Ints& acc, Ints u, int32_t q) {
    const __m256i w = _mm256_xor_si256((__m256i)u, _mm256_set1_epi8(-128));
    add(acc, _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(_mm256_set1_epi32(q), w)));
  }
};

}  // namespace

QRT_NBITS_ROW(avx2, Avx2, 4, 1)

}  // namespace qrt
