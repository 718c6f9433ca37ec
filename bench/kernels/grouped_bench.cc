// SPDX-License-Identifier: Apache-2.0
// Rows of grouped.inc on the grouped layers of bench/shapes.
#include "bench/kernels/image_bench.h"

namespace qrt::bench {
namespace {

int register_all() {
  size_t count;
  const GroupedKernel* const kernels = grouped_kernels(&count);
  return register_image_kernels<GroupedProblem>(
      kernels, count, [](const GroupedKernel& kernel, const Layer& layer) {
        return layer.kind == Layer::Kind::kGrouped && kernel.group == layer.group;
      });
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
