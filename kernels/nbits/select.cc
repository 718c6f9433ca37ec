// SPDX-License-Identifier: Apache-2.0
// The table of the family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/nbits/entry.h"

namespace qrt {
namespace {

constexpr NBitsKernel kKernels[] = {
#define QRT_NBITS(isa, suffix)                                         \
  {"nbits_product_" #suffix, "nbits_float_product_" #suffix, Isa::isa, \
   nbits_quantize_##suffix,  nbits_product_##suffix,         nbits_float_product_##suffix},
#include "kernels/nbits/nbits.inc"
};

}  // namespace

const NBitsKernel* nbits_kernels(size_t* count) { return all_rows(kKernels, count); }
const NBitsKernel* select_nbits(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
