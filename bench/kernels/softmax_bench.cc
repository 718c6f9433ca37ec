// softmax_rows() on classifiers and attention rows. Bytes are those read and written.
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/softmax/softmax.h"

namespace qrt {
namespace {

// Arguments: rows, elements of a row.
void softmax(benchmark::State& state) {
  const size_t rows = static_cast<size_t>(state.range(0));
  const size_t n = static_cast<size_t>(state.range(1));
  std::vector<uint8_t> x(rows * n), y(rows * n);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  std::vector<float> table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<float>(i * i + 1);
  const SoftmaxParams params{table.data(), 256.0f, 0};
  bench::measure(state, {0, static_cast<double>(2 * rows * n), nullptr}, [&] {
    softmax_rows(params, *select_edge(detected_isas()), *select_lut(detected_isas()), x.data(),
                 y.data(), rows, n);
    benchmark::ClobberMemory();
  });
}

int register_all() {
  bench::register_measured("softmax", softmax)->Args({1, 10})->Args({1, 1000})->Args({2364, 197});
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
