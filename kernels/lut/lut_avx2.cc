// SPDX-License-Identifier: Apache-2.0
// Table look-up with sixteen VPSHUFB, one for every 16 entries. VPSHUFB gives 0 for an index with
// the high bit set, so the results are joined by XOR and no byte is ever compared:
//
//   T[h] are the 16 parts of the table, x = 16 h + l. In step k the index is x - 16 k, wrapping for
//   k <= 8, then saturating at -128. Its high bit is clear where h - 7 <= k <= h (k <= h for
//   h < 8). Steps look up D[k] = P[k] ^ P[k-1] with P[h] = T[h] for h < 8, else T[h] ^ T[h-8]: the
//   XOR over the steps is P[h], or P[h] ^ P[h-8], which is T[h] both times.
#include <immintrin.h>

#include "kernels/lut/entry.h"

namespace qrt {
namespace {

// D, each part in both halves of its vector.
struct Table {
  explicit Table(const uint8_t table[256]) {
    __m256i previous = _mm256_setzero_si256();
    for (int k = 0; k < 16; ++k) {
      __m256i prefix = part(table, k);
      if (k >= 8) prefix = _mm256_xor_si256(prefix, part(table, k - 8));
      step[k] = _mm256_xor_si256(prefix, previous);
      previous = prefix;
    }
  }

  static __m256i part(const uint8_t table[256], int k) {
    return _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k)));
  }

  __m256i step[16];
};

// Keeps the steps in sequence: left alone, g++ 12 reassociates them and stores every result of
// VPSHUFB before it joins them, at two thirds of the speed.
inline void in_sequence(__m256i& a, __m256i& b) { asm("" : "+x"(a), "+x"(b)); }

}  // namespace

void lut_map_avx2(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  if (n >= 64) {
    const Table t(table);
    const __m256i sixteen = _mm256_set1_epi8(16);
    for (; n >= 64; n -= 64, x += 64, y += 64) {
      __m256i i0 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
      __m256i i1 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + 32));
      __m256i y0 = _mm256_shuffle_epi8(t.step[0], i0);
      __m256i y1 = _mm256_shuffle_epi8(t.step[0], i1);
#pragma GCC unroll 15
      for (int k = 1; k < 16; ++k) {
        i0 = k <= 8 ? _mm256_sub_epi8(i0, sixteen) : _mm256_subs_epi8(i0, sixteen);
        i1 = k <= 8 ? _mm256_sub_epi8(i1, sixteen) : _mm256_subs_epi8(i1, sixteen);
        in_sequence(i0, i1);
        y0 = _mm256_xor_si256(y0, _mm256_shuffle_epi8(t.step[k], i0));
        y1 = _mm256_xor_si256(y1, _mm256_shuffle_epi8(t.step[k], i1));
        in_sequence(y0, y1);
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), y0);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + 32), y1);
    }
  }
  for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace qrt
