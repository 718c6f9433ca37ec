// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/float/equalise.h"
#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

// Rungs of the ladder are judged on so many samples at most.
constexpr size_t kMostJudged = 512;
// Outputs of the float model that are kept for the next rung, in bytes.
constexpr size_t kMostKept = 16 << 20;
// The number of samples whose ranges tell whether equalised channels are better.
constexpr size_t kMostTrial = 32;
// Equalisation is for tensors whose channels are far apart, where every channel of the weights has its
// own scale: elsewhere its gain on few samples is chance.
constexpr double kMuchBetter = 0.8;

// The model with other weights in place of work->model, with all that hangs on it.
Status exchange(Work* work, FloatModel* other) {
  std::swap(work->model, *other);
  QRT_TRY(work->interpreter.create(work->model, work->settings.threads));
  return make_placement(work);
}

// Parameters that a rung has changed, and the rules of the codings that it chose: kept if the held-out
// samples say that it helped.
Status keep_if_better(Work* work, const char* rung, Parameters changed,
                      const std::map<std::string, Rule>& rules, Judgement* judgement) {
  Judgement after;
  QRT_TRY(judge(work, changed, work->held_out, &after));
  const bool is_kept = after.noise() < judgement->noise();
  work->findings().rungs.push_back(rung_finding(*work, rung, *judgement, after, is_kept));
  if (!is_kept) return {};
  work->parameters = std::move(changed);
  *judgement = after;
  for (const auto& [root, rule] : rules) work->rules[root] = rule;
  return {};
}

Status try_walk(Work* work, const Sweep::Work& what, Judgement* judgement) {
  Parameters changed = work->parameters;
  Sweep walk(work->model, work->placement, work->scheme, &work->interpreter);
  QRT_TRY(walk.run(work->samples.get(), work->used, what, work->progress, &changed));
  return keep_if_better(work, what.name, std::move(changed), walk.rules(), judgement);
}

Status try_search(Work* work, Judgement* judgement) {
  Parameters changed = work->parameters;
  std::map<std::string, Rule> rules;
  QRT_TRY(search_codings(work, &changed, &rules));
  return keep_if_better(work, "search", std::move(changed), rules, judgement);
}

}  // namespace

Status real_outputs(Work* work, size_t sample, const Values& feeds, Values* made,
                    const Values** outputs) {
  const auto known = work->judged.find(sample);
  if (known != work->judged.end()) {
    *outputs = &known->second;
    return {};
  }
  QRT_TRY(work->interpreter.run(feeds, nullptr, made));
  *outputs = made;
  size_t bytes = 0;
  for (const auto& [name, t] : *made)
    bytes += t.reals.size() * sizeof(float) + t.integers.size() * sizeof(int64_t);
  if (work->judged_bytes + bytes > kMostKept) return {};
  work->judged_bytes += bytes;
  *outputs = &(work->judged[sample] = std::move(*made));
  return {};
}

Status judge(Work* work, const Parameters& parameters, const std::vector<size_t>& which,
             Judgement* judgement, Cost* cost) {
  Document document;
  Conversion conversion;
  QRT_TRY(convert_parameters(*work, parameters, &document, &conversion));
  if (cost != nullptr) QRT_TRY(cost_of(conversion.bytes, cost));
  IntegerRunner integers;
  QRT_TRY(integers.create(conversion.bytes, static_cast<size_t>(work->settings.threads)));
  for (size_t i = 0; i < std::min(which.size(), kMostJudged); ++i) {
    Values feeds, got;
    QRT_TRY(work->samples->read(which[i], &feeds));
    QRT_TRY(integers.run(feeds, &got));
    Values made;
    const Values* real;
    QRT_TRY(real_outputs(work, which[i], feeds, &made, &real));
    judgement->add(work->model.outputs, *real, got, work->label(which[i]));
  }
  return {};
}

RungFinding rung_finding(const Work& work, const char* name, const Judgement& before,
                         const Judgement& after, bool is_kept) {
  RungFinding finding = {name, before.noise(), after.noise(), is_kept};
  for (size_t i = 0; i < after.outputs().size(); ++i)
    finding.outputs.push_back(
        {work.model.outputs[i].name, before.outputs()[i].noise(), after.outputs()[i].noise()});
  return finding;
}

// Tries the same function with channels of like size, and takes it if it is nearer to the float model when quantised.
Status try_equalised(Work* work) {
  FloatModel other = work->model;
  int changed = 0;
  QRT_TRY(equalise(EqualiseOptions(), &other, &changed));
  if (changed == 0) return {};
  const size_t step = std::max<size_t>(work->used.size() / kMostTrial, 1);
  std::vector<size_t> trial;
  for (size_t i = 0; i < work->used.size() && trial.size() < kMostTrial; i += step)
    trial.push_back(work->used[i]);
  Judgement before, after;
  QRT_TRY(start(work, trial));
  QRT_TRY(judge(work, work->parameters, work->held_out, &before));
  QRT_TRY(exchange(work, &other));
  QRT_TRY(start(work, trial));
  QRT_TRY(judge(work, work->parameters, work->held_out, &after));
  const double enough = work->scheme.per_channel ? kMuchBetter : 1;
  const bool is_kept = after.noise() < enough * before.noise();
  work->findings().rungs.push_back(rung_finding(*work, "equalisation", before, after, is_kept));
  return is_kept ? Status() : exchange(work, &other);
}

Status climb(Work* work) {
  if (work->settings.ladder != Ladder::kNone) {
    Judgement judgement;
    QRT_TRY(judge(work, work->parameters, work->held_out, &judgement));
    QRT_TRY(try_walk(work, {"ranges", &work->choices, false, false}, &judgement));
    if (work->settings.ladder == Ladder::kFull) QRT_TRY(try_search(work, &judgement));
    QRT_TRY(try_walk(work, {"weight rounding", nullptr, true, false}, &judgement));
    QRT_TRY(try_walk(work, {"bias correction", nullptr, false, true}, &judgement));
  }
  return work->settings.max_drop < 0 ? Status() : promote(work);
}

}  // namespace qrt::quantize
