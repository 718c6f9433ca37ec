#include "converter/quantize/ranges/histogram.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>

namespace qrt::quantize {
namespace {

// Of a larger tensor's values only so many are counted: the shape of their distribution shows all the
// same, and its ends are the extent's.
constexpr size_t kMostCounted = size_t{1} << 16;

}  // namespace

void Extent::add(const float* values, size_t n) {
  // Several at a time, which compilers make vectors of.
  constexpr size_t kLanes = 16;
  float low[kLanes], high[kLanes];
  uint64_t finite[kLanes] = {};
  std::fill_n(low, kLanes, HUGE_VALF);
  std::fill_n(high, kLanes, -HUGE_VALF);
  const auto see = [&](size_t lane, float v) {
    const bool ok = std::fabs(v) <= FLT_MAX;  // false for NaN
    low[lane] = ok && v < low[lane] ? v : low[lane];
    high[lane] = ok && v > high[lane] ? v : high[lane];
    finite[lane] += ok ? 1 : 0;
  };
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) see(k, values[i + k]);
  for (; i < n; ++i) see(0, values[i]);
  const uint64_t good = std::accumulate(finite, finite + kLanes, uint64_t{0});
  if (good > 0) {
    const float lowest = *std::min_element(low, low + kLanes);
    const float highest = *std::max_element(high, high + kLanes);
    const bool is_first = count == bad;
    least = is_first ? lowest : std::min(least, lowest);
    most = is_first ? highest : std::max(most, highest);
  }
  count += n;
  bad += n - good;
  lo = std::min(least, 0.0f);
  hi = std::max(most, 0.0f);
}

Histogram::Histogram(const Extent& extent) : lo_(extent.lo), hi_(extent.hi), counts_(kBins) {
  width_ = (static_cast<double>(hi_) - static_cast<double>(lo_)) / static_cast<double>(kBins);
}

void Histogram::add(const float* values, size_t n) {
  const double per_unit = width_ > 0 ? 1 / width_ : 0;
  // An odd step meets every channel and place in the long run.
  const size_t step = n <= kMostCounted ? 1 : n / kMostCounted | 1;
  for (size_t i = 0; i < n; i += step) {
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
