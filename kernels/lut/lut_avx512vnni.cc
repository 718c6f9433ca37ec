// SPDX-License-Identifier: Apache-2.0
// Table look-up where no instruction looks up bytes.
#include "kernels/isa/look_up_words.h"
#include "kernels/lut/lut_avx512.h"

namespace qrt {

void lut_map_avx512vnni(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  map_by<avx512vnni::TableOfWords<4>>(table, x, y, n);
}

void lut_map_pairs_avx512vnni(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                              size_t n) {
  map_pairs(table, a, b, y, n);
}

}  // namespace qrt
