#include <algorithm>
#include <cmath>

#include "runtime/tools/images/images.h"

namespace qrt::tool {
namespace {

// The old pixels that a new one is made of, and their weights, whose sum is 1.
struct Taps {
  size_t first = 0;
  std::vector<float> weights;
};
std::vector<Taps> filter_taps(size_t from, size_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(ratio, 1.0);
  std::vector<Taps> result(to);
  for (size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    const double lo = std::max(std::floor(centre - reach + 0.5), 0.0);
    const double hi = std::min(std::floor(centre + reach + 0.5), static_cast<double>(from));
    result[i].first = static_cast<size_t>(lo);
    double sum = 0;
    std::vector<double> weights;
    for (double x = lo; x < hi; ++x) {
      weights.push_back(std::max(0.0, 1 - std::fabs((x + 0.5 - centre) / reach)));
      sum += weights.back();
    }
    for (const double w : weights) result[i].weights.push_back(static_cast<float>(w / sum));
  }
  return result;
}

}  // namespace

Picture resized(const Image& image, size_t height, size_t width) {
  const std::vector<Taps> across = filter_taps(image.width, width),
                          down = filter_taps(image.height, height);
  std::vector<float> rows(image.height * width * 3);
  for (size_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t c = 0; c < 3; ++c) {
        float sum = 0;
        for (size_t k = 0; k < across[x].weights.size(); ++k)
          sum += across[x].weights[k] *
                 static_cast<float>(image.rgb[(y * image.width + across[x].first + k) * 3 + c]);
        rows[(y * width + x) * 3 + c] = sum;
      }
  Picture result = {height, width, std::vector<float>(height * width * 3)};
  for (size_t y = 0; y < height; ++y)
    for (size_t i = 0; i < width * 3; ++i) {
      float sum = 0;
      for (size_t k = 0; k < down[y].weights.size(); ++k)
        sum += down[y].weights[k] * rows[(down[y].first + k) * width * 3 + i];
      result.rgb[y * width * 3 + i] = sum;
    }
  return result;
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
