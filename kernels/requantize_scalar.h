// SPDX-License-Identifier: Apache-2.0
// Requantisation of a tile of accumulators in memory by the normative definition, for what a kernel
// has no vector form of. A function of the baseline instruction set, so that kernel files need not
// instantiate requant.h.
#ifndef QRT_KERNELS_REQUANTIZE_SCALAR_H_
#define QRT_KERNELS_REQUANTIZE_SCALAR_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// Requantises m rows of n accumulators, acc_stride elements apart; their channels start at
// `channel` of `requant`. c: first output; its rows are c_stride bytes apart, uint8, or int32 with
// RequantKind::kAcc, float32 with kFloat.
void requantize_scalar(const Requant& requant, size_t channel, const int32_t* acc,
                       size_t acc_stride, size_t m, size_t n, void* c, size_t c_stride);

}  // namespace qrt

#endif  // QRT_KERNELS_REQUANTIZE_SCALAR_H_
