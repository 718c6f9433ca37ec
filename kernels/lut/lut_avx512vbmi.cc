// SPDX-License-Identifier: Apache-2.0
// Table look-up with the table in four registers: VPERMI2B takes one of the 128 entries of two by the
// low seven bits of a byte, the high bit chooses the pair.
#include "kernels/lut/lut_avx512.h"

namespace qrt {
namespace {

struct Table {
  __m512i quarter[4];

  __m512i look_up(__m512i x) const {
    const __m512i low = _mm512_permutex2var_epi8(quarter[0], x, quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarter[2], x, quarter[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(x), high);
  }
};

}  // namespace

void lut_map_avx512vbmi(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  map_by<Table>(table, x, y, n);
}

void lut_map_pairs_avx512vbmi(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                              size_t n) {
  map_pairs(table, a, b, y, n);
}

}  // namespace qrt
