// SPDX-License-Identifier: Apache-2.0
// The table of the edge family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/built.h"
#include "kernels/edge/entry.h"

namespace qrt {
namespace {

constexpr EdgeKernel kKernels[] = {
#define QRT_EDGE(isa, suffix)                                     \
  {"edge_f32_" #suffix,                                           \
   Isa::isa,                                                      \
   edge_quantize_##suffix,                                        \
   edge_quantize_away_##suffix,                                   \
   edge_quantize_channels_##suffix,                               \
   edge_dequantize_##suffix,                                      \
   edge_dequantize_channels_##suffix,                             \
   edge_dequantize_i32_##suffix,                                  \
   built::kInt16 ? edge_quantize16_##suffix : nullptr,            \
   built::kInt16 ? edge_quantize16_away_##suffix : nullptr,       \
   built::kInt16 ? edge_dequantize16_##suffix : nullptr,          \
   built::kSmallFloats ? edge_encode_##suffix : nullptr,          \
   built::kSmallFloats ? edge_quantize_half_##suffix : nullptr,   \
   built::kSmallFloats ? edge_dequantize_half_##suffix : nullptr, \
   built::kSmallFloats ? edge_widen_half_##suffix : nullptr,      \
   built::kSmallFloats ? edge_narrow_half_##suffix : nullptr,     \
   built::kDynamicQuantize ? edge_extremes_##suffix : nullptr,    \
   built::kDynamicQuantize ? edge_quantize_by_##suffix : nullptr, \
   built::kDynamicLayers ? edge_store_sums_##suffix : nullptr},
#include "kernels/edge/edge.inc"
};

}  // namespace

const EdgeKernel* edge_kernels(size_t* count) { return all_rows(kKernels, count); }
const EdgeKernel* select_edge(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
