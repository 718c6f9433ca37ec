// The table of the lut family and the choice from it: the first row the CPU can run.
#include "kernels/lut/entry.h"

namespace qrt {
namespace {

constexpr LutKernel kKernels[] = {
#define QRT_LUT(isa, suffix, map, map_channels, map_pairs) \
  {"lut_u8_" #suffix, Isa::isa, map, map_channels, map_pairs},
#include "kernels/lut/lut.inc"
};

}  // namespace

const LutKernel* lut_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]);
  return kKernels;
}

const LutKernel* select_lut(IsaSet isas) {
  const LutKernel* k = kKernels;
  while (k->isa != Isa::kScalar && !has(isas, k->isa)) ++k;
  return k;
}

}  // namespace qrt
