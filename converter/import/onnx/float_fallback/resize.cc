// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/resize.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "converter/import/onnx/float_fallback/resize_in_run.h"
#include "converter/import/onnx/ops/resize/geometry.h"

namespace qrt::convert::from_onnx {
namespace {

// Weights of the inputs from `first` on; inputs outside the axis are clamped to its border.
struct Taps {
  int64_t first;
  std::vector<float> weights;
};

float triangle(float x) { return std::max(0.0f, 1 - std::fabs(x)); }

// Return Keys' cubic filter at a distance x, in ONNX Runtime's two forms: for any number of
// weights, and for four.
float cubic(float x, float a) {
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

Taps cubic_taps(float at, float a) {
  const float floor = std::floor(at), s = at - floor, t = 1 - s;
  const auto outer = [a](float d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  const auto inner = [a](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  return {static_cast<int64_t>(floor) - 1, {outer(s + 1), inner(s), inner(t), outer(t + 1)}};
}

// Returns the taps of the filter around the middle of output `at`, widened if the axis shrinks.
Taps antialiased_taps(float at, float scale, float radius,
                      const std::function<float(float)>& filter) {
  const float step = 1 / scale, center = 0.5f + at;
  const float support = step >= 1 ? radius * step : radius, inverse = step >= 1 ? 1 / step : 1.0f;
  Taps taps;
  taps.first = static_cast<int64_t>(std::floor(center - support + 0.5f));
  const auto end = static_cast<int64_t>(std::floor(center + support + 0.5f));
  for (int64_t i = taps.first; i < end; ++i)
    taps.weights.push_back(filter((static_cast<float>(i) - center + 0.5f) * inverse));
  return taps;
}

struct Filter {
  bool is_cubic, antialias, exclude_outside;
  float a;
};

Taps taps_of(const Filter& filter, const Resize& r, const ResizeAxis& axis, int64_t i) {
  const float at = axis.scale == 1 ? static_cast<float>(i) : coordinate(r.coordinates, axis, i);
  if (filter.antialias && filter.is_cubic)
    return antialiased_taps(at, axis.scale, 2, [&](float x) { return cubic(x, filter.a); });
  if (filter.antialias) return antialiased_taps(at, axis.scale, 1, triangle);
  if (filter.is_cubic) return cubic_taps(at, filter.a);
  const float last = static_cast<float>(axis.in - 1);
  const float x = at >= last ? last : at > 0 ? at : 0;
  const auto low = static_cast<int64_t>(x);
  return {low, {1 - (x - static_cast<float>(low)), x - static_cast<float>(low)}};
}

// An element that an output reads, and its weight.
struct WeightedIndex {
  int64_t index;
  float weight;
};

// Returns the elements that output i of an axis reads, by ascending index. Taps outside add to the
// weight of the border; a filter of four taps instead reads the border once for each tap, as ONNX
// Runtime does, where infinities of both signs give NaN.
std::vector<WeightedIndex> read_by(const Filter& filter, const Resize& r, const ResizeAxis& axis,
                                   int64_t i) {
  Taps taps = taps_of(filter, r, axis, i);
  float total = 0;
  for (size_t k = 0; k < taps.weights.size(); ++k) {
    const int64_t at = taps.first + static_cast<int64_t>(k);
    if (filter.exclude_outside && (at < 0 || at >= axis.in)) taps.weights[k] = 0;
    total += taps.weights[k];
  }
  const bool is_of_four = filter.is_cubic && !filter.antialias;
  const bool normalise = (filter.antialias || filter.exclude_outside) && total != 0;
  std::vector<WeightedIndex> read;
  for (size_t k = 0; k < taps.weights.size(); ++k) {
    const int64_t at = taps.first + static_cast<int64_t>(k);
    const int64_t inside = std::min(std::max<int64_t>(at, 0), axis.in - 1);
    const float weight = normalise ? taps.weights[k] / total : taps.weights[k];
    if (!is_of_four && !read.empty() && read.back().index == inside)
      read.back().weight += weight;
    else
      read.push_back({inside, weight});
  }
  return read;
}

// Returns the greatest number of weights of an output of an axis.
double most_weights(const Filter& filter, const ResizeAxis& axis) {
  const double radius = filter.is_cubic ? 2 : 1;
  const double step = filter.antialias ? std::max(1.0, 1.0 / static_cast<double>(axis.scale)) : 1;
  return 2 * radius * step + 2;
}

// Computes each output of dimension d as the weighted sum of the elements that it reads. *fits is
// false for too many weights.
Status add_elements(FloatGraph* f, const Filter& filter, const Resize& r, int d, ValueId* x,
                    bool* fits) {
  constexpr double kMostWeights = 1 << 24;
  const ResizeAxis& axis = r.axes[static_cast<size_t>(d)];
  const double bound = most_weights(filter, axis) * static_cast<double>(axis.out);
  *fits = axis.out >= 1 && bound <= kMostWeights;
  if (!*fits) return Status();
  QRT_TRY(check_index_count(axis.out));
  QRT_TRY(f->importer().tensors().reserve(
      static_cast<uint64_t>(bound) * (sizeof(WeightedIndex) + sizeof(int32_t) + sizeof(float)),
      f->importer().graph()));
  std::vector<std::vector<WeightedIndex>> read;
  size_t most = 0;
  for (int64_t i = 0; i < axis.out; ++i) {
    read.push_back(read_by(filter, r, axis, i));
    most = std::max(most, read.back().size());
  }
  Indices indices(most * read.size(), -1);
  std::vector<float> weights(most * read.size());
  for (size_t i = 0; i < read.size(); ++i)
    for (size_t k = 0; k < read[i].size(); ++k) {
      indices[i * most + k] = static_cast<int32_t>(read[i][k].index);
      weights[i * most + k] = read[i][k].weight;
    }
  return f->weighted_sum(d, axis.out, indices, weights, *x, x);
}

}  // namespace

Status float_resize(FloatGraph* f, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  const std::string mode = node.text("mode", "nearest");
  Resize r;
  bool known;
  QRT_TRY(read_resize(f->importer(), node, &r, &known));
  if (!known || r.extrapolates() || mode == "nearest") return Status();
  const Filter filter = {mode == "cubic", node.integer("antialias", 0) != 0,
                         node.integer("exclude_outside", 0) != 0,
                         node.real("cubic_coeff_a", -0.75f)};
  if (has_lengths_of_a_run(f->importer(), node) && !filter.antialias && !filter.exclude_outside)
    QRT_TRY(resize_in_run(f, r, filter.is_cubic ? &filter.a : nullptr, x, y));
  if (*y != kNoValue) return Status();
  // Dimensions are resized from the last to the first, as in ONNX Runtime.
  for (int d = static_cast<int>(r.axes.size()) - 1; d >= 0; --d) {
    const ResizeAxis& axis = r.axes[static_cast<size_t>(d)];
    if (axis.scale == 1 && axis.in == axis.out) continue;
    bool fits;
    QRT_TRY(add_elements(f, filter, r, d, &x, &fits));
    if (!fits) return Status();
  }
  *y = x;
  return Status();
}

}  // namespace qrt::convert::from_onnx
