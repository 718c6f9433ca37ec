// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/ranges/rules.h"

#include <algorithm>
#include <cmath>

#include "converter/portable_math.h"

namespace qrt::quantize {
namespace {

// Prefix sums over a histogram's bins, so that the error of an interval takes no loop.
class Sums {
 public:
  explicit Sums(const Histogram& h)
      : h_(h), bins_(h.bins()), n_(bins_ + 1), x_(bins_ + 1), xx_(bins_ + 1) {
    for (size_t i = 0; i < bins_; ++i) {
      const auto c = static_cast<double>(h.counts()[i]);
      n_[i + 1] = n_[i] + c;
      x_[i + 1] = x_[i] + c * h.middle(i);
      xx_[i + 1] = xx_[i] + c * h.middle(i) * h.middle(i);
    }
  }

  // Returns the expected squared error: the squared distance to lo..hi of values outside, and a
  // twelfth of a squared step for values inside, which are rounded.
  double error(double lo, double hi, double step) const {
    const size_t a = bin(lo), b = std::max(a, bin(hi));
    const double below = xx_[a] - 2 * lo * x_[a] + lo * lo * n_[a];
    const double above =
        (xx_[bins_] - xx_[b]) - 2 * hi * (x_[bins_] - x_[b]) + hi * hi * (n_[bins_] - n_[b]);
    const double inside = (n_[b] - n_[a]) * step * step / 12;
    return std::max(below, 0.0) + std::max(above, 0.0) + inside;
  }
  double outside(double lo, double hi) const {
    const size_t a = bin(lo), b = std::max(a, bin(hi));
    return n_[a] + n_[bins_] - n_[b];
  }
  // Returns the edge below which the share `part` of the values that are not zero lies.
  size_t quantile(double part) const {
    const double want = part * n_[bins_];
    return static_cast<size_t>(std::lower_bound(n_.begin(), n_.end(), want) - n_.begin());
  }
  double count(size_t from, size_t to) const { return n_[to] - n_[from]; }

 private:
  // Returns the number of bins whose middle is below x.
  size_t bin(double x) const { return bins_ == 0 ? 0 : h_.nearest_edge(x); }

  const Histogram& h_;
  size_t bins_;
  std::vector<double> n_, x_, xx_;
};

// Returns the factor by which ranges exceed the values seen. With 8 bits the clipping of later
// values costs little beside the rounding of all values; with 16 bits it would be nearly the whole
// error.
double headroom(int bits) { return bits > 8 ? 1.25 : 1; }

double error_of(const Sums& sums, const Coding& c) {
  const double reach = 1 / headroom(c.bits);
  return sums.error(static_cast<double>(c.low()) * reach, static_cast<double>(c.high()) * reach,
                    static_cast<double>(c.scale));
}

Range percentile(const Histogram& h, const Sums& sums, double part) {
  const size_t below = std::max<size_t>(sums.quantile(1 - part), 1) - 1;
  return {static_cast<float>(std::min(h.edge(below), 0.0)),
          static_cast<float>(std::max(h.edge(sums.quantile(part)), 0.0))};
}

Range whole(const Histogram& h, int bits) {
  const auto reach = static_cast<float>(headroom(bits));
  return {h.lo() * reach, h.hi() * reach};
}

// Finds the range of least squared error: moves both ends towards zero independently, in coarse
// steps first.
Range least_squares(const Histogram& h, const Sums& sums, const Scheme& scheme, int bits) {
  const Range most = whole(h, bits);
  Range best = most;
  double least = error_of(sums, coding_for(scheme, bits, best));
  float lo_step = 0.04f, hi_step = 0.04f;
  for (int round = 0; round < 3; ++round) {
    const Range centre = best;
    const int reach = round == 0 ? 24 : 4;
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j) {
        Range r = {centre.lo - static_cast<float>(i) * lo_step * most.lo,
                   centre.hi - static_cast<float>(j) * hi_step * most.hi};
        r.lo = std::clamp(r.lo, most.lo, most.lo / 64);
        r.hi = std::clamp(r.hi, most.hi / 64, most.hi);
        const double e = error_of(sums, coding_for(scheme, bits, r));
        if (e < least) {
          least = e;
          best = r;
        }
      }
    lo_step /= 4;
    hi_step /= 4;
  }
  return best;
}

// x log x.
double times_log(double x) { return x > 0 ? x * convert::portable_log(x) : 0; }

// Kullback and Leibler's divergence between the values, clipped to an interval, and the same in as
// few steps as there are codes, each step's count spread evenly over those of its bins that are not
// empty: the sum of p log(p / q) over the bins, p a bin's count and q its share of the step's.
class Divergence {
 public:
  Divergence(const Histogram& h, const Sums& sums)
      : h_(h), sums_(sums), filled_(h.bins() + 1), p_log_p_(h.bins() + 1) {
    for (size_t i = 0; i < h.bins(); ++i) {
      filled_[i + 1] = filled_[i] + (h.counts()[i] > 0 ? 1 : 0);
      p_log_p_[i + 1] = p_log_p_[i] + times_log(static_cast<double>(h.counts()[i]));
    }
  }

  double of(size_t from, size_t to, size_t codes) const {
    const double per_code = static_cast<double>(to - from) / static_cast<double>(codes);
    double result = 0;
    for (size_t k = 0; k < codes; ++k) {
      const size_t a = from + static_cast<size_t>(static_cast<double>(k) * per_code);
      const size_t b =
          std::min(to, from + static_cast<size_t>(static_cast<double>(k + 1) * per_code));
      const double in_step = sums_.count(a, b);
      const double share = in_step > 0 ? in_step / (filled_[b] - filled_[a]) : 0;
      result += p_log_p_[b] - p_log_p_[a];
      if (in_step > 0) result -= in_step * convert::portable_log(share);
      if (k == 0) result += clipped(a, sums_.count(0, from), share);
      if (k + 1 == codes) result += clipped(b - 1, sums_.count(to, h_.bins()), share);
    }
    return result;
  }

 private:
  // Returns the change where a bin takes up `beyond` values from beyond the interval.
  double clipped(size_t bin, double beyond, double share) const {
    if (beyond <= 0) return 0;
    const auto own = static_cast<double>(h_.counts()[bin]);
    // A bin that only clipping filled has no share of the steps: as little as half a value.
    const double q = own > 0 ? share : 0.5;
    return times_log(own + beyond) - times_log(own) - beyond * convert::portable_log(q);
  }

  const Histogram& h_;
  const Sums& sums_;
  std::vector<double> filled_, p_log_p_;
};

Range least_divergence(const Histogram& h, const Sums& sums) {
  constexpr size_t kCodes = 128;  // with fewer codes the measure clips too much
  const Divergence divergence(h, sums);
  Range best = {h.lo(), h.hi()};
  double least = HUGE_VAL;
  for (int percent = 100; percent >= 20; percent -= 2) {
    const Range r = {h.lo() * static_cast<float>(percent) / 100,
                     h.hi() * static_cast<float>(percent) / 100};
    const size_t from = h.nearest_edge(static_cast<double>(r.lo));
    const size_t to = h.nearest_edge(static_cast<double>(r.hi));
    if (to < from + kCodes) break;
    const double d = divergence.of(from, to, kCodes);
    if (d < least) {
      least = d;
      best = r;
    }
  }
  return best;
}

Range range_by(Rule rule, const Histogram& h, const Sums& sums, const Scheme& scheme, int bits) {
  switch (rule) {
    case Rule::kMinMax:
    case Rule::kSearch:
    case Rule::kGiven: break;
    case Rule::kPercentile99999: return percentile(h, sums, 0.99999);
    case Rule::kPercentile9999: return percentile(h, sums, 0.9999);
    case Rule::kPercentile999: return percentile(h, sums, 0.999);
    case Rule::kSquares: return least_squares(h, sums, scheme, bits);
    case Rule::kEntropy: return least_divergence(h, sums);
  }
  return whole(h, bits);
}

}  // namespace

const char* rule_name(Rule rule) {
  switch (rule) {
    case Rule::kMinMax: break;
    case Rule::kPercentile99999: return "99.999 %";
    case Rule::kPercentile9999: return "99.99 %";
    case Rule::kPercentile999: return "99.9 %";
    case Rule::kSquares: return "mse";
    case Rule::kEntropy: return "entropy";
    case Rule::kSearch: return "search";
    case Rule::kGiven: return "given";
  }
  return "min-max";
}

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = {Rule::kMinMax,         Rule::kPercentile99999,
                                          Rule::kPercentile9999, Rule::kPercentile999,
                                          Rule::kSquares,        Rule::kEntropy};
  return rules;
}

double coding_error(const Histogram& values, const Coding& coding) {
  if (values.total() == 0) return 0;
  return error_of(Sums(values), coding) / static_cast<double>(values.total());
}

double clipped_fraction(const Histogram& values, const Coding& coding) {
  if (values.total() == 0) return 0;
  const double half = static_cast<double>(coding.scale) / 2;
  return Sums(values).outside(static_cast<double>(coding.low()) - half,
                              static_cast<double>(coding.high()) + half) /
         static_cast<double>(values.total());
}

std::vector<RangeChoice> range_choices(const Histogram& values, const Scheme& scheme, int bits) {
  std::vector<RangeChoice> result;
  const Sums sums(values);
  for (const Rule rule : all_rules()) {
    // There is nothing to clip here, so that all rules would give the same.
    if (rule != Rule::kMinMax && (values.width() <= 0 || values.total() == 0)) break;
    RangeChoice c;
    c.rule = rule;
    c.coding = coding_for(scheme, bits, range_by(rule, values, sums, scheme, bits));
    c.error = error_of(sums, c.coding) / std::max<double>(static_cast<double>(values.total()), 1);
    const auto is_known = [&](const RangeChoice& other) { return other.coding == c.coding; };
    if (std::none_of(result.begin(), result.end(), is_known)) result.push_back(c);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const RangeChoice& a, const RangeChoice& b) { return a.error < b.error; });
  // The samples themselves would never ask for headroom.
  if (bits > 8) result.resize(1);
  return result;
}

}  // namespace qrt::quantize
