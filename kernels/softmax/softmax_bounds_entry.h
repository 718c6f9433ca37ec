// SPDX-License-Identifier: Apache-2.0
// Entry points of softmax_<isa>.cc. Only for this folder: others take a row from softmax_bounds.h.
#ifndef QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_ENTRY_H_
#define QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_ENTRY_H_

#include "kernels/softmax/softmax_bounds.h"

namespace qrt {

#define QRT_SOFTMAX_BOUNDS(isa, suffix)                                                       \
  uint32_t softmax_bounds_##suffix(const SoftmaxBounds& bounds, const uint8_t* x, uint8_t* y, \
                                   size_t rows, size_t n);
#include "kernels/softmax/softmax_bounds.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_SOFTMAX_SOFTMAX_BOUNDS_ENTRY_H_
