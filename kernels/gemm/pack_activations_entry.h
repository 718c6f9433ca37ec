// SPDX-License-Identifier: Apache-2.0
// Entry points of pack_activations_<isa>.cc, one for each row of pack_activations.inc. For kernel files:
// others take a row from pack_activations.h.
#ifndef QRT_KERNELS_GEMM_PACK_ACTIVATIONS_ENTRY_H_
#define QRT_KERNELS_GEMM_PACK_ACTIVATIONS_ENTRY_H_

#include "kernels/gemm/pack_activations.h"

namespace qrt {

#define QRT_PACK_ACTIVATIONS(isa, suffix) \
  void pack_activations_##suffix(const ActivationPack& pack, size_t begin, size_t end);
#include "kernels/gemm/pack_activations.inc"

}  // namespace qrt

#endif  // QRT_KERNELS_GEMM_PACK_ACTIVATIONS_ENTRY_H_
