#include "converter/quantize/ranges/histogram.h"

#include <algorithm>
#include <cmath>

namespace qrt::quantize {

void Extent::add(const float* values, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const float v = values[i];
    if (!std::isfinite(v)) {
      ++bad;
      continue;
    }
    const bool is_first = count + i == bad;
    least = is_first ? v : std::min(least, v);
    most = is_first ? v : std::max(most, v);
  }
  count += n;
  lo = std::min(least, 0.0f);
  hi = std::max(most, 0.0f);
}

Histogram::Histogram(const Extent& extent) : lo_(extent.lo), hi_(extent.hi), counts_(kBins) {
  width_ = (static_cast<double>(hi_) - static_cast<double>(lo_)) / static_cast<double>(kBins);
}

void Histogram::add(const float* values, size_t n) {
  const double per_unit = width_ > 0 ? 1 / width_ : 0;
  for (size_t i = 0; i < n; ++i) {
    const float v = values[i];
    if (!std::isfinite(v)) continue;
    ++total_;
    if (v == 0.0f) {
      ++zeros_;
      continue;
    }
    const double at = (static_cast<double>(v) - static_cast<double>(lo_)) * per_unit;
    const size_t bin = at <= 0 ? 0 : std::min(static_cast<size_t>(at), kBins - 1);
    ++counts_[bin];
  }
}

double Histogram::sum_of_squares() const {
  double sum = 0;
  for (size_t i = 0; i < counts_.size(); ++i)
    sum += static_cast<double>(counts_[i]) * middle(i) * middle(i);
  return sum;
}

}  // namespace qrt::quantize
