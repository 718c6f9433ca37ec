// SPDX-License-Identifier: Apache-2.0
// Rows of winograd.inc on the 3x3 convolutions of stride 1 of bench/shapes.
#include "bench/kernels/image_bench.h"

namespace qrt::bench {
namespace {

int register_all() {
  size_t count;
  const WinogradKernel* const kernels = winograd_kernels(&count);
  return register_image_kernels<WinogradProblem>(
      kernels, count, [](const WinogradKernel& kernel, const Layer& layer) {
        return kernel.kernel_h == 3 && WinogradProblem::takes(layer);
      });
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
