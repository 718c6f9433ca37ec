// SPDX-License-Identifier: Apache-2.0
// Resize: one dimension after the other, each element of the result a sum of few of the input.
#include <algorithm>
#include <cmath>

#include "converter/quantize/float/operators.h"

namespace qrt::quantize {
namespace {

// Elements of a dimension: each has a list of what makes it.
constexpr int64_t kMostOfAxis = 1 << 20;

struct Axis {
  int64_t input, output;
  float scale;
};

// Elements and weights that make one of the result.
struct Tap {
  int64_t index;
  float weight;
};
using Taps = std::vector<std::vector<Tap>>;

float coordinate(const Axis& axis, int64_t at, const std::string& mode) {
  const auto x = static_cast<float>(at);
  const auto in = static_cast<float>(axis.input), out = static_cast<float>(axis.output);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners") return axis.output == 1 ? 0.0f : x * (in - 1.0f) / (out - 1.0f);
  if (mode == "pytorch_half_pixel" && axis.output == 1) return 0.0f;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5f) / axis.scale;
  if (mode == "half_pixel_symmetric") {
    const float adjustment = out / (axis.scale * in);
    return in / 2.0f * (1.0f - adjustment) + (x + 0.5f) / axis.scale - 0.5f;
  }
  return (x + 0.5f) / axis.scale - 0.5f;
}

float rounded(float x, const std::string& mode) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5f);
  return std::ceil(x - 0.5f);
}

void cubic_weights(float t, float a, float weights[4]) {
  const auto near = [&](float d) { return ((a + 2.0f) * d - (a + 3.0f)) * d * d + 1.0f; };
  const auto far = [&](float d) { return ((a * d - 5.0f * a) * d + 8.0f * a) * d - 4.0f * a; };
  weights[0] = far(t + 1.0f);
  weights[1] = near(t);
  weights[2] = near(1.0f - t);
  weights[3] = far(2.0f - t);
}

Taps taps_of(const Node& node, const Axis& axis) {
  const std::string mode = node.text("mode", "nearest");
  const std::string place = node.text("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = node.text("nearest_mode", "round_prefer_floor");
  const bool excludes = node.integer("exclude_outside", 0) != 0;
  const float a = node.real("cubic_coeff_a", -0.75f);
  const int64_t last = axis.input - 1;
  const auto bounded = [&](float v) {
    return std::min(std::max(static_cast<int64_t>(v), int64_t{0}), last);
  };
  Taps taps(static_cast<size_t>(axis.output));
  for (int64_t i = 0; i < axis.output; ++i) {
    const float x = coordinate(axis, i, place);
    auto& at = taps[static_cast<size_t>(i)];
    if (mode == "nearest") {
      at = {{bounded(rounded(x, nearest)), 1.0f}};
    } else if (mode == "linear") {
      const float inside = std::min(std::max(x, 0.0f), static_cast<float>(last));
      const int64_t first = bounded(inside), second = std::min(first + 1, last);
      const float t = inside - static_cast<float>(first);
      at = {{first, 1.0f - t}};
      if (second != first) at.push_back({second, t});
    } else {
      const float floor = std::floor(x);
      float weights[4], sum = 0;
      cubic_weights(x - floor, a, weights);
      for (int j = 0; j < 4; ++j) {
        const float index = floor + static_cast<float>(j - 1);
        if (excludes && (index < 0 || index > static_cast<float>(last))) continue;
        at.push_back({bounded(index), weights[j]});
        sum += weights[j];
      }
      if (excludes)
        for (Tap& tap : at) tap.weight /= sum;
    }
  }
  return taps;
}

// Resizes one axis: y [outer, taps, inner] from x [outer, axis.input, inner].
void resize_axis(const float* x, int64_t outer, int64_t inner, const Axis& axis, const Taps& taps,
                 Machine* machine, float* y) {
  machine->parallel.chunks(static_cast<size_t>(outer), 1, [&](size_t, size_t begin, size_t end) {
    for (auto o = static_cast<int64_t>(begin); o < static_cast<int64_t>(end); ++o) {
      const float* from = x + o * axis.input * inner;
      float* to = y + o * axis.output * inner;
      for (const auto& at : taps) {
        for (int64_t i = 0; i < inner; ++i) {
          float sum = at[0].weight == 1.0f ? from[at[0].index * inner + i]
                                           : at[0].weight * from[at[0].index * inner + i];
          for (size_t t = 1; t < at.size(); ++t)
            sum += at[t].weight * from[at[t].index * inner + i];
          to[i] = sum;
        }
        to += inner;
      }
    }
  });
}

Status read_axes(Call& call, std::vector<Axis>* axes) {
  const Dims& x = call.in(0).shape;
  for (int64_t d : x) axes->push_back({d, d, 1.0f});
  Dims named = call.node.integers("axes");
  if (named.empty())
    for (size_t d = 0; d < x.size(); ++d) named.push_back(static_cast<int64_t>(d));
  const bool by_size = call.has(3) && call.in(3).size() > 0;
  const size_t at = by_size ? 3 : 2;
  QRT_TRY(by_size ? call.need_integers(3, 4) : call.need_reals(2, 3));
  if (call.in(at).size() != static_cast<int64_t>(named.size()))
    return call.wrong("%zu dimensions, but input %zu has shape %s", named.size(), at,
                      to_string(call.in(at).shape).c_str());
  for (size_t i = 0; i < named.size(); ++i) {
    size_t d;
    QRT_TRY(call.axis(named[i], x.size(), &d));
    Axis& axis = (*axes)[d];
    if (axis.input < 1) return call.wrong("an input of shape %s", to_string(x).c_str());
    if (by_size) {
      axis.output = call.in(3).integers[i];
      axis.scale = static_cast<float>(axis.output) / static_cast<float>(axis.input);
    } else {
      axis.scale = call.in(2).reals[i];
      const float size = std::floor(axis.scale * static_cast<float>(axis.input));
      if (!(size >= 1 && size <= static_cast<float>(kMostOfAxis)))
        return call.wrong("scale %g of dimension %zu of %s", static_cast<double>(axis.scale), d,
                          to_string(x).c_str());
      axis.output = static_cast<int64_t>(size);
    }
    if (axis.output < 1 || axis.output > kMostOfAxis)
      return call.wrong("%lld elements along dimension %zu", static_cast<long long>(axis.output),
                        d);
  }
  return Status();
}

}  // namespace

Status run_resize(Call& call) {
  QRT_TRY(call.need_reals(0, 1));
  const Node& node = call.node;
  const std::string mode = node.text("mode", "nearest");
  const std::string place = node.text("coordinate_transformation_mode", "half_pixel");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return call.unsupported("mode '%s'", mode.c_str());
  if (place == "tf_crop_and_resize" || node.integer("antialias", 0) != 0 ||
      node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    return call.unsupported("crops, antialias, and sizes that keep a ratio");
  std::vector<Axis> axes;
  QRT_TRY(read_axes(call, &axes));
  call.makes_elements();
  Dims shape = call.in(0).shape;
  Machine& machine = call.machine;
  Tensor now;
  const Tensor* from = &call.in(0);
  for (size_t d = axes.size(); d-- > 0;) {
    if (axes[d].input == axes[d].output && axes[d].scale == 1.0f) continue;
    shape[d] = axes[d].output;
    Tensor* y;
    QRT_TRY(call.make(shape, &y));
    int64_t outer = 1, inner = 1;
    for (size_t e = 0; e < shape.size(); ++e)
      if (e != d) (e < d ? outer : inner) *= shape[e];
    resize_axis(from->reals.data(), outer, inner, axes[d], taps_of(node, axes[d]), &machine,
                y->reals.data());
    machine.buffers.give(std::move(now.reals));
    now = std::move(*y);
    from = &now;
  }
  if (from == &call.in(0)) return run_identity(call);
  call.out(0) = std::move(now);
  return Status();
}

}  // namespace qrt::quantize
