// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

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

// Exchanges work->model for a model with other weights, and prepares anew what depends on it.
Status exchange(Work* work, FloatModel* other) {
  std::swap(work->model, *other);
  QRT_TRY(work->interpreter.create(work->model, work->settings.threads));
  return make_placement(work);
}

// A fit's parameters as a rung has changed them, and the rules of the codings that the rung chose.
struct Changed {
  Parameters parameters;
  std::map<std::string, Rule> rules;
};
using Change = std::function<Status(const Fit&, Changed*)>;

void take(Changed changed, Fit* fit) {
  fit->parameters = std::move(changed.parameters);
  for (const auto& [root, rule] : changed.rules) fit->rules[root] = rule;
}

Status judge_all(Work* work, Judgement* judgement) {
  for (const Fit* fit : work->judges())
    QRT_TRY(judge(work, fit->parameters, fit->judged, judgement));
  return {};
}

void report_rung(Work* work, const char* rung, const Judgement& before, const Judgement& after,
                 const Verdict& verdict) {
  work->findings().rungs.push_back(rung_finding(*work, rung, before, after, verdict));
}

// Keeps what a rung changes where its judges say that it helps.
Status try_rung(Work* work, const char* rung, const Change& change, Judgement* judgement) {
  std::vector<Changed> changed;
  Judgement after;
  for (const Fit* fit : work->judges()) {
    changed.push_back({fit->parameters, {}});
    QRT_TRY(change(*fit, &changed.back()));
    QRT_TRY(judge(work, changed.back().parameters, fit->judged, &after));
  }
  const Verdict verdict = quantize::verdict(work->model.outputs, *judgement, after);
  report_rung(work, rung, *judgement, after, verdict);
  if (!verdict.is_kept) return {};
  const std::vector<Fit*> judges = work->judges();
  for (size_t i = 0; i < judges.size(); ++i) take(std::move(changed[i]), judges[i]);
  *judgement = std::move(after);
  if (work->folds.empty()) return {};
  Changed own = {work->fit.parameters, {}};
  QRT_TRY(change(work->fit, &own));
  take(std::move(own), &work->fit);
  return {};
}

Status try_walk(Work* work, Sweep::Work what, bool chooses, Judgement* judgement) {
  const auto walk = [&](const Fit& fit, Changed* changed) {
    what.choices = chooses ? &fit.choices : nullptr;
    Sweep sweep(work->model, work->placement, work->scheme, &work->interpreter);
    Status status =
        sweep.run(work->samples.get(), fit.used, what, work->progress, &changed->parameters);
    changed->rules = sweep.rules();
    return status;
  };
  return try_rung(work, what.name, walk, judgement);
}

Status try_search(Work* work, Judgement* judgement) {
  const auto search = [&](const Fit& fit, Changed* changed) {
    return search_codings(work, fit, &changed->parameters, &changed->rules);
  };
  return try_rung(work, "search", search, judgement);
}

// Tries the same function with channels of like size.
Status try_equalised(Work* work, Judgement* judgement) {
  if (!work->given.empty()) return {};  // they are ranges of the model as it is
  FloatModel other = work->model;
  int changed = 0;
  QRT_TRY(equalise(EqualiseOptions(), &other, &changed));
  if (changed == 0) return {};
  // Ranges of few samples are compared with ranges of as few.
  Fit fit = work->fit;
  std::vector<Fit> folds = work->folds;
  const bool has_more = work->fit.used.size() >= 2 * kMostTrial;
  Judgement before = *judgement, after;
  if (has_more) {
    before = Judgement();
    QRT_TRY(start(work, kMostTrial));
    QRT_TRY(judge_all(work, &before));
  }
  QRT_TRY(exchange(work, &other));
  QRT_TRY(start(work, kMostTrial));
  QRT_TRY(judge_all(work, &after));
  const double enough = work->scheme.per_channel ? kMuchBetter : 1;
  Verdict verdict = quantize::verdict(work->model.outputs, before, after, enough);
  if (verdict.is_kept && has_more) {  // ranges of all samples may tell otherwise
    QRT_TRY(start(work));
    after = Judgement();
    QRT_TRY(judge_all(work, &after));
    before = *judgement;
    verdict = quantize::verdict(work->model.outputs, before, after, enough);
  }
  report_rung(work, "equalisation", before, after, verdict);
  if (!verdict.is_kept) {
    work->fit = std::move(fit);
    work->folds = std::move(folds);
    return exchange(work, &other);
  }
  work->is_equalised = true;
  *judgement = std::move(after);
  return {};
}

// Results without the ladder, by which each end of it is measured.
struct Plain {
  const char* name;
  Judgement judgement;
  bool is_whole = false;  // all values seen are within the ranges
};

void use_whole_ranges(Work* work) {
  std::vector<Fit*> fits = {&work->fit};
  for (Fit& fold : work->folds) fits.push_back(&fold);
  for (Fit* fit : fits) {
    fit->parameters = plain_parameters(*work, *fit);
    for (auto& [root, rule] : fit->rules)
      if (rule != Rule::kGiven) rule = Rule::kMinMax;
  }
}

// Puts a result without the ladder in the place of one that is worse.
Status fall_back(Work* work, const Plain& plain, const Judgement& judgement) {
  report_rung(work, plain.name, judgement, plain.judgement,
              {true, "the steps above end with less than this result without them"});
  if (work->is_equalised && work->given.empty()) {
    QRT_TRY(read_again(work));
    QRT_TRY(make_placement(work));
    work->is_equalised = false;
  }
  QRT_TRY(start(work));
  if (plain.is_whole) use_whole_ranges(work);
  return {};
}

Status try_all(Work* work) {
  Plain none = {"no ladder", {}, false}, whole = {"min-max", {}, true};
  QRT_TRY(judge_all(work, &none.judgement));
  for (const Fit* fit : work->judges())
    QRT_TRY(judge(work, plain_parameters(*work, *fit), fit->judged, &whole.judgement));
  Judgement now = none.judgement;
  QRT_TRY(try_equalised(work, &now));
  QRT_TRY(try_walk(work, {"ranges", nullptr, false, false}, true, &now));
  if (work->settings.ladder == Ladder::kFull) QRT_TRY(try_search(work, &now));
  QRT_TRY(try_walk(work, {"weight rounding", nullptr, true, false}, false, &now));
  QRT_TRY(try_walk(work, {"bias correction", nullptr, false, true}, false, &now));
  const auto quality = [](const Plain* p) {
    return p->judgement.worst_decibels() + p->judgement.mean_decibels();
  };
  const Plain* better = quality(&whole) > quality(&none) ? &whole : &none;
  const bool is_no_worse_than_both =
      is_no_worse(now, none.judgement) && is_no_worse(now, whole.judgement);
  const bool is_better = now.worst_decibels() + now.mean_decibels() >= quality(better);
  return is_no_worse_than_both || is_better ? Status() : fall_back(work, *better, now);
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
                         const Judgement& after, const Verdict& verdict) {
  RungFinding finding = {name, before.noise(), after.noise(), verdict.is_kept};
  finding.why = verdict.why;
  for (size_t i = 0; i < after.outputs().size(); ++i)
    finding.outputs.push_back(
        {work.model.outputs[i].name, before.outputs()[i].noise(), after.outputs()[i].noise()});
  return finding;
}

Status equalise_as_saved(Work* work) {
  int changed = 0;
  QRT_TRY(equalise(EqualiseOptions(), &work->model, &changed));
  work->is_equalised = changed > 0;
  return work->interpreter.create(work->model, work->settings.threads);
}

Status climb(Work* work) {
  const Ladder ladder = work->settings.ladder;
  if (ladder == Ladder::kMinMax) use_whole_ranges(work);
  if (ladder == Ladder::kFast || ladder == Ladder::kFull) QRT_TRY(try_all(work));
  const Settings& s = work->settings;
  const bool is_asked = s.max_drop >= 0 || s.max_loss >= 0 || s.min_sqnr > 0;
  return is_asked ? promote(work) : Status();
}

}  // namespace qrt::quantize
