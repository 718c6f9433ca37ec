// SPDX-License-Identifier: Apache-2.0
// The table of Winograd kernels.
#include "kernels/winograd/winograd.h"

namespace qrt {

#define QRT_WINOGRAD(isa, kernel_h, gain, transform_in, transform_out, tile_rows, weight_lanes, \
                     signed_pixels, name)                                                       \
  void name(const WinogradArgs& args);
#include "kernels/winograd/winograd.inc"

namespace {

// Ends with a row of no kernel: an array cannot be empty.
#define QRT_WINOGRAD(isa, kernel_h, gain, transform_in, transform_out, tile_rows, weight_lanes, \
                     signed_pixels, name)                                                       \
  {#name,         isa,       kernel_h,     gain,          transform_in,                         \
   transform_out, tile_rows, weight_lanes, signed_pixels, name},
constexpr WinogradKernel kKernels[] = {
#include "kernels/winograd/winograd.inc"
    {nullptr, Isa::kScalar, 0, 0, 0, 0, 0, 0, false, nullptr}};

}  // namespace

const WinogradKernel* winograd_kernels(size_t* count) {
  *count = sizeof(kKernels) / sizeof(kKernels[0]) - 1;
  return kKernels;
}

const WinogradKernel* find_winograd(Isa isa, size_t kernel_h) {
  const WinogradKernel* row = kKernels;
  while (row->fn != nullptr && (row->isa != isa || row->kernel_h != kernel_h)) ++row;
  return row->fn != nullptr ? row : nullptr;
}

}  // namespace qrt
