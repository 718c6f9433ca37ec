// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/ranges/histogram.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace qrt::quantize {
namespace {

// The number of a tensor's values that are counted, about, in runs of neighbours: the shape of a larger
// tensor's distribution shows all the same, and its ends are the extent's.
constexpr size_t kMostCounted = size_t{1} << 16, kRun = 16;

// Values that are looked at together.
constexpr size_t kAtOnce = 1024;

// The exponent below which values have no bins of their own: 1 / width stays a float.
constexpr int kLeastExponent = -120;

bool is_finite(float v) { return std::fabs(v) <= FLT_MAX; }  // false for NaN, without a branch

}  // namespace

void Extent::add(const float* values, size_t n) {
  // Several at a time, which compilers make vectors of.
  constexpr size_t kLanes = 16;
  float low[kLanes], high[kLanes];
  std::fill_n(low, kLanes, HUGE_VALF);
  std::fill_n(high, kLanes, -HUGE_VALF);
  uint64_t good = 0;
  for (size_t i = 0; i < n; i += kAtOnce) {
    const size_t end = std::min(i + kAtOnce, n);
    int32_t finite[kLanes] = {};
    const auto see = [&](size_t lane, float v) {
      const bool ok = is_finite(v);
      const float l = ok ? v : HUGE_VALF, h = ok ? v : -HUGE_VALF;
      low[lane] = l < low[lane] ? l : low[lane];
      high[lane] = h > high[lane] ? h : high[lane];
      finite[lane] += ok ? 1 : 0;
    };
    size_t k = i;
    for (; k + kLanes <= end; k += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane) see(lane, values[k + lane]);
    for (; k < end; ++k) see(0, values[k]);
    good += std::accumulate(finite, finite + kLanes, uint64_t{0});
  }
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

void Extent::add(const Extent& other) {
  if (other.count > other.bad) {
    const bool is_first = count == bad;
    least = is_first ? other.least : std::min(least, other.least);
    most = is_first ? other.most : std::max(most, other.most);
  }
  count += other.count;
  bad += other.bad;
  lo = std::min(least, 0.0f);
  hi = std::max(most, 0.0f);
}

void Histogram::add(const Histogram& other) {
  extent_.add(other.extent_);
  cover_extent();
  add_bins(other.counts_, other.first_, other.width_);
  zeros_ += other.zeros_;
  total_ += other.total_;
}

// Adds the counts of bins that are as wide as those here, or narrower.
void Histogram::add_bins(const std::vector<uint64_t>& counts, double first, double width) {
  for (size_t i = 0; i < counts.size(); ++i) {
    const double bin = std::floor((first + static_cast<double>(i)) * (width / width_));
    counts_[static_cast<size_t>(bin - first_)] += counts[i];
  }
}

void Histogram::add(const float* values, size_t n) {
  extent_.add(values, n);
  cover_extent();
  if (n <= kMostCounted) return count(values, n / kRun + 1, 1, n);
  // An odd step meets every channel and place in the long run.
  const size_t step = n / kMostCounted | 1, runs = (n / kRun + step - 1) / step;
  count(values, runs, step, runs * kRun);
}

// Widens the bins so that they cover the extent, and moves what was counted into the wider bins.
void Histogram::cover_extent() {
  const auto lo = static_cast<double>(extent_.lo), hi = static_cast<double>(extent_.hi);
  if (!(hi > lo)) return;
  constexpr int kBits = 12;  // of kMostBins
  int exponent = std::max(std::ilogb(hi - lo) - kBits, kLeastExponent);
  double width, first, last;
  do {
    width = std::ldexp(1.0, exponent++);
    first = std::floor(lo / width);
    last = std::floor(hi / width);
  } while (last - first >= static_cast<double>(kMostBins));
  const auto bins = static_cast<size_t>(last - first) + 1;
  if (width == width_ && first == first_ && bins == counts_.size()) return;
  const std::vector<uint64_t> before = std::exchange(counts_, std::vector<uint64_t>(bins));
  const double first_before = std::exchange(first_, first);
  add_bins(before, first_before, std::exchange(width_, width));
}

namespace {

// The bins of n <= kAtOnce values, behind each other from `first` on, in a form that compilers make
// vectors of. Zeros and values that are not finite have none and are counted at `none`, in turns: a place
// that is written again at once waits for itself.
struct Bins {
  int32_t of[kAtOnce];
  size_t zeros = 0, bad = 0;

  Bins(const float* values, size_t n, float per_unit, int32_t first, int32_t none) {
    int32_t is_zero = 0, is_bad = 0;
    const auto count = static_cast<int32_t>(n);
    float x[kAtOnce];
    for (int32_t i = 0; i < count; ++i) {
      const bool ok = is_finite(values[i]);
      x[i] = ok ? values[i] : 0.0f;
      is_bad += ok ? 0 : 1;
      is_zero += values[i] == 0.0f ? 1 : 0;
    }
    for (int32_t i = 0; i < count; ++i) {
      const float at = x[i] * per_unit;  // exact: a power of two
      const auto whole = static_cast<int32_t>(at);
      of[i] = whole - (static_cast<float>(whole) > at ? 1 : 0) - first;
    }
    for (int32_t i = 0; i < count; ++i) of[i] = x[i] != 0.0f ? of[i] : none + i % kTurns;
    zeros = static_cast<size_t>(is_zero);
    bad = static_cast<size_t>(is_bad);
  }
  static constexpr int32_t kTurns = 4;
};

}  // namespace

// Counts each `step`th of `runs` runs; n: values in them.
void Histogram::count(const float* values, size_t runs, size_t step, size_t n) {
  constexpr size_t kRuns = kAtOnce / kRun;
  std::vector<uint32_t> counts(counts_.size() + Bins::kTurns);
  const float per_unit = counts_.empty() ? 0.0f : static_cast<float>(1 / width_);
  float gathered[kAtOnce];
  for (size_t run = 0; run < runs; run += kRuns) {
    const size_t together = std::min(kRuns, runs - run);
    const size_t size = std::min(together * kRun, n - run * kRun);
    for (size_t r = 0; step > 1 && r < together; ++r)  // whole runs
      memcpy(gathered + r * kRun, values + (run + r) * step * kRun, kRun * sizeof(float));
    const Bins bins(step == 1 ? values + run * kRun : gathered, size, per_unit,
                    static_cast<int32_t>(first_), static_cast<int32_t>(counts_.size()));
    for (size_t i = 0; i < size; ++i) ++counts[static_cast<size_t>(bins.of[i])];
    zeros_ += bins.zeros;
    total_ += size - bins.bad;
  }
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += counts[i];
}

double Histogram::limited(double x) const {
  return std::clamp(x, static_cast<double>(extent_.lo), static_cast<double>(extent_.hi));
}

size_t Histogram::nearest_edge(double x) const {
  const double at = std::nearbyint(x / width_) - first_;
  return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(bins())));
}

}  // namespace qrt::quantize
