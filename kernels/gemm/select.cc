// The table of gemm kernels and the choice among them.
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

}  // namespace

const GemmKernel* gemm_kernels(size_t* count) {
  *count = kCount;
  return kKernels;
}

const GemmKernel* select_gemm(IsaSet isas, const GemmShape& shape) {
  for (const GemmKernel& kernel : kKernels) {
    if (has(isas, kernel.isa) && (shape.pair_safe || !kernel.pair_safe_only)) return &kernel;
  }
  return &kKernels[kCount - 1];
}

}  // namespace qrt
