// SPDX-License-Identifier: Apache-2.0
// Rows of resize.inc: an output row of an image that is doubled, in float32, and of one that grows to
// 16 times its size, by columns. Bytes are those of the output.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/resize/resize.h"

namespace qrt {
namespace {

// Measures all rows between two rows of the source, `factor` times as wide, with half-pixel centres.
void rows(benchmark::State& state, const ResizeKernel& kernel, bool by_columns) {
  const int32_t in_w = static_cast<int32_t>(state.range(0));
  const int32_t factor = static_cast<int32_t>(state.range(2)), out_w = in_w * factor;
  const size_t channels = static_cast<size_t>(state.range(1));
  const size_t in = static_cast<size_t>(in_w) * channels, row = in * static_cast<size_t>(factor);
  std::vector<int32_t> low, high;
  std::vector<float> low_weight, high_weight, row_low, row_high;
  const auto weight = [factor](int32_t i) {
    return (static_cast<float>(i % factor) + 0.5f) / static_cast<float>(factor);
  };
  for (int32_t i = 0; i < out_w; ++i) {
    low.push_back(i / factor);
    high.push_back(std::min(i / factor + 1, in_w - 1));
    high_weight.push_back(weight(i));
    low_weight.push_back(1 - weight(i));
    if (i >= factor) continue;
    row_high.push_back(weight(i));
    row_low.push_back(1 - weight(i));
  }
  const ResizeRow<float> r = {
      static_cast<size_t>(out_w), channels,       low.data(),      high.data(),   low_weight.data(),
      high_weight.data(),         row_low.data(), row_high.data(), row_low.size()};
  constexpr float kScale = 0.0283f;
  const ResizeBytes bytes = {false, kScale, 128, 0, 255};
  const bench::Buffer low_row((in + kResizeOverRead) * sizeof(float)),
      high_row((in + kResizeOverRead) * sizeof(float)), low_columns(row * sizeof(float)),
      high_columns(row * sizeof(float)), y(row * r.rows);
  const auto floats = [](const bench::Buffer& b) { return reinterpret_cast<float*>(b.data()); };
  uint32_t random = 1;
  for (float* source : {floats(low_row), floats(high_row)})
    for (size_t i = 0; i < in; ++i) {
      random = random * 1664525 + 1013904223;
      source[i] =
          kScale * kResizePart * static_cast<float>(static_cast<int32_t>(random >> 24) - 128);
    }
  ResizeColumns columns = resize_columns(kScale, bytes, 128, 1.0 / (factor * factor * 4));
  columns.low = floats(low_columns);
  columns.high = floats(high_columns);
  if (by_columns) {
    kernel.columns(r, floats(low_row), floats(low_columns));
    kernel.columns(r, floats(high_row), floats(high_columns));
  }
  const ResizePlane<float, float> plane = {floats(low_row), floats(high_row), 1.0f};
  bench::measure(state, {0, static_cast<double>(row * r.rows), nullptr}, [&] {
    if (by_columns)
      kernel.f32_by_columns(r, plane, columns, bytes, y.data());
    else if (channels >= kWideResize)
      kernel.f32(r, plane, bytes, y.data());
    else
      kernel.f32_general(r, &plane, 1, bytes, y.data());
    benchmark::ClobberMemory();
  });
}

int register_all() {
  size_t count;
  const ResizeKernel* table = resize_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const ResizeKernel& kernel = table[i];
    const std::string name = kernel.name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    bench::register_measured(name + "/f32", rows, kernel, false)
        ->Args({64, 64, 2})
        ->Args({8, 512, 2})
        ->Args({14, 21, 2})
        ->Args({64, 3, 2})
        ->Args({64, 10, 2})
        ->Args({64, 40, 2})
        ->Args({64, 1, 2});
    bench::register_measured(name + "/by_columns", rows, kernel, true)->Args({14, 21, 16});
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
