// The common last step of every gemm kernel for the requantisations it has no vector form of:
// accumulators that were written to memory become outputs, by the normative definition. A function
// of the baseline instruction set, so that kernel files need not instantiate requant.h.
#ifndef QRT_KERNELS_GEMM_STORE_H_
#define QRT_KERNELS_GEMM_STORE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// acc: m rows of n accumulators, acc_stride elements apart; their channels start at `channel` of
// `requant`. c: first output; rows c_stride bytes apart, uint8, or int32 with RequantKind::kAcc,
// or float32 with kFloat.
void gemm_store_tile(const Requant& requant, size_t channel, const int32_t* acc, size_t acc_stride,
                     size_t m, size_t n, void* c, size_t c_stride);

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_STORE_H_
