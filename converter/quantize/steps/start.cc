// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "converter/quantize/ranges/rare_events.h"
#include "converter/quantize/schemes/cvm.h"
#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

// The most samples whose outputs are compared.
constexpr size_t kMostAlike = 8;

// Checks that the model's output is not the same for all samples: such a model has nothing to be quantised.
Status check_outputs(Work* work) {
  Values first, other;
  const size_t n = std::min(work->fit.used.size(), kMostAlike);
  for (size_t i = 0; i < n; ++i) {
    Values feeds;
    QRT_TRY(work->samples->read(work->fit.used[i * work->fit.used.size() / n], &feeds));
    QRT_TRY(work->interpreter.run(feeds, nullptr, i == 0 ? &first : &other));
    for (const auto& [name, y] : other)
      if (y.reals != first[name].reals || y.integers != first[name].integers) return {};
  }
  if (work->fit.used.size() < 2) return {};
  return error(Code::kInvalidModel,
               "the model's output does not depend on its input: it is the same for %zu "
               "samples (are they prepared as in training?)",
               n);
}

// Checks that weights hold no infinities, since they become integers; masks may hold them.
Status check_finite(const std::string& name, const Tensor& weights) {
  for (const float v : weights.reals)
    QRT_MODEL_CHECK(std::isfinite(v), "the weights '%s' hold an infinity", name.c_str());
  return {};
}

// Adds codings with a zero point to those without, and orders all by error.
void add_zero_points(const Work& work, const Histogram& histogram,
                     std::vector<RangeChoice>* choices) {
  Scheme scheme = work.scheme;
  scheme.is_symmetric = false;
  const std::vector<RangeChoice> more = range_choices(histogram, scheme, scheme.bits);
  std::vector<RangeChoice> all(choices->size() + more.size());
  std::merge(more.begin(), more.end(), choices->begin(), choices->end(), all.begin(),
             [](const RangeChoice& a, const RangeChoice& b) { return a.error < b.error; });
  *choices = std::move(all);
}

// Observes the values of all fits in one pass over the samples.
Status observe(Work* work, size_t most) {
  std::vector<Fit*> fits = {&work->fit};
  for (Fit& fold : work->folds) fits.push_back(&fold);
  // Groups samples by the fits that use them.
  std::map<std::vector<bool>, std::vector<size_t>> parts;
  std::vector<std::set<size_t>> used;
  for (const Fit* fit : fits) used.emplace_back(fit->used.begin(), fit->used.end());
  for (size_t i = 0; i < work->samples->count(); ++i) {
    std::vector<bool> users;
    for (const std::set<size_t>& u : used) users.push_back(u.count(i) != 0);
    if (std::any_of(users.begin(), users.end(), [](bool is_used) { return is_used; }))
      parts[users].push_back(i);
  }
  const size_t step = std::max<size_t>(work->fit.used.size() / most, 1);
  std::vector<std::vector<size_t>> which;
  for (const auto& [users, all] : parts) {
    which.emplace_back();
    for (size_t i = 0; i < all.size(); i += step) which.back().push_back(all[i]);
  }
  std::vector<Calibration> observed;
  QRT_TRY(calibrate(work->model, work->placement, &work->interpreter, work->samples.get(), which,
                    work->progress, &observed));
  for (size_t f = 0; f < fits.size(); ++f) {
    fits[f]->calibration.clear();
    size_t p = 0;
    for (const auto& [users, all] : parts) {
      if (users[f]) add_calibration(observed[p], &fits[f]->calibration);
      ++p;
    }
    QRT_TRY(check_values(fits[f]->calibration));
  }
  return {};
}

// Chooses the codings for the ranges of a fit's samples, and quantises weights for them.
void choose_codings(const Work& work, Fit* fit) {
  Parameters& p = fit->parameters;
  p = Parameters();
  fit->choices.clear();
  fit->rules.clear();
  const std::set<std::string> with_zero_points =
      work.scheme.is_cvm ? roots_with_zero_points(work.model, work.placement)
                         : std::set<std::string>();
  const std::map<std::string, double> limits =
      clipping_limits(work.model, work.placement, fit->calibration);
  for (const auto& [name, histogram] : fit->calibration) {
    if (!work.placement.is_coded(name)) continue;
    const int bits = bits_of(work, name);
    if (const auto kept = work.placement.kept.find(name); kept != work.placement.kept.end()) {
      p.codings[name] = kept->second;
      fit->rules[name] = Rule::kGiven;
      continue;
    }
    if (const auto given = work.given.find(name); given != work.given.end()) {
      p.codings[name] = coding_of(given->second, work.scheme, bits);
      fit->rules[name] = Rule::kGiven;
      continue;
    }
    auto& choices = fit->choices[name] = range_choices(histogram, work.scheme, bits);
    if (with_zero_points.count(name) != 0) add_zero_points(work, histogram, &choices);
    if (const auto limit = limits.find(name); limit != limits.end())
      limit_clipping(histogram, limit->second, &choices);
    p.codings[name] = choices[0].coding;
    fit->rules[name] = choices[0].rule;
  }
  const std::map<std::string, Coding> chosen = p.codings;
  fix_codings(work, &p.codings);
  for (const auto& [name, coding] : chosen)  // a fixed coding is no choice for the search
    if (!(p.codings[name] == coding)) fit->choices.erase(name);
  for (const std::string& name : work.placement.constants)
    p.constants[name] = constant_coding(work, name);
  for (const size_t node : work.int16_weights) p.layers[node].bits = 16;
  quantise_layers(work.model, work.placement, work.scheme, &p);
}

}  // namespace

void fix_codings(const Work& work, std::map<std::string, Coding>* codings) {
  if (work.scheme.power_of_two) return;
  for (const Node& n : work.model.nodes) {
    const auto found = n.op == "Softmax" ? codings->find(n.outputs[0]) : codings->end();
    if (found == codings->end()) continue;
    Coding& coding = found->second;
    coding.zero_point = coding.lowest();
    coding.scale = std::ldexp(1.0f, -coding.bits);
  }
}

Coding constant_coding(const Work& work, const std::string& constant) {
  Extent e;
  const Tensor& t = *work.model.constant(constant);
  e.add(t.reals.data(), t.reals.size());
  return coding_for(work.scheme, work.scheme.bits, {e.lo, e.hi});
}

Parameters plain_parameters(const Work& work, const Fit& fit) {
  Parameters p = fit.parameters;
  for (const auto& [name, choices] : fit.choices)
    for (const RangeChoice& c : choices)
      if (c.rule == Rule::kMinMax) p.codings[name] = c.coding;
  Scheme scheme = work.scheme;
  scheme.whole_weights = true;
  quantise_layers(work.model, work.placement, scheme, &p);
  return p;
}

Status start(Work* work, size_t most) {
  for (const Layer& layer : work->placement.layers)
    for (const std::string& name : {layer.weights, layer.bias})
      if (!name.empty()) QRT_TRY(check_finite(name, *work->model.constant(name)));
  QRT_TRY(observe(work, most));
  choose_codings(*work, &work->fit);
  for (Fit& fold : work->folds) choose_codings(*work, &fold);
  return {};
}

Status check_calibration(Work* work) {
  bool any = false;
  for (const Value& input : work->model.inputs) {
    const auto known = work->fit.calibration.find(input.name);
    any = any || known == work->fit.calibration.end() || known->second.hi() > known->second.lo();
  }
  if (!any)
    return error(Code::kInvalidModel,
                 "--calibration: every value of every sample is 0: give samples of what the model "
                 "will see");
  return check_outputs(work);
}

}  // namespace qrt::quantize
