// The table of depthwise_int16.h and the choice from it: the first row the CPU can run.
#include "kernels/depthwise/int16_entry.h"

namespace qrt {
namespace {

constexpr DepthwiseInt16Kernel kKernels[] = {
#define QRT_DEPTHWISE_INT16(isa, suffix) \
  {"depthwise_s16s8_" #suffix, Isa::isa, depthwise_int16_##suffix},
#include "kernels/depthwise/depthwise_int16.inc"
};

}  // namespace

const DepthwiseInt16Kernel* depthwise_int16_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]);
  return kKernels;
}

const DepthwiseInt16Kernel* select_depthwise_int16(IsaSet isas) {
  const DepthwiseInt16Kernel* k = kKernels;
  while (k->isa != Isa::kScalar && !has(isas, k->isa)) ++k;
  return k;
}

}  // namespace qrt
