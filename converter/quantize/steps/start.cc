// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "converter/quantize/schemes/cvm.h"
#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

// Samples on which outputs are looked for that differ.
constexpr size_t kMostAlike = 8;

// A model whose output is the same for all samples has nothing to be quantised.
Status check_outputs(Work* work) {
  Values first, other;
  const size_t n = std::min(work->used.size(), kMostAlike);
  for (size_t i = 0; i < n; ++i) {
    Values feeds;
    QRT_TRY(work->samples->read(work->used[i * work->used.size() / n], &feeds));
    QRT_TRY(work->interpreter.run(feeds, nullptr, i == 0 ? &first : &other));
    for (const auto& [name, y] : other)
      if (y.reals != first[name].reals || y.integers != first[name].integers) return {};
  }
  if (work->used.size() < 2) return {};
  return error(Code::kInvalidModel,
               "the model's output does not depend on its input: it is the same for %zu "
               "samples (are they prepared as in training?)",
               n);
}

// Masks may hold infinities, weights that become integers may not.
Status check_finite(const std::string& name, const Tensor& weights) {
  for (const float v : weights.reals)
    QRT_MODEL_CHECK(std::isfinite(v), "the weights '%s' hold an infinity", name.c_str());
  return {};
}

// Codings with a zero point beside those without, least error first.
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

Status start(Work* work, const std::vector<size_t>& which) {
  QRT_TRY(calibrate(work->model, work->placement, &work->interpreter, work->samples.get(), which,
                    work->progress, &work->calibration));
  Parameters& p = work->parameters;
  p = Parameters();
  work->choices.clear();
  const std::set<std::string> with_zero_points =
      work->scheme.is_cvm ? roots_with_zero_points(work->model, work->placement)
                          : std::set<std::string>();
  for (const auto& [name, histogram] : work->calibration) {
    if (!work->placement.is_coded(name)) continue;
    auto& choices = work->choices[name] = range_choices(histogram, work->scheme, work->scheme.bits);
    if (with_zero_points.count(name) != 0) add_zero_points(*work, histogram, &choices);
    p.codings[name] = choices[0].coding;
    work->rules[name] = choices[0].rule;
  }
  const std::map<std::string, Coding> chosen = p.codings;
  fix_codings(*work, &p.codings);
  for (const auto& [name, coding] : chosen)  // one that is fixed is no choice
    if (!(p.codings[name] == coding)) work->choices.erase(name);
  for (const std::string& name : work->placement.constants)
    p.constants[name] = constant_coding(*work, name);
  for (const Layer& layer : work->placement.layers)
    for (const std::string& name : {layer.weights, layer.bias})
      if (!name.empty()) QRT_TRY(check_finite(name, *work->model.constant(name)));
  quantise_layers(work->model, work->placement, work->scheme, &p);
  return {};
}

Status check_calibration(Work* work) {
  bool any = false;
  for (const Value& input : work->model.inputs) {
    const auto known = work->calibration.find(input.name);
    any = any || known == work->calibration.end() || known->second.hi() > known->second.lo();
  }
  if (!any)
    return error(Code::kInvalidModel,
                 "--calibration: every value of every sample is 0: give samples of what the model "
                 "will see");
  return check_outputs(work);
}

}  // namespace qrt::quantize
