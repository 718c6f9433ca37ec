// SPDX-License-Identifier: Apache-2.0
// Rows of gemm.inc on the convolutions and products of bench/shapes. Bytes are those of the input,
// the packed weights and the output.
#include <string>
#include <vector>

#include "bench/kernels/problems.h"

namespace qrt::bench {
namespace {

void run_layer(benchmark::State& state, const Layer& layer, const GemmKernel& kernel) {
  const GemmProblem problem(layer, kernel);
  measure(state, problem.work(), [&] {
    problem.run();
    benchmark::ClobberMemory();
  });
}

int register_all() {
  const std::vector<Layer> layers = read_layers();
  size_t count;
  const GemmKernel* kernels = gemm_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const GemmKernel& kernel = kernels[i];
    if (!has(detected_isas(), kernel.isa)) {
      register_skipped(kernel.name);
      continue;
    }
    for (const Layer& layer : layers) {
      if (!layer.is_gemm()) continue;
      // The scalar kernel would take minutes for all of them.
      if (kernel.isa == Isa::kScalar && layer.macs() > 2e7) continue;
      register_measured(std::string(kernel.name) + "/" + layer.name, run_layer, layer, kernel);
    }
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
