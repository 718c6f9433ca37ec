// SPDX-License-Identifier: Apache-2.0
// Entry points of the compare family's files. Only for this folder: others take a row from compare.h.
#ifndef QRT_KERNELS_COMPARE_ENTRY_H_
#define QRT_KERNELS_COMPARE_ENTRY_H_

#include "kernels/compare/compare.h"

namespace qrt {

#define QRT_COMPARE(isa, suffix)                             \
  void minimum_##suffix(DType dtype, const BinaryArgs& run); \
  void maximum_##suffix(DType dtype, const BinaryArgs& run);
#include "kernels/compare/compare.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_COMPARE_ENTRY_H_
