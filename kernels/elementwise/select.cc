// SPDX-License-Identifier: Apache-2.0
// The table of the elementwise family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/built.h"
#include "kernels/elementwise/entry.h"

namespace qrt {
namespace {

constexpr ElementwiseKernel kKernels[] = {
#define QRT_ELEMENTWISE(isa, suffix)                                        \
  {"elementwise_u8_" #suffix,                                               \
   "elementwise_s16_" #suffix,                                              \
   Isa::isa,                                                                \
   built::kAdd ? elementwise_add_##suffix : nullptr,                        \
   built::kAdd ? elementwise_add_int_##suffix : nullptr,                    \
   built::kMul ? elementwise_mul_##suffix : nullptr,                        \
   built::kAdd && built::kInt16 ? elementwise_add_int16_##suffix : nullptr, \
   built::kMul && built::kInt16 ? elementwise_mul_int16_##suffix : nullptr, \
   built::kRequantize ? elementwise_rescale_##suffix : nullptr},
#include "kernels/elementwise/elementwise.inc"
};

}  // namespace

const ElementwiseKernel* elementwise_kernels(size_t* count) { return all_rows(kKernels, count); }
const ElementwiseKernel* select_elementwise(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
