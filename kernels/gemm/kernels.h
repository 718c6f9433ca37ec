// SPDX-License-Identifier: Apache-2.0
// Declarations of the entry points listed in gemm.inc; each is defined in its gemm_<isa>.cc.
#ifndef QRT_KERNELS_GEMM_KERNELS_H_
#define QRT_KERNELS_GEMM_KERNELS_H_

#include "kernels/gemm/gemm.h"

namespace qrt {

#define QRT_GEMM(isa, name, mr, nr, signed_lhs, pair_safe_only) void name(const GemmArgs& args);
#include "kernels/gemm/gemm.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_KERNELS_H_
