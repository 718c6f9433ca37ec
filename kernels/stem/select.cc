// SPDX-License-Identifier: Apache-2.0
// The table of stem kernels.
#include "kernels/stem/stem.h"

namespace qrt {

#define QRT_STEM(isa, handles, name)                    \
  bool handles(const Requant& requant, size_t outputs); \
  void name(const StemArgs& args);
#include "kernels/stem/stem.inc"

namespace {

// Ends with a row of no kernel: an array cannot be empty.
#define QRT_STEM(isa, handles, name) {#name, isa, handles, name},
constexpr StemKernel kKernels[] = {
#include "kernels/stem/stem.inc"
    {nullptr, Isa::kScalar, nullptr, nullptr}};

}  // namespace

const StemKernel* stem_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]) - 1;
  return kKernels;
}

const StemKernel* select_stem(IsaSet isas) {
  const StemKernel* row = kKernels;
  while (row->fn != nullptr && !has(isas, row->isa)) ++row;
  return row->fn != nullptr ? row : nullptr;
}

}  // namespace qrt
