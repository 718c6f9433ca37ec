// SPDX-License-Identifier: Apache-2.0
// The table of the lut family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/lut/entry.h"

namespace qrt {
namespace {

constexpr LutKernel kKernels[] = {
#define QRT_LUT(isa, suffix, map, map_pairs) {"lut_u8_" #suffix, Isa::isa, map, map_pairs},
#include "kernels/lut/lut.inc"
};

}  // namespace

const LutKernel* lut_kernels(size_t* count) { return all_rows(kKernels, count); }
const LutKernel* select_lut(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
