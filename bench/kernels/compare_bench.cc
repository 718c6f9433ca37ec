// SPDX-License-Identifier: Apache-2.0
// Rows of compare.inc: minima of two tensors, inside L1, inside L2 and beyond the caches. Bytes are
// those read and written.
#include <string>

#include "bench/kernels/measure.h"
#include "kernels/compare/compare.h"

namespace qrt {
namespace {

void minimum(benchmark::State& state, const MinMaxKernel& kernel, DType element, size_t bytes) {
  const size_t n = static_cast<size_t>(state.range(0)) / bytes;
  const bench::Buffer a(n * bytes), b(n * bytes), y(n * bytes);
  bench::fill(a.data(), n * bytes);
  bench::fill(b.data(), n * bytes);
  bench::measure(state, {0, static_cast<double>(3 * n * bytes), nullptr}, [&] {
    kernel.minimum(element, {a.data(), b.data(), false, false, y.data(), n});
    benchmark::ClobberMemory();
  });
}

int register_all() {
  size_t count;
  const MinMaxKernel* rows = min_max_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const MinMaxKernel& kernel = rows[i];
    const std::string name = kernel.minimum_name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    for (const auto& [type, element, bytes] :
         {std::tuple("/u8", DType::kUInt8, size_t{1}), std::tuple("/i16", DType::kInt16, size_t{2}),
          std::tuple("/i32", DType::kInt32, size_t{4})})
      bench::register_measured(name + type, minimum, kernel, element, bytes)
          ->Arg(8192)
          ->Arg(200704)
          ->Arg(1 << 25);
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
