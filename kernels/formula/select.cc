// SPDX-License-Identifier: Apache-2.0
// The table of the formula family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/formula/entry.h"

namespace qrt {
namespace {

constexpr FormulaKernel kKernels[] = {
#define QRT_FORMULA(isa, suffix) {"formula_" #suffix, Isa::isa, formula_##suffix},
#include "kernels/formula/formula.inc"
};

}  // namespace

const FormulaKernel* formula_kernels(size_t* count) { return all_rows(kKernels, count); }

const FormulaKernel* select_formula(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
