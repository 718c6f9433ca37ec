// SPDX-License-Identifier: Apache-2.0
// Pools.
#include <algorithm>
#include <limits>

#include "converter/quantize/float/window.h"

namespace qrt::quantize {
namespace {

// Returns how many elements the window at each position counts: those of the image, or with its border.
std::vector<float> counts_of(const Window& window, bool with_border) {
  std::vector<float> counts = {1.0f};
  for (size_t d = 0; d < window.input.size(); ++d) {
    const int64_t least = with_border ? -window.begin[d] : 0;
    const int64_t most = window.input[d] + (with_border ? window.end[d] : 0);
    std::vector<float> next;
    for (float before : counts)
      for (int64_t o = 0; o < window.output[d]; ++o) {
        int64_t count = 0;
        for (int64_t k = 0; k < window.kernel[d]; ++k) {
          const int64_t at = o * window.stride[d] - window.begin[d] + k * window.dilation[d];
          count += at >= least && at < most;
        }
        next.push_back(before * static_cast<float>(std::max<int64_t>(1, count)));
      }
    counts = std::move(next);
  }
  return counts;
}

}  // namespace

Status run_pool(Call& call) {
  QRT_TRY(call.need_reals(0, 1));
  if (call.output_count() > 1)
    return call.unsupported("its second output, the places of the maxima");
  const Dims& x = call.in(0).shape;
  if (x.size() < 3) return call.wrong("an input of shape %s", to_string(x).c_str());
  Window window;
  QRT_TRY(
      read_window(call, Dims(x.begin() + 2, x.end()), call.node.integers("kernel_shape"), &window));
  Dims shape = {x[0], x[1]};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  Tensor* y;
  QRT_TRY(call.make(shape, &y, static_cast<int64_t>(window.taps())));
  const int64_t planes = x[0] * x[1], plane = elements(window.padded());
  if (planes > call.machine.limits.value / plane)
    return call.beyond(static_cast<double>(call.machine.limits.value), "elements",
                       "an input of shape %s with its border", to_string(x).c_str());
  const bool greatest = call.node.op == "MaxPool";
  const float fill = greatest ? -std::numeric_limits<float>::infinity() : 0.0f;
  Machine& machine = call.machine;
  const WindowTables tables = window_tables(window, 1);
  std::vector<float> padded =
      padded_planes(window, call.in(0).reals.data(), planes, fill, &machine.buffers);
  const std::vector<float> counts =
      greatest ? std::vector<float>()
               : counts_of(window, call.node.integer("count_include_pad", 0) != 0);
  const size_t positions = tables.bases.size();
  machine.parallel.chunks(static_cast<size_t>(planes), 1, [&](size_t, size_t begin, size_t end) {
    for (size_t p = begin; p < end; ++p) {
      const float* from = padded.data() + p * static_cast<size_t>(plane);
      float* to = y->reals.data() + p * positions;
      for (size_t i = 0; i < positions; ++i) {
        const float* at = from + tables.bases[i];
        float value = fill;
        for (ptrdiff_t offset : tables.offsets) {
          const float v = at[offset];
          value = greatest ? (v > value || v != v ? v : value) : value + v;
        }
        to[i] = greatest ? value : value / counts[i];
      }
    }
  });
  machine.buffers.give(std::move(padded));
  return Status();
}

Status run_global_pool(Call& call) {
  QRT_TRY(call.need_reals(0, 1));
  const Dims& x = call.in(0).shape;
  if (x.size() < 3 || call.in(0).size() == 0)
    return call.wrong("an input of shape %s", to_string(x).c_str());
  Dims shape(x.size(), 1);
  shape[0] = x[0];
  shape[1] = x[1];
  Tensor* y;
  QRT_TRY(call.make(shape, &y));
  const auto rows = static_cast<size_t>(x[0] * x[1]);
  const FloatRows f = call.node.op == "GlobalMaxPool" ? FloatRows::kMax : FloatRows::kMean;
  call.machine.math->rows(f, 0, call.in(0).reals.data(), y->reals.data(), rows,
                          call.in(0).reals.size() / rows);
  return Status();
}

}  // namespace qrt::quantize
