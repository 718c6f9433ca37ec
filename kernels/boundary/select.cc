// The table of the boundary family and the choice from it: the first row the CPU can run.
#include "kernels/boundary/entry.h"

namespace qrt {
namespace {

constexpr BoundaryKernel kKernels[] = {
#define QRT_BOUNDARY(isa, suffix)         \
  {"boundary_f32_" #suffix,               \
   Isa::isa,                              \
   boundary_quantize_##suffix,            \
   boundary_quantize_away_##suffix,       \
   boundary_quantize_channels_##suffix,   \
   boundary_dequantize_##suffix,          \
   boundary_dequantize_channels_##suffix, \
   boundary_dequantize_i32_##suffix,      \
   boundary_quantize16_##suffix,          \
   boundary_quantize16_away_##suffix,     \
   boundary_dequantize16_##suffix,        \
   boundary_encode_##suffix,              \
   boundary_quantize_half_##suffix,       \
   boundary_dequantize_half_##suffix,     \
   boundary_widen_half_##suffix,          \
   boundary_narrow_half_##suffix,         \
   boundary_extremes_##suffix},
#include "kernels/boundary/boundary.inc"
};

}  // namespace

const BoundaryKernel* boundary_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]);
  return kKernels;
}

const BoundaryKernel* select_boundary(IsaSet isas) {
  const BoundaryKernel* k = kKernels;
  while (k->isa != Isa::kScalar && !has(isas, k->isa)) ++k;
  return k;
}

}  // namespace qrt
