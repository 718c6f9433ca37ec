// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "runtime/tools/images/images.h"

namespace qrt::tool {
namespace {

// The old pixels that each new one is made of: those from first[i] on, with weights[start[i]] to
// weights[start[i + 1] - 1], whose sum is 1.
struct Taps {
  std::vector<size_t> first, start;
  std::vector<float> weights;

  size_t size() const { return first.size(); }
  size_t behind(size_t i) const { return first[i] + start[i + 1] - start[i]; }
};

// Returns a bound of the weights that filter_taps() makes.
uint64_t most_taps(size_t from, size_t to) { return 2 * (uint64_t{from} + 2 * uint64_t{to}); }

Taps filter_taps(size_t from, size_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(ratio, 1.0);
  Taps taps;
  taps.first.reserve(to);
  taps.start.reserve(to + 1);
  taps.start.push_back(0);
  taps.weights.reserve(most_taps(from, to));
  for (size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    const double lo = std::max(std::floor(centre - reach + 0.5), 0.0);
    const double hi = std::min(std::floor(centre + reach + 0.5), static_cast<double>(from));
    const auto weight = [&](double x) {
      return std::max(0.0, 1 - std::fabs((x + 0.5 - centre) / reach));
    };
    double sum = 0;
    for (double x = lo; x < hi; ++x) sum += weight(x);
    for (double x = lo; x < hi; ++x) taps.weights.push_back(static_cast<float>(weight(x) / sum));
    taps.first.push_back(static_cast<size_t>(lo));
    taps.start.push_back(taps.weights.size());
  }
  return taps;
}

// Resizes row y of the image to the width of `across`.
void resize_row(const Image& image, size_t y, const Taps& across, std::vector<float>* row) {
  const uint8_t* from = image.rgb.data() + y * image.width * 3;
  for (size_t x = 0; x < across.size(); ++x)
    for (size_t c = 0; c < 3; ++c) {
      float sum = 0;
      size_t at = across.first[x];
      for (size_t k = across.start[x]; k < across.start[x + 1]; ++k, ++at)
        sum += across.weights[k] * static_cast<float>(from[at * 3 + c]);
      (*row)[x * 3 + c] = sum;
    }
}

}  // namespace

// Resizes an image. Each old row is resized once and added to all new rows that it is part of. New rows
// are in the order of the old ones, so these are always neighbours, and each is summed from the top.
Status resize(const Image& image, size_t height, size_t width, Budget* budget, Picture* result) {
  QRT_TRY(budget->reserve(
      sizeof(float) * (most_taps(image.width, width) + most_taps(image.height, height)) +
      2 * sizeof(size_t) * (width + height) + sizeof(float) * 3 * (width + height * width)));
  const Taps across = filter_taps(image.width, width), down = filter_taps(image.height, height);
  // Whole rows are added several elements at a time.
  constexpr uint64_t kElements = 4;
  QRT_TRY(budget->charge(3 * image.height * across.weights.size() +
                         3 * down.weights.size() * width / kElements));
  *result = {height, width, std::vector<float>(height * width * 3)};
  std::vector<float> row(width * 3);
  size_t begin = 0, end = 0;
  for (size_t y = 0; y < image.height; ++y) {
    while (end < height && down.first[end] <= y) ++end;
    while (begin < end && down.behind(begin) <= y) ++begin;
    resize_row(image, y, across, &row);
    for (size_t to = begin; to < end; ++to) {
      const float weight = down.weights[down.start[to] + y - down.first[to]];
      float* sums = result->rgb.data() + to * width * 3;
      for (size_t i = 0; i < width * 3; ++i) sums[i] += weight * row[i];
    }
  }
  return {};
}

Picture cropped(const Picture& picture, size_t height, size_t width) {
  Picture result = {height, width, {}};
  const size_t top = (picture.height - height) / 2, left = (picture.width - width) / 2;
  for (size_t y = 0; y < height; ++y) {
    const float* row = picture.rgb.data() + ((top + y) * picture.width + left) * 3;
    result.rgb.insert(result.rgb.end(), row, row + width * 3);
  }
  return result;
}

}  // namespace qrt::tool
