// SPDX-License-Identifier: Apache-2.0
// The table of searches for affine fits.
#include "kernels/affine/affine.h"

namespace qrt {

#define QRT_AFFINE(isa, name) \
  uint32_t name(const AffineBlock& block, float* slope, float* intercept);
#include "kernels/affine/affine.inc"

const AffineKernel* affine_kernels(size_t* count) {
// Ends with a row of no kernel: an array cannot be empty.
#define QRT_AFFINE(isa, name) {#name, isa, name},
  static constexpr AffineKernel kKernels[] = {
#include "kernels/affine/affine.inc"
      {nullptr, Isa::kScalar, nullptr}};
  *count = sizeof(kKernels) / sizeof(kKernels[0]) - 1;
  return kKernels;
}

}  // namespace qrt
