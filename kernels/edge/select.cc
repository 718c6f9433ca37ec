// The table of the edge family and the choice from it: the first row the CPU can run.
#include "kernels/select.h"

#include "kernels/edge/entry.h"

namespace qrt {
namespace {

constexpr EdgeKernel kKernels[] = {
#define QRT_EDGE(isa, suffix)         \
  {"edge_f32_" #suffix,               \
   Isa::isa,                          \
   edge_quantize_##suffix,            \
   edge_quantize_away_##suffix,       \
   edge_quantize_channels_##suffix,   \
   edge_dequantize_##suffix,          \
   edge_dequantize_channels_##suffix, \
   edge_dequantize_i32_##suffix,      \
   edge_quantize16_##suffix,          \
   edge_quantize16_away_##suffix,     \
   edge_dequantize16_##suffix,        \
   edge_encode_##suffix,              \
   edge_quantize_half_##suffix,       \
   edge_dequantize_half_##suffix,     \
   edge_widen_half_##suffix,          \
   edge_narrow_half_##suffix,         \
   edge_extremes_##suffix},
#include "kernels/edge/edge.inc"
};

}  // namespace

const EdgeKernel* edge_kernels(size_t* count) { return all_rows(kKernels, count); }
const EdgeKernel* select_edge(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
