// SPDX-License-Identifier: Apache-2.0
// Rows of narrow.inc on the convolutions of few outputs of bench/shapes.
#include "bench/kernels/image_bench.h"

namespace qrt::bench {
namespace {

int register_all() {
  size_t count;
  const NarrowKernel* const kernels = narrow_kernels(&count);
  return register_image_kernels<NarrowProblem>(
      kernels, count,
      [](const NarrowKernel&, const Layer& layer) { return NarrowProblem::takes(layer); });
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
