// SPDX-License-Identifier: Apache-2.0
// Registers rows of a kernel family on the layers of bench/shapes that they take.
#ifndef QRT_BENCH_KERNELS_IMAGE_BENCH_H_
#define QRT_BENCH_KERNELS_IMAGE_BENCH_H_

#include <string>
#include <vector>

#include "bench/kernels/image_problems.h"

namespace qrt::bench {

// takes(kernel, layer); Problem: made of a layer and a kernel.
template <class Problem, class Kernel, class Takes>
int register_image_kernels(const Kernel* kernels, size_t count, const Takes& takes) {
  static const std::vector<Layer> layers = read_layers();
  for (size_t i = 0; i < count; ++i) {
    const Kernel& kernel = kernels[i];
    if (!has(detected_isas(), kernel.isa)) {
      register_skipped(kernel.name);
      continue;
    }
    for (const Layer& layer : layers) {
      if (!takes(kernel, layer)) continue;
      const auto run = [&kernel, &layer](benchmark::State& state) {
        const Problem problem(layer, kernel);
        measure(state, problem.work(), [&] {
          problem.run();
          benchmark::ClobberMemory();
        });
      };
      register_measured(std::string(kernel.name) + "/" + layer.name, run);
    }
  }
  return 0;
}

}  // namespace qrt::bench

#endif  // QRT_BENCH_KERNELS_IMAGE_BENCH_H_
