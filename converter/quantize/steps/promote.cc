// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/report/format.h"
#include "converter/quantize/report/report.h"
#include "converter/quantize/steps/metric.h"
#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

// Tensors are ranked on so many samples.
constexpr size_t kMostRanked = 8;
// Weights, or activations, with a smaller part in the error are not promoted first.
constexpr double kLeastPart = 0.1;

// Points that are lost.
double drop(const Comparison& c) {
  if (c.has_labels()) return (c.float_accuracy() - c.accuracy()) * 100;
  return c.is_classes() ? (1 - c.agreement()) * 100 : 0;
}

// The judgement of one choice of parameters.
struct Trial {
  Judgement judgement;
  double loss = 0;  // what the float model has more of by the user's measure
};

Status try_parameters(Work* work, const std::vector<size_t>& which, Trial* trial) {
  QRT_TRY(judge(work, work->fit.parameters, which, &trial->judgement));
  if (work->settings.max_loss < 0) return {};
  double score;
  QRT_TRY(measure(work, &work->fit.parameters, &score));
  trial->loss = work->findings().metric.real - score;
  return {};
}

// Returns whether --max-drop, --max-loss and --min-sqnr are met, where the user gives them.
bool is_met(const Settings& settings, const Trial& trial) {
  return (settings.max_drop < 0 || drop(trial.judgement.first()) <= settings.max_drop) &&
         (settings.max_loss < 0 || trial.loss <= settings.max_loss) &&
         trial.judgement.worst_decibels() >= settings.min_sqnr;
}

// Returns whether `a` is better than `b`: by the loss, and the drop in accuracy, where the user limits them, then
// by the signal to noise ratio of the worst output.
bool is_better(const Settings& settings, const Trial& a, const Trial& b) {
  if (settings.max_loss >= 0 && a.loss != b.loss) return a.loss < b.loss;
  const double x = drop(a.judgement.first()), y = drop(b.judgement.first());
  if (settings.max_drop >= 0 && x != y) return x < y;
  return a.judgement.worst_decibels() > b.judgement.worst_decibels();
}

// A candidate for 16 bits: a tensor, named by the value whose coding others share, or the weights of a layer.
struct Candidate {
  std::string root;
  size_t layer = 0;  // where there is no root
  double noise = 0;  // noise at the outputs if its rounding is left out
};

Status noise_of(Work* work, const Simulation::Options& options, double* noise) {
  Simulation simulation(work->model, work->placement, work->fit.parameters, &work->interpreter,
                        options);
  Judgement judgement;
  for (size_t i = 0; i < std::min(work->fit.used.size(), kMostRanked); ++i) {
    Values feeds, made, got;
    const Values* real;
    QRT_TRY(work->samples->read(work->fit.used[i], &feeds));
    QRT_TRY(real_outputs(work, work->fit.used[i], feeds, &made, &real));
    QRT_TRY(simulation.run(feeds, &got));
    judgement.add(work->model.outputs, *real, got, -1);
  }
  *noise = judgement.noise();
  return {};
}

// Ranks the tensors and weights of 8 bits by how much their rounding harms the outputs, worst
// first. Those whose part in the error is small are left out.
Status rank(Work* work, std::vector<Candidate>* candidates) {
  double of_weights, of_activations;
  QRT_TRY(noise_of(work, {true, false, {}, {}}, &of_weights));
  QRT_TRY(noise_of(work, {false, true, {}, {}}, &of_activations));
  const double enough = kLeastPart * (of_weights + of_activations);
  if (of_activations >= enough)
    for (const auto& [root, coding] : work->fit.parameters.codings)
      if (coding.bits == 8 && work->placement.is_coded(root) && work->bits.count(root) == 0 &&
          work->given.count(root) == 0 && work->placement.kept.count(root) == 0)
        candidates->push_back({root, 0, 0});
  if (of_weights >= enough)
    for (const auto& [node, layer] : work->fit.parameters.layers)
      if (layer.bits == 8) candidates->push_back({"", node, 0});
  size_t done = 0;
  for (Candidate& c : *candidates) {
    work->progress("ranking",
                   static_cast<double>(done++) / static_cast<double>(candidates->size()));
    Simulation::Options options = {true, true, {}, {}};
    if (c.root.empty()) options.exact_weights.insert(c.layer);
    if (!c.root.empty()) options.exact.insert(c.root);
    QRT_TRY(noise_of(work, options, &c.noise));
  }
  std::stable_sort(candidates->begin(), candidates->end(),
                   [](const Candidate& a, const Candidate& b) { return a.noise < b.noise; });
  return {};
}

Coding int16_coding(const Work& work, const std::string& root) {
  return range_choices(work.fit.calibration.at(root), work.scheme, 16)[0].coding;
}

// Sets *taken to whether the converter accepts the parameters, with no more nodes in float than before.
Status is_taken(Work* work, const Placement& placement, const Parameters& parameters, bool* taken) {
  Document document;
  convert::Report report;
  QRT_TRY(write_document(*work, placement, parameters, &document));
  QRT_TRY(judge_document(document, work->arithmetic, &report));
  *taken = !report.has_refusals() &&
           count_float_nodes(report) <= count_float_nodes(work->findings().nodes);
  return {};
}

// Leaves a tensor alone whose readers have no form for 16 bits, or none but float's. A last product has
// one only if its result is quantised, too.
Status promote_one(Work* work, const std::string& root) {
  for (const bool with_outputs : {false, true}) {
    Parameters changed = work->fit.parameters;
    Placement placement = work->placement;
    if (with_outputs) {
      std::set<std::string> forced = work->forced;
      for (const Value& v : work->model.outputs) forced.insert(v.name);
      placement = placed(*work, forced);
      for (const Value& v : work->model.outputs) {
        const auto coded = placement.coded.find(v.name);
        if (coded != placement.coded.end())
          changed.codings[coded->second] = int16_coding(*work, coded->second);
      }
    }
    changed.codings[root] = int16_coding(*work, root);
    bool taken;
    QRT_TRY(is_taken(work, placement, changed, &taken));
    if (!taken) continue;
    work->fit.parameters = std::move(changed);
    work->placement = std::move(placement);
    break;
  }
  return {};
}

Status promote_weights(Work* work, size_t node) {
  const Layer& layer = *work->placement.layer_of(node);
  Parameters changed = work->fit.parameters;
  changed.layers.at(node).bits = 16;
  quantise_layer(work->model, layer, work->scheme, changed.coding(work->placement, layer.input),
                 &changed);
  bool taken;
  QRT_TRY(is_taken(work, work->placement, changed, &taken));
  if (taken) work->fit.parameters = std::move(changed);
  return {};
}

// Promotes all candidates at once: the operands of a sum, say, have a form for 16 bits together
// that none has alone.
Status promote_all(Work* work, const std::vector<Candidate>& candidates) {
  for (const bool with_outputs : {false, true}) {
    Parameters changed = work->fit.parameters;
    Placement placement = work->placement;
    if (with_outputs) {
      std::set<std::string> forced = work->forced;
      for (const Value& v : work->model.outputs) forced.insert(v.name);
      placement = placed(*work, forced);
      for (const Value& v : work->model.outputs)
        if (const auto coded = placement.coded.find(v.name); coded != placement.coded.end())
          changed.codings[coded->second] = int16_coding(*work, coded->second);
    }
    for (const Candidate& c : candidates)
      if (!c.root.empty()) changed.codings[c.root] = int16_coding(*work, c.root);
    for (const Candidate& c : candidates) {
      if (!c.root.empty()) continue;
      const Layer& layer = *placement.layer_of(c.layer);
      changed.layers.at(c.layer).bits = 16;
      quantise_layer(work->model, layer, work->scheme, changed.coding(placement, layer.input),
                     &changed);
    }
    bool taken;
    QRT_TRY(is_taken(work, placement, changed, &taken));
    if (!taken) continue;
    work->fit.parameters = std::move(changed);
    work->placement = std::move(placement);
    break;
  }
  return {};
}

}  // namespace

// Promotes twice as many tensors each time, until the user's limit is met on the held-out samples and
// on as many others as are judged by. The best of these steps stays, if it is better than 8 bits.
Status promote(Work* work) {
  const Settings& settings = work->settings;
  std::vector<size_t> which = work->fit.judged;
  which.insert(which.end(), work->fit.used.begin(), work->fit.used.end());
  Trial before;
  QRT_TRY(try_parameters(work, which, &before));
  const Comparison& first = before.judgement.first();
  const bool counts_classes = has_classes(*work) && (first.is_classes() || first.has_labels());
  if (settings.max_drop >= 0 && !counts_classes)
    return error(Code::kInvalidArgument,
                 "--max-drop counts classes: the model's first output, '%s', is no row of classes; "
                 "--min-sqnr counts decibels, --max-loss by a program of yours (--metric)",
                 work->output().c_str());
  if (is_met(settings, before)) return {};
  std::vector<Candidate> candidates;
  QRT_TRY(rank(work, &candidates));
  Parameters parameters = work->fit.parameters;
  Placement placement = work->placement;
  Trial best = before;
  size_t with_int16 = 0;
  bool is_done = false;
  for (size_t n = 1, done = 0; done < candidates.size() && !is_done; n *= 2) {
    for (; done < std::min(n, candidates.size()); ++done) {
      const Candidate& c = candidates[done];
      QRT_TRY(c.root.empty() ? promote_weights(work, c.layer) : promote_one(work, c.root));
    }
    if (done == candidates.size()) QRT_TRY(promote_all(work, candidates));
    Trial now;
    QRT_TRY(try_parameters(work, which, &now));
    is_done = is_met(settings, now);
    if (!is_better(settings, now, best)) continue;
    best = now;
    with_int16 = done;
    parameters = work->fit.parameters;
    placement = work->placement;
  }
  work->fit.parameters = std::move(parameters);
  work->placement = std::move(placement);
  size_t layers = 0;
  for (const auto& [node, layer] : work->fit.parameters.layers) layers += layer.bits == 16;
  const Verdict verdict = {
      with_int16 > 0,
      with_int16 > 0 ? format("%zu tried, among them the weights of %zu layers", with_int16, layers)
                     : std::string("no gain")};
  work->findings().rungs.push_back(
      rung_finding(*work, "16 bits", before.judgement, best.judgement, verdict));
  return {};
}

Status try_int16(Work* work) {
  Findings& f = work->findings();
  if (!f.remedies.has_16_bits || work->fit.judged.empty()) return {};
  const Parameters parameters = work->fit.parameters;
  const Placement placement = work->placement;
  size_t next = 0;
  for (const size_t wanted : {0, 1, 2, 4, 8}) {
    Int16Finding with_int16 = f.with_int16.empty() ? Int16Finding() : f.with_int16.back();
    for (; with_int16.tensors.size() < wanted && next < f.tensors.size(); ++next) {
      const std::string& name = f.tensors[next].name;
      if (f.tensors[next].is_promoted) continue;
      QRT_TRY(promote_one(work, name));
      if (work->fit.parameters.codings.at(name).bits == 16) with_int16.tensors.push_back(name);
    }
    if (with_int16.tensors.size() < wanted) break;
    work->progress("16 bits", static_cast<double>(wanted) / 8);
    Judgement judgement;
    QRT_TRY(judge(work, work->fit.parameters, work->fit.judged, &judgement, &with_int16.cost));
    with_int16.noise = judgement.noise();
    f.with_int16.push_back(std::move(with_int16));
  }
  work->fit.parameters = parameters;
  work->placement = placement;
  return {};
}

}  // namespace qrt::quantize
