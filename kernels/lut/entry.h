// SPDX-License-Identifier: Apache-2.0
// Entry points of the lut family's files. Only for this folder: others take a row from lut.h.
#ifndef QRT_KERNELS_LUT_ENTRY_H_
#define QRT_KERNELS_LUT_ENTRY_H_

#include "kernels/lut/lut.h"

namespace qrt {

#define QRT_LUT(isa, suffix, map, map_pairs) \
  void map(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n);
#include "kernels/lut/lut.inc"

void lut_map_pairs_scalar(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                          size_t n);
void lut_map_pairs_avx512vnni(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                              size_t n);
void lut_map_pairs_avx512vbmi(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                              size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_LUT_ENTRY_H_
