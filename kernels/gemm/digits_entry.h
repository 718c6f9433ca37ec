// SPDX-License-Identifier: Apache-2.0
// Entry points of digits_<isa>.cc, two for each row of digits.inc. For kernel files: others take a
// row from digits.h.
#ifndef QRT_KERNELS_GEMM_DIGITS_ENTRY_H_
#define QRT_KERNELS_GEMM_DIGITS_ENTRY_H_

#include "kernels/gemm/digits.h"

namespace qrt {

#define QRT_DIGITS(isa, suffix)                                                        \
  void digits_split_##suffix(const int16_t* x, size_t n, uint8_t* high, uint8_t* low); \
  void digits_combine_##suffix(const CombineArgs& args);
#include "kernels/gemm/digits.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_DIGITS_ENTRY_H_
