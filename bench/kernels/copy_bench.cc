// SPDX-License-Identifier: Apache-2.0
// Rows of copy.inc: transpositions of usual networks. Bytes are those read and written.
#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/copy/copy.h"

namespace qrt {
namespace {

struct Case {
  const char* name;
  std::vector<int64_t> dims;
  std::vector<uint8_t> perm;
  size_t element_bytes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"rgb_to_nhwc", {1, 3, 224, 224}, {0, 2, 3, 1}, 1},
      {"rgb_to_nchw", {1, 224, 224, 3}, {0, 3, 1, 2}, 1},
      {"c4_to_nhwc", {1, 4, 224, 224}, {0, 2, 3, 1}, 1},
      {"c512_to_nhwc", {1, 512, 14, 14}, {0, 2, 3, 1}, 1},
      {"c512_to_nchw", {1, 14, 14, 512}, {0, 3, 1, 2}, 1},
      {"c21_to_nchw", {1, 65, 65, 21}, {0, 3, 1, 2}, 1},
      {"c64_words_to_nhwc", {1, 64, 56, 56}, {0, 2, 3, 1}, 4},
      {"rgb_words_to_nhwc", {1, 3, 224, 224}, {0, 2, 3, 1}, 4},
      {"heads", {1, 197, 12, 64}, {0, 2, 1, 3}, 1},
      {"channel_shuffle", {1, 28, 28, 3, 80}, {0, 1, 2, 4, 3}, 1},
      {"channel_shuffle_of_two", {1, 28, 28, 2, 58}, {0, 1, 2, 4, 3}, 1},
      {"depth_to_space", {1, 128, 128, 3, 3}, {0, 1, 3, 2, 4}, 1},
  };
  return list;
}

void transpose(benchmark::State& state, const CopyKernel& kernel, const Case& c) {
  size_t size = c.element_bytes;
  for (int64_t d : c.dims) size *= static_cast<size_t>(d);
  const std::vector<uint64_t> x(size / 8 + 1, 0x0123456789abcdef);
  std::vector<uint64_t> y(size / 8 + 1);
  const TransposePlan plan =
      plan_transpose(c.dims.data(), c.dims.size(), c.perm.data(), c.element_bytes);
  bench::measure(state, {0, static_cast<double>(2 * size), nullptr}, [&] {
    kernel.transpose(plan, x.data(), y.data(), 0, plan.dims[0]);
    benchmark::ClobberMemory();
  });
}

// Measures copies of rows. Arguments: rows, bytes of a row. It is half of what a concatenation of two writes.
void rows(benchmark::State& state, const CopyKernel& kernel) {
  const size_t count = static_cast<size_t>(state.range(0));
  const size_t bytes = static_cast<size_t>(state.range(1));
  const std::vector<uint8_t> x(count * bytes, 7);
  std::vector<uint8_t> y(count * bytes * 2);
  bench::measure(state, {0, static_cast<double>(2 * count * bytes), nullptr}, [&] {
    kernel.rows(x.data(), bytes, y.data(), 2 * bytes, count, bytes);
    benchmark::ClobberMemory();
  });
}

// Measures interleaving. Arguments: pixels, bytes of a part of a pixel, of two.
void interleave(benchmark::State& state, const CopyKernel& kernel) {
  const size_t count = static_cast<size_t>(state.range(0));
  const size_t bytes = static_cast<size_t>(state.range(1));
  const std::vector<uint8_t> x(2 * count * bytes, 7);
  std::vector<uint8_t> y(x.size());
  const uint8_t* parts[] = {x.data(), x.data() + count * bytes};
  const size_t step[] = {bytes, bytes};
  bench::measure(state, {0, static_cast<double>(2 * x.size()), nullptr}, [&] {
    kernel.interleave(parts, step, 2, count, bytes, y.data());
    benchmark::ClobberMemory();
  });
}

int register_all() {
  size_t count;
  const CopyKernel* table = copy_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const CopyKernel& kernel = table[i];
    const std::string name = kernel.name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    for (const Case& c : cases())
      bench::register_measured(name + "/transpose/" + c.name, transpose, kernel, c);
    bench::register_measured(name + "/rows", rows, kernel)
        ->Args({3136, 3})
        ->Args({3136, 24})
        ->Args({784, 128});
    if (kernel.interleave != nullptr)
      bench::register_measured(name + "/interleave", interleave, kernel)
          ->Args({784, 58})
          ->Args({196, 116});
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
