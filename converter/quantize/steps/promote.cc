// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/report/report.h"
#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

// Tensors are ranked on so many samples.
constexpr size_t kMostRanked = 8;

// Points that are lost.
double drop(const Comparison& c) {
  if (c.has_labels()) return (c.float_accuracy() - c.accuracy()) * 100;
  return c.is_classes() ? (1 - c.agreement()) * 100 : 0;
}

// The tensors of 8 bits whose roundings the output suffers from most, worst first.
Status rank(Work* work, std::vector<std::string>* roots) {
  std::map<std::string, double> noise;  // that is left without the tensor's rounding
  for (const auto& [root, coding] : work->parameters.codings)
    if (coding.bits == 8 && work->placement.is_coded(root)) noise[root] = 0;
  size_t done = 0;
  for (auto& [root, left] : noise) {
    work->progress("ranking", static_cast<double>(done++) / static_cast<double>(noise.size()));
    Simulation without(work->model, work->placement, work->parameters, &work->interpreter,
                       {true, true, {root}});
    Judgement c;
    for (size_t i = 0; i < std::min(work->used.size(), kMostRanked); ++i) {
      Values feeds, real, got;
      QRT_TRY(work->samples->read(work->used[i], &feeds));
      QRT_TRY(work->interpreter.run(feeds, nullptr, &real));
      QRT_TRY(without.run(feeds, &got));
      c.add(work->model.outputs, real, got, -1);
    }
    left = c.noise();
    roots->push_back(root);
  }
  std::stable_sort(roots->begin(), roots->end(),
                   [&](const std::string& a, const std::string& b) { return noise[a] < noise[b]; });
  return {};
}

Coding wide_coding(const Work& work, const std::string& root) {
  return range_choices(work.calibration.at(root), work.scheme, 16)[0].coding;
}

// Leaves a tensor alone whose readers have no form for 16 bits, or none but float's. A last product has
// one only if its result is quantised, too.
Status promote_one(Work* work, const std::string& root) {
  for (const bool with_outputs : {false, true}) {
    Parameters changed = work->parameters;
    Placement placement = work->placement;
    if (with_outputs) {
      std::set<std::string> forced = work->forced;
      for (const Value& v : work->model.outputs) forced.insert(v.name);
      placement = placed(*work, forced);
      for (const Value& v : work->model.outputs) {
        const auto coded = placement.coded.find(v.name);
        if (coded != placement.coded.end())
          changed.codings[coded->second] = wide_coding(*work, coded->second);
      }
    }
    changed.codings[root] = wide_coding(*work, root);
    Document document;
    convert::Report report;
    QRT_TRY(write_document(*work, placement, changed, &document));
    QRT_TRY(judge_document(document, work->arithmetic, &report));
    if (report.has_refusals() ||
        count_float_nodes(report) > count_float_nodes(work->findings().nodes))
      continue;
    work->parameters = std::move(changed);
    work->placement = std::move(placement);
    break;
  }
  return {};
}

}  // namespace

// Twice as many tensors each time, until the drop is met on the samples held out and as many others
// as are judged by.
Status promote(Work* work) {
  std::vector<size_t> which = work->held_out;
  which.insert(which.end(), work->used.begin(), work->used.end());
  Judgement now;
  QRT_TRY(judge(work, work->parameters, which, &now));
  if (!now.first().is_classes() && !now.first().has_labels())
    return error(Code::kInvalidArgument,
                 "--max-drop counts classes: the model's first output, '%s', is no row of classes",
                 work->output().c_str());
  if (drop(now.first()) <= work->settings.max_drop) return {};
  const Judgement before = now;
  std::vector<std::string> roots;
  QRT_TRY(rank(work, &roots));
  for (size_t n = 1, done = 0; done < roots.size() && drop(now.first()) > work->settings.max_drop;
       n *= 2) {
    for (; done < std::min(n, roots.size()); ++done) QRT_TRY(promote_one(work, roots[done]));
    now = Judgement();
    QRT_TRY(judge(work, work->parameters, which, &now));
  }
  work->findings().rungs.push_back(rung_finding(*work, "16 bits", before, now, true));
  return {};
}

Status try_wide(Work* work) {
  Findings& f = work->findings();
  if (!f.remedies.has_16_bits || work->held_out.empty()) return {};
  const Parameters parameters = work->parameters;
  const Placement placement = work->placement;
  size_t next = 0;
  for (const size_t wanted : {0, 1, 2, 4, 8}) {
    WideFinding wide = f.wide.empty() ? WideFinding() : f.wide.back();
    for (; wide.tensors.size() < wanted && next < f.tensors.size(); ++next) {
      const std::string& name = f.tensors[next].name;
      if (f.tensors[next].is_promoted) continue;
      QRT_TRY(promote_one(work, name));
      if (work->parameters.codings.at(name).bits == 16) wide.tensors.push_back(name);
    }
    if (wide.tensors.size() < wanted) break;
    work->progress("16 bits", static_cast<double>(wanted) / 8);
    Judgement judgement;
    QRT_TRY(judge(work, work->parameters, work->held_out, &judgement, &wide.cost));
    wide.noise = judgement.noise();
    f.wide.push_back(std::move(wide));
  }
  work->parameters = parameters;
  work->placement = placement;
  return {};
}

}  // namespace qrt::quantize
