// The table of the wide family and the choice from it: the first row the CPU can run.
#include "kernels/wide/entry.h"

namespace qrt {
namespace {

constexpr WideKernel kKernels[] = {
#define QRT_WIDE(isa, suffix)                                                              \
  {"wide_s16_" #suffix,     Isa::isa,          wide_split_##suffix, wide_combine_##suffix, \
   wide_depthwise_##suffix, wide_add_##suffix, wide_mul_##suffix,   wide_rescale_##suffix},
#include "kernels/wide/wide.inc"
};

}  // namespace

const WideKernel* wide_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]);
  return kKernels;
}

const WideKernel* select_wide(IsaSet isas) {
  const WideKernel* k = kKernels;
  while (k->isa != Isa::kScalar && !has(isas, k->isa)) ++k;
  return k;
}

}  // namespace qrt
