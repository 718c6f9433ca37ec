// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/ladder/verdict.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "converter/quantize/report/format.h"

namespace qrt::quantize {
namespace {

// No output and no tenth of the samples may lose more dB than this.
constexpr double kMostLost = 1;
// Results that differ by fewer dB count as equal.
constexpr double kChance = 0.1;

// Returns the error of each sample, every output's relative to its size in all samples.
std::vector<double> sample_errors(const Judgement& judgement) {
  std::vector<double> errors;
  for (const std::vector<Squares>& outputs : judgement.samples()) {
    double sum = 0;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const double signal = judgement.outputs()[k].squares().signal;
      sum += signal > 0 ? outputs[k].noise / signal : outputs[k].noise;
    }
    errors.push_back(sum);
  }
  return errors;
}

// Part k of `groups` of the errors in their order, or each alone where there are fewer.
double sum_of_group(const std::vector<double>& sorted, size_t k, size_t groups) {
  double sum = 0;
  for (size_t i = k * sorted.size() / groups; i < (k + 1) * sorted.size() / groups; ++i)
    sum += sorted[i];
  return sum;
}

std::string worst_loss_of_samples(std::vector<double> before, std::vector<double> after) {
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  const size_t groups = std::min<size_t>(before.size(), 10);
  double worst = kMostLost;
  std::string why;
  for (size_t k = 0; k < groups; ++k) {
    const double lost =
        decibels_between(sum_of_group(after, k, groups), sum_of_group(before, k, groups));
    if (lost <= worst) continue;
    worst = lost;
    why = format("part %zu of %zu of the samples, by their error, loses %.1f dB", k + 1, groups,
                 lost);
  }
  return why;
}

std::string worst_loss_of_outputs(const std::vector<Value>& outputs, const Judgement& before,
                                  const Judgement& after) {
  double worst = kMostLost;
  std::string why;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const double lost = decibels_between(after.outputs()[k].noise(), before.outputs()[k].noise());
    if (lost <= worst) continue;
    worst = lost;
    why = format("output '%.80s' loses %.1f dB", outputs[k].name.c_str(), lost);
  }
  return why;
}

}  // namespace

Verdict verdict(const std::vector<Value>& outputs, const Judgement& before, const Judgement& after,
                double enough) {
  const std::vector<double> a = sample_errors(before), b = sample_errors(after);
  const auto n = static_cast<double>(a.size());
  double mean = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) mean += (a[i] - b[i]) / n;
  for (size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
  if (!(mean > 0)) return {false, "no gain"};
  if (a.size() < 2) return {false, "one sample tells no gain from chance"};
  const double standard_error = std::sqrt(squares / (n * (n - 1)));
  if (mean <= standard_error)
    return {false, format("the gain is %.2f of its standard error: chance", mean / standard_error)};
  if (after.noise() >= enough * before.noise())
    return {false, format("the gain is below %.1f dB", decibels_between(1, enough))};
  std::string why = worst_loss_of_outputs(outputs, before, after);
  if (why.empty()) why = worst_loss_of_samples(a, b);
  if (!why.empty()) return {false, why};
  const auto better =
      std::inner_product(a.begin(), a.end(), b.begin(), size_t{0}, std::plus<>(), std::greater<>());
  return {true, format("%zu of %zu samples gain", better, a.size())};
}

bool is_no_worse(const Judgement& now, const Judgement& other) {
  return now.worst_decibels() >= other.worst_decibels() - kChance &&
         now.mean_decibels() >= other.mean_decibels() - kChance;
}

}  // namespace qrt::quantize
