// SPDX-License-Identifier: Apache-2.0
// Requantisation of sums by the normative definition, for the kinds a pool kernel has no vector
// form of. Compiled once, for the baseline.
#ifndef QRT_KERNELS_POOL_REQUANTIZE_SUMS_H_
#define QRT_KERNELS_POOL_REQUANTIZE_SUMS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// Computes y[i] = requantize(requant, sums[i], 0).
void requantize_sums(const Requant& requant, const int32_t* sums, uint8_t* y, size_t n);

}  // namespace qrt

#endif  // QRT_KERNELS_POOL_REQUANTIZE_SUMS_H_
