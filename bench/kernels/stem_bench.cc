// SPDX-License-Identifier: Apache-2.0
// Rows of stem.inc on the convolutions of few inputs of bench/shapes.
#include "bench/kernels/image_bench.h"

namespace qrt::bench {
namespace {

int register_all() {
  size_t count;
  const StemKernel* const kernels = stem_kernels(&count);
  return register_image_kernels<StemProblem>(
      kernels, count,
      [](const StemKernel&, const Layer& layer) { return StemProblem::takes(layer); });
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
