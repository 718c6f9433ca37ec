// SPDX-License-Identifier: Apache-2.0
// The table of gemm kernels and the choice among them.
#include "kernels/select.h"

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"

namespace qrt {
namespace {

#define QRT_GEMM(isa, name, mr, nr, signed_lhs, pair_safe_only) \
  {#name, isa, mr, nr, signed_lhs, pair_safe_only, name},
constexpr GemmKernel kKernels[] = {
#include "kernels/gemm/gemm.inc"
};

constexpr size_t kCount = sizeof(kKernels) / sizeof(kKernels[0]);

// Tiles take 16 rows and 64 k at a time, whether there are so many or not, and a call pays some
// 100 ns for their configuration; VNNI is faster at less. Measured on Sapphire Rapids
// (bench/kernels/gemm_bench.cc).
bool suits_tiles(const GemmShape& shape) {
  const size_t k = shape.taps * shape.kc;
  const bool is_small = shape.m < 64 && k < 256;  // 49 x 160 x 960: two thirds of VNNI's speed
  return shape.m >= 16 && shape.n >= 32 && k >= 64 && !is_small &&
         (shape.taps == 1 || shape.kc >= 32);
}

}  // namespace

const GemmKernel* gemm_kernels(size_t* count) { return all_rows(kKernels, count); }

const GemmKernel* select_gemm(IsaSet isas, const GemmShape& shape) {
  for (const GemmKernel& kernel : kKernels) {
    if (!has(isas, kernel.isa) || (kernel.pair_safe_only && !shape.pair_safe)) continue;
    if (kernel.isa == Isa::kAmx && !suits_tiles(shape)) continue;
    return &kernel;
  }
  return &kKernels[kCount - 1];
}

}  // namespace qrt
