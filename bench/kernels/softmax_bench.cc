// SPDX-License-Identifier: Apache-2.0
// softmax_rows() on classifiers and attention rows, and by bounds where there is a kernel: rows of
// values in a third of the range, as attention has them, and in all of it. Bytes are those read and
// written.
#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/softmax/softmax_bounds.h"

namespace qrt {
namespace {

// Measures Softmax. Arguments: rows, elements of a row, greatest value. Without a kernel, rows are
// summed in order.
void softmax(benchmark::State& state, const SoftmaxBoundsKernel& kernel) {
  const size_t rows = static_cast<size_t>(state.range(0));
  const size_t n = static_cast<size_t>(state.range(1));
  const size_t values = static_cast<size_t>(state.range(2)) + 1;
  std::vector<uint8_t> x(rows * n + 64), y(rows * n);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<uint8_t>((i * 2654435761u >> 13) % values);
  std::vector<float> table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<float>(i * i + 1);
  const SoftmaxParams params{table.data(), 256.0f, 0};
  const EdgeKernel& edge = *select_edge(detected_isas());
  const LutKernel& lut = *select_lut(detected_isas());
  SoftmaxBounds bounds;
  if (kernel.rows != nullptr)
    plan_softmax_bounds(capped(detected_isas(), kernel.isa), params, n, &bounds);
  bench::measure(state, {0, static_cast<double>(2 * rows * n), nullptr}, [&] {
    if (kernel.rows != nullptr)
      softmax_rows_by_bounds(kernel, bounds, params, edge, lut, x.data(), y.data(), rows, n);
    else
      softmax_rows(params, edge, lut, x.data(), y.data(), rows, n);
    benchmark::ClobberMemory();
  });
}

int register_all() {
  size_t count;
  const SoftmaxBoundsKernel* kernels = softmax_bounds_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    if (kernels[i].rows != nullptr && !has(detected_isas(), kernels[i].isa)) continue;
    bench::register_measured(kernels[i].rows != nullptr ? kernels[i].name : "softmax_u8", softmax,
                             kernels[i])
        ->Args({1, 10, 255})
        ->Args({1, 1000, 255})
        ->Args({2364, 197, 80})
        ->Args({2364, 197, 255});
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
