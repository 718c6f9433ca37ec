// Table look-up with the table in four registers, where no instruction looks up bytes: VPERMI2W takes
// one of the 64 words of two by bits 1 to 6 of a byte, bit 7 chooses the pair, and bit 0 the byte of
// the word. Even and odd bytes are looked up apart.
#include "kernels/lut/lut_avx512.h"

namespace qrt {
namespace {

struct Table {
  __m512i quarter[4];

  // The word at bits 0..5 of every word of `index`, of the upper half of the table where `upper` says.
  __m512i words(__m512i index, __mmask32 upper) const {
    const __m512i low = _mm512_permutex2var_epi16(quarter[0], index, quarter[1]);
    const __m512i high = _mm512_permutex2var_epi16(quarter[2], index, quarter[3]);
    return _mm512_mask_mov_epi16(low, upper, high);
  }

  __m512i look_up(__m512i x) const {
    const __m512i bit0 = _mm512_set1_epi16(1), bit8 = _mm512_set1_epi16(1 << 8);
    const __m512i even =
        words(_mm512_srli_epi16(x, 1), _mm512_test_epi16_mask(x, _mm512_set1_epi16(1 << 7)));
    const __m512i odd = words(_mm512_srli_epi16(x, 9), _mm512_movepi16_mask(x));
    // By 0 or 8 bits, to the low byte and to the high one.
    const __m512i down = _mm512_slli_epi16(_mm512_and_si512(x, bit0), 3);
    const __m512i up = _mm512_srli_epi16(_mm512_andnot_si512(x, bit8), 5);
    return _mm512_mask_mov_epi8(_mm512_srlv_epi16(even, down), 0xaaaaaaaaaaaaaaaa,
                                _mm512_sllv_epi16(odd, up));
  }
};

}  // namespace

void lut_map_avx512vnni(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  map_by<Table>(table, x, y, n);
}

void lut_map_pairs_avx512vnni(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                              size_t n) {
  map_pairs(table, a, b, y, n);
}

}  // namespace qrt
