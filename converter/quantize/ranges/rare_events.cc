// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/ranges/rare_events.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "converter/quantize/schemes/roles.h"

namespace qrt::quantize {
namespace {

// Outputs of fewer values are no maps of places.
constexpr int64_t kLeastPlaces = 64;
// A normal distribution has a kurtosis of 3; the values of a map with few peaks have hundreds.
constexpr double kHeavyTails = 20;
// Values so many standard deviations from the mean are events.
constexpr double kFar = 4;

struct Moments {
  double mean = 0, deviation = 0, kurtosis = 0;
};

Moments moments(const Histogram& h) {
  Moments m;
  const auto n = static_cast<double>(h.total());
  for (size_t i = 0; i < h.bins(); ++i)
    m.mean += static_cast<double>(h.counts()[i]) * h.middle(i) / n;
  double second = static_cast<double>(h.zeros()) * m.mean * m.mean / n;
  double fourth = second * m.mean * m.mean;
  for (size_t i = 0; i < h.bins(); ++i) {
    const double d = (h.middle(i) - m.mean) * (h.middle(i) - m.mean);
    second += static_cast<double>(h.counts()[i]) * d / n;
    fourth += static_cast<double>(h.counts()[i]) * d * d / n;
  }
  m.deviation = std::sqrt(second);
  m.kurtosis = second > 0 ? fourth / (second * second) : 0;
  return m;
}

// The share of the values below `lo` or above `hi`.
double fraction_outside(const Histogram& h, double lo, double hi) {
  double outside = 0;
  for (size_t i = 0; i < h.bins(); ++i)
    if (h.middle(i) < lo || h.middle(i) > hi) outside += static_cast<double>(h.counts()[i]);
  return outside / static_cast<double>(h.total());
}

class Heads {
 public:
  Heads(const FloatModel& model, const Placement& placement, const Calibration& calibration)
      : model_(model), placement_(placement), calibration_(calibration), roles_(model) {
    for (size_t i = 0; i < model.nodes.size(); ++i)
      for (const std::string& y : model.nodes[i].outputs) writers_[y] = i;
  }

  std::map<std::string, double> run() {
    for (const Value& output : model_.outputs) {
      const auto value = model_.values.find(output.name);
      const int64_t places = value == model_.values.end() ? 0 : value->second.sample_elements();
      // An open length counts as enough.
      if (places >= 0 && places < kLeastPlaces) continue;
      find_rates(output.name);
    }
    return std::move(limits_);
  }

 private:
  // Finds the Sigmoids that an output holds, behind nothing but data movement; without one, the output itself.
  void find_rates(const std::string& output) {
    std::vector<std::string> open = {output};
    std::set<std::string> seen;
    bool is_sigmoid = false;
    while (!open.empty()) {
      const std::string name = open.back();
      open.pop_back();
      const auto writer = writers_.find(name);
      if (writer == writers_.end() || !seen.insert(name).second) continue;
      const Node& n = model_.nodes[writer->second];
      const Role role = roles_.of(n);
      if (n.op == "Sigmoid") {
        is_sigmoid = true;
        if (const Histogram* h = histogram(n.inputs[0]))
          limit(n.inputs[0], fraction_outside(*h, -HUGE_VAL, 0));
      } else if (role == Role::kConcat || role == Role::kMove) {
        for (size_t k = 0; k < (role == Role::kMove ? 1 : n.inputs.size()); ++k)
          open.push_back(n.inputs[k]);
      }
    }
    const Histogram* h = is_sigmoid ? nullptr : histogram(output);
    if (h == nullptr) return;
    const Moments m = moments(*h);
    if (m.kurtosis > kHeavyTails)
      limit(output, fraction_outside(*h, m.mean - kFar * m.deviation, m.mean + kFar * m.deviation));
  }
  const Histogram* histogram(const std::string& value) const {
    const auto coded = placement_.coded.find(value);
    const auto found = calibration_.find(coded == placement_.coded.end() ? value : coded->second);
    return found == calibration_.end() || found->second.total() == 0 ? nullptr : &found->second;
  }
  // Limits the rate of a value, and of all that it is computed from.
  void limit(const std::string& value, double rate) {
    std::vector<std::string> open = {value};
    std::set<std::string> seen;
    while (!open.empty()) {
      const std::string name = open.back();
      open.pop_back();
      if (!seen.insert(name).second) continue;
      if (const auto coded = placement_.coded.find(name); coded != placement_.coded.end()) {
        const auto known = limits_.emplace(coded->second, rate).first;
        known->second = std::min(known->second, rate);
      }
      if (const auto writer = writers_.find(name); writer != writers_.end())
        for (const std::string& x : model_.nodes[writer->second].inputs) open.push_back(x);
    }
  }

  const FloatModel& model_;
  const Placement& placement_;
  const Calibration& calibration_;
  const Roles roles_;
  std::map<std::string, size_t> writers_;
  std::map<std::string, double> limits_;
};

}  // namespace

std::map<std::string, double> clipping_limits(const FloatModel& model, const Placement& placement,
                                              const Calibration& calibration) {
  return Heads(model, placement, calibration).run();
}

void limit_clipping(const Histogram& values, double limit, std::vector<RangeChoice>* choices) {
  const auto clipped = [&](const RangeChoice& c) { return clipped_fraction(values, c.coding); };
  double least = HUGE_VAL;
  for (const RangeChoice& c : *choices) least = std::min(least, clipped(c));
  const double most = std::max(limit, least);
  choices->erase(std::remove_if(choices->begin(), choices->end(),
                                [&](const RangeChoice& c) { return clipped(c) > most; }),
                 choices->end());
}

}  // namespace qrt::quantize
