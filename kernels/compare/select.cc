// SPDX-License-Identifier: Apache-2.0
// The table of the compare family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/compare/entry.h"

namespace qrt {
namespace {

constexpr MinMaxKernel kKernels[] = {
#define QRT_COMPARE(isa, suffix) \
  {"min_" #suffix, "max_" #suffix, Isa::isa, minimum_##suffix, maximum_##suffix},
#include "kernels/compare/compare.inc"
};

}  // namespace

const MinMaxKernel* min_max_kernels(size_t* count) { return all_rows(kKernels, count); }
const MinMaxKernel* select_min_max(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
