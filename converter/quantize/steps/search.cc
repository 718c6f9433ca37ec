// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/ladder/simulation.h"
#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

// Codings are compared on so many samples, evenly taken.
constexpr size_t kMostCompared = 16;

struct Sample {
  Values feeds, real;  // and what the float model makes of them
};

Status load(Work* work, const std::vector<size_t>& which, std::vector<Sample>* samples) {
  const size_t n = std::min(which.size(), kMostCompared);
  for (size_t i = 0; i < n; ++i) {
    Sample s;
    QRT_TRY(work->samples->read(which[i * which.size() / n], &s.feeds));
    QRT_TRY(work->interpreter.run(s.feeds, nullptr, &s.real));
    samples->push_back(std::move(s));
  }
  return {};
}

Status error_of(Work* work, const Parameters& parameters, const std::vector<Sample>& samples,
                double* error) {
  Simulation simulation(work->model, work->placement, parameters, &work->interpreter, {});
  Judgement judgement;
  for (const Sample& s : samples) {
    Values got;
    QRT_TRY(simulation.run(s.feeds, &got));
    judgement.add(work->model.outputs, s.real, got, -1);
  }
  *error = judgement.noise();
  return {};
}

// Returns the codings to try in place of `now`: where scales are powers of two, half and twice its scale, elsewhere
// what the rules have chosen. A coding of 16 bits has none, as no sample asks for its headroom.
std::vector<Coding> others(const Work& work, const std::vector<RangeChoice>& choices,
                           const Coding& now) {
  std::vector<Coding> result;
  if (now.bits > 8) return result;
  if (work.scheme.power_of_two) {
    for (const float factor : {0.5f, 2.0f}) {
      result.push_back(now);
      result.back().scale = allowed_scale(work.scheme, now.scale * factor);
    }
  } else {
    for (const RangeChoice& c : choices) result.push_back(c.coding);
  }
  result.erase(std::remove(result.begin(), result.end(), now), result.end());
  return result;
}

// Weights and biases for another coding of what their layers read.
void recode(const Work& work, const std::string& root, const Coding& coding,
            Parameters* parameters) {
  parameters->codings[root] = coding;
  for (const Layer& layer : work.placement.layers)
    if (work.placement.is_coded(layer.input) && work.placement.coded.at(layer.input) == root)
      quantise_layer(work.model, layer, work.scheme, coding, parameters);
}

}  // namespace

Status search_codings(Work* work, const Fit& fit, Parameters* parameters,
                      std::map<std::string, Rule>* rules) {
  std::vector<Sample> samples;
  QRT_TRY(load(work, fit.used, &samples));
  double least;
  QRT_TRY(error_of(work, *parameters, samples, &least));
  size_t done = 0;
  for (const auto& [root, choices] : fit.choices) {
    work->progress("search", static_cast<double>(done++) / static_cast<double>(fit.choices.size()));
    for (const Coding& coding : others(*work, choices, parameters->codings.at(root))) {
      Parameters changed = *parameters;
      recode(*work, root, coding, &changed);
      double error;
      QRT_TRY(error_of(work, changed, samples, &error));
      if (error >= least) continue;
      least = error;
      *parameters = std::move(changed);
      (*rules)[root] = Rule::kSearch;
    }
  }
  return {};
}

}  // namespace qrt::quantize
