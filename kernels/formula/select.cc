// The table of the formula family and the choice from it: the first row the CPU can run.
#include "kernels/formula/entry.h"

namespace qrt {
namespace {

constexpr FormulaKernel kKernels[] = {
#define QRT_FORMULA(isa, suffix) {"formula_" #suffix, Isa::isa, formula_##suffix},
#include "kernels/formula/formula.inc"
};

}  // namespace

const FormulaKernel* formula_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]);
  return kKernels;
}

const FormulaKernel* select_formula(IsaSet isas) {
  const FormulaKernel* k = kKernels;
  while (k->isa != Isa::kScalar && !has(isas, k->isa)) ++k;
  return k;
}

}  // namespace qrt
