// SPDX-License-Identifier: Apache-2.0
// The table of depthwise kernels, and the choice from it.
#include "kernels/select.h"

#include "kernels/depthwise/depthwise.h"
#include "kernels/depthwise/plan.h"

namespace qrt {

#define QRT_DEPTHWISE(isa, name, signed_lhs, tile) void depthwise_u8s8_##name(const DepthwiseArgs&);
#include "kernels/depthwise/depthwise.inc"

namespace {

template <const DepthwiseTile& kTile>
bool supports(const DepthwiseShape& shape) {
  return depthwise_tile_supports(kTile, shape);
}

template <const DepthwiseTile& kTile>
size_t scratch_bytes(const DepthwiseShape& shape) {
  return kTile.lanes == 0 ? 0 : depthwise_plan(kTile, shape).scratch_bytes;
}

constexpr DepthwiseKernel kKernels[] = {
#define QRT_DEPTHWISE(isa, name, signed_lhs, tile)                                     \
  {"depthwise_u8s8_" #name, Isa::isa, signed_lhs, supports<tile>, scratch_bytes<tile>, \
   depthwise_u8s8_##name},
#include "kernels/depthwise/depthwise.inc"
};

constexpr size_t kCount = sizeof(kKernels) / sizeof(kKernels[0]);

}  // namespace

const DepthwiseKernel* depthwise_kernels(size_t* count) { return all_rows(kKernels, count); }

const DepthwiseKernel* select_depthwise(IsaSet isas, const DepthwiseShape& shape) {
  for (const DepthwiseKernel& k : kKernels)
    if (has(isas, k.isa) && k.supports(shape)) return &k;
  return &kKernels[kCount - 1];
}

}  // namespace qrt
