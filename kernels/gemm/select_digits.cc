// The table of digits.h and the choice from it: the first row the CPU can run.
#include "kernels/gemm/digits_entry.h"

namespace qrt {
namespace {

constexpr DigitsKernel kKernels[] = {
#define QRT_DIGITS(isa, suffix) \
  {"digits_s16_" #suffix, Isa::isa, digits_split_##suffix, digits_combine_##suffix},
#include "kernels/gemm/digits.inc"
};

}  // namespace

const DigitsKernel* digits_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]);
  return kKernels;
}

const DigitsKernel* select_digits(IsaSet isas) {
  const DigitsKernel* k = kKernels;
  while (k->isa != Isa::kScalar && !has(isas, k->isa)) ++k;
  return k;
}

}  // namespace qrt
