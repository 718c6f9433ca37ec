// SPDX-License-Identifier: Apache-2.0
// The distribution of a tensor's values after one pass over the samples: their extent, and counts in bins
// that grow with it. The memory does not depend on the number of samples, nor the counts on their order.
#ifndef QRT_CONVERTER_QUANTIZE_RANGES_HISTOGRAM_H_
#define QRT_CONVERTER_QUANTIZE_RANGES_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qrt::quantize {

struct Extent {
  float lo = 0, hi = 0;       // range of the finite values, zero included
  float least = 0, most = 0;  // range of the finite values alone, where there are any
  uint64_t count = 0;         // number of all values
  uint64_t bad = 0;           // NaN and infinite values, which count for nothing else here

  void add(const float* values, size_t n);
  void add(const Extent& other);
};

// A bin holds x with floor(x / width) = first + bin. The width is the least power of two with which no
// more than kMostBins hold the extent, so that there are more than half as many. It only grows, and then
// bins become one without their values: 2^n bins of width w are one of width 2^n w.
class Histogram {
 public:
  static constexpr size_t kMostBins = 4096;

  void add(const float* values, size_t n);
  // Adds what `other` has counted, as if its values had been added one by one.
  void add(const Histogram& other);

  const Extent& extent() const { return extent_; }
  float lo() const { return extent_.lo; }
  float hi() const { return extent_.hi; }
  size_t bins() const { return counts_.size(); }  // 0: no value but zeros
  double width() const { return counts_.empty() ? 0 : width_; }
  // Returns the lower edge of bin `i`, within the extent; edge(bins()) is its end.
  double edge(size_t i) const { return limited((first_ + static_cast<double>(i)) * width_); }
  double middle(size_t i) const { return (edge(i) + edge(i + 1)) / 2; }
  // Returns the edge that is nearest to x.
  size_t nearest_edge(double x) const;
  // Returns the counts, in which exact zeros are left out: every coding keeps them.
  const std::vector<uint64_t>& counts() const { return counts_; }
  uint64_t zeros() const { return zeros_; }
  uint64_t total() const { return total_; }  // zeros included

 private:
  double limited(double x) const;
  void cover_extent();
  void add_bins(const std::vector<uint64_t>& counts, double first, double width);
  void count(const float* values, size_t runs, size_t step, size_t n);

  Extent extent_;
  double width_ = 0, first_ = 0;  // first_: a whole number
  std::vector<uint64_t> counts_;
  uint64_t zeros_ = 0, total_ = 0;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_RANGES_HISTOGRAM_H_
