// SPDX-License-Identifier: Apache-2.0
// The table of lines.h and the choice from it: the first row the CPU can run.
#include "kernels/lut/lines_entry.h"
#include "kernels/select.h"

namespace qrt {
namespace {

constexpr LinesKernel kKernels[] = {
#define QRT_LINES(isa, suffix)                 \
  {"lines_u8_" #suffix,    Isa::isa,           \
   lines_bytes_##suffix,   lines_map_##suffix, \
   lines_map_two_##suffix, lines_map_signed_##suffix},
#include "kernels/lut/lines.inc"
    {nullptr, Isa::kScalar, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

const LinesKernel* lines_kernels(size_t* count) { return all_rows(kKernels, count); }
const LinesKernel* select_lines(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
