// SPDX-License-Identifier: Apache-2.0
// The table of depthwise_int16.h and the choice from it: the first row the CPU can run.
#include "kernels/depthwise/int16_entry.h"
#include "kernels/select.h"

namespace qrt {
namespace {

constexpr DepthwiseInt16Kernel kKernels[] = {
#define QRT_DEPTHWISE_INT16(isa, suffix) \
  {"depthwise_s16s8_" #suffix, Isa::isa, depthwise_int16_##suffix},
#include "kernels/depthwise/depthwise_int16.inc"
};

}  // namespace

const DepthwiseInt16Kernel* depthwise_int16_kernels(size_t* count) {
  return all_rows(kKernels, count);
}
const DepthwiseInt16Kernel* select_depthwise_int16(IsaSet isas) {
  return first_row(kKernels, isas);
}

}  // namespace qrt
