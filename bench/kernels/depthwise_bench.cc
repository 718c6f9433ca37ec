// SPDX-License-Identifier: Apache-2.0
// Rows of depthwise.inc on the depthwise layers of bench/shapes. Bytes are those of the input, the
// packed weights and the output.
#include <string>
#include <vector>

#include "bench/kernels/problems.h"

namespace qrt::bench {
namespace {

void run_layer(benchmark::State& state, const Layer& layer, const DepthwiseKernel& kernel) {
  const DepthwiseProblem problem(layer, kernel);
  measure(state, problem.work(), [&] {
    problem.run();
    benchmark::ClobberMemory();
  });
}

int register_all() {
  const std::vector<Layer> layers = read_layers();
  size_t count;
  const DepthwiseKernel* kernels = depthwise_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const DepthwiseKernel& kernel = kernels[i];
    if (!has(detected_isas(), kernel.isa)) {
      register_skipped(kernel.name);
      continue;
    }
    for (const Layer& layer : layers) {
      if (layer.kind != Layer::Kind::kDepthwise || !kernel.supports(depthwise_shape(layer)))
        continue;
      register_measured(std::string(kernel.name) + "/" + layer.name, run_layer, layer, kernel);
    }
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
