// SPDX-License-Identifier: Apache-2.0
// The common part of the look-ups of AVX-512. For those kernel files only; everything here is local
// to the including file.
#ifndef QRT_KERNELS_LUT_LUT_AVX512_H_
#define QRT_KERNELS_LUT_LUT_AVX512_H_

#include <immintrin.h>

#include "kernels/lut/entry.h"

namespace qrt {
namespace {

// Maps 64 bytes at a time. Table: made from the four quarters of the table, looks up 64 bytes.
template <class Table>
void map_by(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  const Table t{{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                 _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)}};
  for (; n >= 64; n -= 64, x += 64, y += 64)
    _mm512_storeu_si512(y, t.look_up(_mm512_loadu_si512(x)));
  if (n > 0) {
    const __mmask64 mask = ~uint64_t{0} >> (64 - n);
    _mm512_mask_storeu_epi8(y, mask, t.look_up(_mm512_maskz_loadu_epi8(mask, x)));
  }
}

// Looks up bytes of pairs: four bytes are gathered for each pair, of which the lowest counts.
inline __m128i look_up_pairs(const uint8_t* table, __m128i a, __m128i b) {
  const __m512i high = _mm512_slli_epi32(_mm512_cvtepu8_epi32(a), 8);
  const __m512i pairs = _mm512_or_si512(high, _mm512_cvtepu8_epi32(b));
  return _mm512_cvtepi32_epi8(_mm512_i32gather_epi32(pairs, table, 1));
}

inline void map_pairs(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                      size_t n) {
  const auto load = [](const uint8_t* x) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  };
  for (; n >= 16; n -= 16, a += 16, b += 16, y += 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), look_up_pairs(table, load(a), load(b)));
  if (n > 0) {
    const __mmask16 mask = static_cast<__mmask16>((1u << n) - 1);
    _mm_mask_storeu_epi8(
        y, mask,
        look_up_pairs(table, _mm_maskz_loadu_epi8(mask, a), _mm_maskz_loadu_epi8(mask, b)));
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_LUT_LUT_AVX512_H_
