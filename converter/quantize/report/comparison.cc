// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/report/comparison.h"

#include <algorithm>
#include <cmath>

#include "converter/portable_math.h"

namespace qrt::quantize {

Squares Comparison::add(const Tensor& real, const Tensor& got, int64_t label) {
  ++samples_;
  Squares own;
  const size_t n = std::min(real.reals.size(), got.reals.size());
  for (size_t i = 0; i < n; ++i) {
    const auto a = static_cast<double>(real.reals[i]), b = static_cast<double>(got.reals[i]);
    if (!std::isfinite(a)) continue;
    own.signal += a * a;
    if (!std::isfinite(b)) {
      own.noise += std::max(a * a, 1.0);  // nothing of it is left
      continue;
    }
    own.noise += (a - b) * (a - b);
    got_ += b * b;
    product_ += a * b;
  }
  squares_.signal += own.signal;
  squares_.noise += own.noise;
  if (real.shape.size() != 2 || real.shape[1] < 2 || got.reals.size() != real.reals.size())
    return own;
  classes_ = real.shape[1];
  for (int64_t row = 0; row < real.shape[0]; ++row) {
    const float* a = real.reals.data() + row * classes_;
    const float* b = got.reals.data() + row * classes_;
    const auto best = std::max_element(a, a + classes_) - a;
    const auto found = std::max_element(b, b + classes_) - b;
    const auto better = std::count_if(b, b + classes_, [&](float v) { return v > b[best]; });
    ++rows_;
    agree_ += best == found;
    agree5_ += better < 5;
    if (label < 0) continue;
    ++labelled_;
    right_ += found == label;
    float_right_ += best == label;
  }
  return own;
}

void Judgement::add(const std::vector<Value>& outputs, const std::map<std::string, Tensor>& real,
                    const std::map<std::string, Tensor>& got, int64_t label) {
  outputs_.resize(outputs.size());
  samples_.emplace_back();
  for (size_t i = 0; i < outputs.size(); ++i)
    samples_.back().push_back(
        outputs_[i].add(real.at(outputs[i].name), got.at(outputs[i].name), i == 0 ? label : -1));
}

double Judgement::noise() const {
  double sum = 0;
  for (const Comparison& c : outputs_) sum += c.noise();
  return sum / static_cast<double>(outputs_.size());
}

double Judgement::worst_decibels() const {
  double least = kMostDecibels;
  for (const Comparison& c : outputs_) least = std::min(least, decibels_between(1, c.noise()));
  return least;
}

double Judgement::mean_decibels() const {
  double sum = 0;
  for (const Comparison& c : outputs_) sum += decibels_between(1, c.noise());
  return sum / static_cast<double>(outputs_.size());
}

double decibels_between(double noise, double other) {
  constexpr double least = 1e-15;  // kMostDecibels
  return 10 / convert::portable_log(10) *
         convert::portable_log(std::max(noise, least) / std::max(other, least));
}

double Comparison::ratio() const {
  return squares_.noise > 0 ? squares_.signal / squares_.noise : HUGE_VAL;
}
double Comparison::decibels() const {
  return squares_.noise > 0 ? 10 * std::log10(ratio()) : HUGE_VAL;
}
double Comparison::cosine() const {
  return squares_.signal > 0 && got_ > 0 ? product_ / std::sqrt(squares_.signal * got_) : 0;
}

}  // namespace qrt::quantize
