// SPDX-License-Identifier: Apache-2.0
// The table of narrow kernels.
#include "kernels/narrow/narrow.h"

namespace qrt {

#define QRT_NARROW(isa, handles, name)                  \
  bool handles(const Requant& requant, size_t outputs); \
  void name(const NarrowArgs& args);
#include "kernels/narrow/narrow.inc"

namespace {

// Ends with a row of no kernel: an array cannot be empty.
#define QRT_NARROW(isa, handles, name) {#name, isa, handles, name},
constexpr NarrowKernel kKernels[] = {
#include "kernels/narrow/narrow.inc"
    {nullptr, Isa::kScalar, nullptr, nullptr}};

}  // namespace

const NarrowKernel* narrow_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]) - 1;
  return kKernels;
}

const NarrowKernel* select_narrow(IsaSet isas) {
  const NarrowKernel* row = kKernels;
  while (row->fn != nullptr && !has(isas, row->isa)) ++row;
  return row->fn != nullptr ? row : nullptr;
}

}  // namespace qrt
