// SPDX-License-Identifier: Apache-2.0
// Entry points of the family's files. Only for this folder: others take a row from nbits.h.
#ifndef QRT_KERNELS_NBITS_ENTRY_H_
#define QRT_KERNELS_NBITS_ENTRY_H_

#include "kernels/nbits/nbits.h"

namespace qrt {

#define QRT_NBITS(isa, suffix)                                                                \
  void nbits_quantize_##suffix(const NBitsWeights& w, const float* x, size_t rows, int8_t* q, \
                               float* scales, int32_t* sums);                                 \
  void nbits_product_##suffix(const NBitsWeights& w, const NBitsRows& x, size_t rows,         \
                              size_t panel, float* y);                                        \
  void nbits_float_product_##suffix(const NBitsWeights& w, const float* x, size_t rows,       \
                                    size_t panel, float* y);
#include "kernels/nbits/nbits.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_NBITS_ENTRY_H_
