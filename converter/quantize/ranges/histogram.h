// What is known of a tensor's values after two passes over the samples: extent first, then counts
// in bins between its ends. The memory does not depend on the number of samples.
#ifndef QRT_CONVERTER_QUANTIZE_RANGES_HISTOGRAM_H_
#define QRT_CONVERTER_QUANTIZE_RANGES_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qrt::quantize {

// First pass.
struct Extent {
  float lo = 0, hi = 0;       // of the finite values, zero included
  float least = 0, most = 0;  // the same without zero, where there are any
  uint64_t count = 0;         // of all values
  uint64_t bad = 0;           // NaN and infinity: in nothing else here

  void add(const float* values, size_t n);
};

// Second pass.
class Histogram {
 public:
  static constexpr size_t kBins = 2048;

  Histogram() = default;
  explicit Histogram(const Extent& extent);

  void add(const float* values, size_t n);

  bool is_empty() const { return counts_.empty(); }
  float lo() const { return lo_; }
  float hi() const { return hi_; }
  double width() const { return width_; }  // of a bin
  double middle(size_t bin) const {
    return static_cast<double>(lo_) + (static_cast<double>(bin) + 0.5) * width_;
  }
  // Exact zeros, which every coding keeps, are counted apart.
  const std::vector<uint64_t>& counts() const { return counts_; }
  uint64_t zeros() const { return zeros_; }
  uint64_t total() const { return total_; }  // zeros included
  double sum_of_squares() const;

 private:
  float lo_ = 0, hi_ = 0;
  double width_ = 0;
  std::vector<uint64_t> counts_;
  uint64_t zeros_ = 0, total_ = 0;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_RANGES_HISTOGRAM_H_
