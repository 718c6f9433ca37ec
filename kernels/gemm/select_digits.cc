// SPDX-License-Identifier: Apache-2.0
// The table of digits.h and the choice from it: the first row the CPU can run.
#include "kernels/gemm/digits_entry.h"
#include "kernels/select.h"

namespace qrt {
namespace {

constexpr DigitsKernel kKernels[] = {
#define QRT_DIGITS(isa, suffix) \
  {"digits_s16_" #suffix, Isa::isa, digits_split_##suffix, digits_combine_##suffix},
#include "kernels/gemm/digits.inc"
};

}  // namespace

const DigitsKernel* digits_kernels(size_t* count) { return all_rows(kKernels, count); }
const DigitsKernel* select_digits(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
