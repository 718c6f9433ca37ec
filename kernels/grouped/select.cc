// SPDX-License-Identifier: Apache-2.0
// The table of grouped kernels.
#include "kernels/grouped/grouped.h"

namespace qrt {

#define QRT_GROUPED(isa, group, layout, name) void name(const GroupedArgs& args);
#include "kernels/grouped/grouped.inc"

namespace {

// Ends with a row of no kernel: an array cannot be empty.
#define QRT_GROUPED(isa, group, layout, name) {#name, isa, group, layout, name},
constexpr GroupedKernel kKernels[] = {
#include "kernels/grouped/grouped.inc"
    {nullptr, Isa::kScalar, 0, kGroupedBytes256, nullptr}};

}  // namespace

const GroupedKernel* grouped_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]) - 1;
  return kKernels;
}

const GroupedKernel* select_grouped(IsaSet isas, size_t group) {
  const GroupedKernel* row = kKernels;
  while (row->fn != nullptr && (!has(isas, row->isa) || row->group != group)) ++row;
  return row->fn != nullptr ? row : nullptr;
}

}  // namespace qrt
