// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/window.h"

#include <algorithm>
#include <cstring>

namespace qrt::quantize {
namespace {

// The limit of sizes, steps and borders; far beyond images, small enough for products.
constexpr int64_t kMost = int64_t{1} << 24;

Status read_list(const Call& call, const char* attribute, size_t count, int64_t least,
                 int64_t otherwise, Dims* list) {
  *list = call.node.integers(attribute);
  if (list->empty()) list->assign(count, otherwise);
  if (list->size() != count)
    return call.wrong("%s has %zu elements, expected %zu", attribute, list->size(), count);
  for (int64_t v : *list)
    if (v < least || v > kMost)
      return call.wrong("%s holds %lld, expected %lld to 2^24", attribute,
                        static_cast<long long>(v), static_cast<long long>(least));
  return Status();
}

}  // namespace

Dims Window::padded() const {
  Dims dims(input.size());
  for (size_t d = 0; d < dims.size(); ++d)
    dims[d] = std::max(begin[d] + input[d] + end[d],
                       (output[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1);
  return dims;
}

Status read_window_attributes(const Call& call, const Dims& kernel, Window* window) {
  const size_t rank = kernel.size();
  window->kernel = kernel;
  for (int64_t k : kernel)
    if (k < 1 || k > kMost) return call.wrong("kernel of shape %s", to_string(kernel).c_str());
  QRT_TRY(read_list(call, "strides", rank, 1, 1, &window->stride));
  QRT_TRY(read_list(call, "dilations", rank, 1, 1, &window->dilation));
  Dims pads;
  QRT_TRY(read_list(call, "pads", 2 * rank, 0, 0, &pads));
  const auto middle = pads.begin() + static_cast<ptrdiff_t>(rank);
  window->begin.assign(pads.begin(), middle);
  window->end.assign(middle, pads.end());
  return Status();
}

Status read_window(const Call& call, const Dims& input, const Dims& kernel, Window* window) {
  if (input.empty() || input.size() != kernel.size())
    return call.wrong("a kernel of shape %s over an image of shape %s", to_string(kernel).c_str(),
                      to_string(input).c_str());
  QRT_TRY(read_window_attributes(call, kernel, window));
  window->input = input;
  window->output.resize(input.size());
  const std::string automatic = call.node.text("auto_pad", "NOTSET");
  const bool ceil = call.node.integer("ceil_mode", 0) != 0;
  int64_t planes = 1;
  for (size_t d = 0; d < input.size(); ++d) {
    const int64_t stride = window->stride[d];
    const int64_t reach = (kernel[d] - 1) * window->dilation[d] + 1;
    if (input[d] < 1 || input[d] > kMost)
      return call.wrong("an image of shape %s", to_string(input).c_str());
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const int64_t positions = (input[d] + stride - 1) / stride;
      const int64_t total = std::max<int64_t>(0, (positions - 1) * stride + reach - input[d]);
      const int64_t less = total / 2;
      window->begin[d] = automatic == "SAME_UPPER" ? less : total - less;
      window->end[d] = total - window->begin[d];
    } else if (automatic == "VALID") {
      window->begin[d] = window->end[d] = 0;
    } else if (automatic != "NOTSET" && !automatic.empty()) {
      return call.wrong("auto_pad '%s'", automatic.c_str());
    }
    const int64_t room = input[d] + window->begin[d] + window->end[d] - reach;
    if (room < 0)
      return call.wrong("windows of shape %s are larger than the image %s with its border",
                        to_string(kernel).c_str(), to_string(input).c_str());
    int64_t positions = room / stride + 1;
    // One more window for the remainder, unless it would start in the padding behind.
    if (ceil && room % stride != 0 && positions * stride < input[d] + window->begin[d]) ++positions;
    window->output[d] = positions;
    const int64_t padded = window->padded()[d];
    if (planes > call.machine.limits.value / padded)
      return call.beyond(static_cast<double>(call.machine.limits.value), "elements",
                         "an image of shape %s with its border", to_string(input).c_str());
    planes *= padded;
  }
  return Status();
}

namespace {

// Sums of steps over all indices of `shape`, in its order.
std::vector<ptrdiff_t> positions_of(const Dims& shape, const Dims& steps) {
  std::vector<ptrdiff_t> all = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<ptrdiff_t> next;
    next.reserve(all.size() * static_cast<size_t>(shape[d]));
    for (ptrdiff_t at : all)
      for (int64_t i = 0; i < shape[d]; ++i) next.push_back(at + i * steps[d]);
    all = std::move(next);
  }
  return all;
}

}  // namespace

WindowTables window_tables(const Window& window, int64_t channels) {
  const Dims padded = window.padded();
  Dims tap_steps(padded.size()), base_steps(padded.size());
  int64_t step = 1;
  for (size_t d = padded.size(); d-- > 0; step *= padded[d]) {
    tap_steps[d] = step * window.dilation[d];
    base_steps[d] = step * window.stride[d];
  }
  Dims taps = {channels};
  taps.insert(taps.end(), window.kernel.begin(), window.kernel.end());
  tap_steps.insert(tap_steps.begin(), step);
  return {positions_of(taps, tap_steps), positions_of(window.output, base_steps)};
}

PlanePadder::PlanePadder(const Window& window)
    : width_(static_cast<size_t>(window.input.back())), first_(0) {
  const Dims padded = window.padded();
  Dims steps(padded.size());
  int64_t step = 1;
  for (size_t d = padded.size(); d-- > 0; step *= padded[d]) {
    steps[d] = step;
    first_ += step * window.begin[d];
  }
  floats_ = static_cast<size_t>(step);
  steps.pop_back();
  rows_ = positions_of(Dims(window.input.begin(), window.input.end() - 1), steps);
}

void PlanePadder::put(const float* x, float* padded) const {
  for (ptrdiff_t row : rows_) {
    memcpy(padded + first_ + row, x, width_ * sizeof(float));
    x += width_;
  }
}

std::vector<float> padded_planes(const Window& window, const float* x, int64_t planes, float fill,
                                 Buffers* buffers) {
  const auto size = static_cast<size_t>(elements(window.padded()));
  const auto own = static_cast<size_t>(elements(window.input)), count = static_cast<size_t>(planes);
  std::vector<float> y = buffers->take(count * size + kPanel);
  if (window.has_border()) {
    const PlanePadder padder(window);
    std::fill(y.begin(), y.end(), fill);
    for (size_t p = 0; p < count; ++p) padder.put(x + p * own, y.data() + p * size);
  } else {
    memcpy(y.data(), x, count * size * sizeof(float));
  }
  std::fill(y.end() - static_cast<ptrdiff_t>(kPanel), y.end(), 0.0f);
  return y;
}

}  // namespace qrt::quantize
