// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/schemes/espdl.h"
#include "converter/quantize/steps/work.h"

namespace qrt::quantize {
namespace {

constexpr int kMostRounds = 4;

// Codings without samples, to ask the converter what it would make of each node.
Parameters neutral_parameters(const Work& work) {
  Parameters p;
  for (const auto& [name, root] : work.placement.coded)
    if (name == root) p.codings[name] = coding_for(work.scheme, bits_of(work, name), {-4, 4});
  fix_codings(work, &p.codings);
  for (const std::string& name : work.placement.constants)
    p.constants[name] = constant_coding(work, name);
  for (const size_t node : work.int16_weights) p.layers[node].bits = 16;
  quantise_layers(work.model, work.placement, work.scheme, &p);
  return p;
}

Status judge_placement(Work* work) {
  Document document;
  QRT_TRY(write_document(*work, work->placement, neutral_parameters(*work), &document));
  return judge_document(document, work->arithmetic, &work->findings().nodes);
}

std::set<std::string> refused_nodes(const convert::Report& report) {
  std::set<std::string> refused;
  for (const convert::Finding& f : report.findings())
    if (f.outcome == convert::Outcome::kRefused) refused.insert(f.node);
  return refused;
}

// Forces the quantisation of all values that a node reads or writes.
void force(const FloatModel& model, const Node& node, std::set<std::string>* forced) {
  for (const auto* names : {&node.inputs, &node.outputs})
    for (const std::string& name : *names)
      if (!name.empty() && !model.constant(name)) forced->insert(name);
}

// Places quantisation and lets the converter judge it: nodes that it refuses get quantisation on
// all sides, and are judged again.
Status place_and_judge(Work* work) {
  work->forced.clear();
  if (!work->arithmetic.espdl.empty())  // ESP-DL has no float at the edges
    for (const Value& v : work->model.outputs) work->forced.insert(v.name);
  for (int round = 0; round < kMostRounds; ++round) {
    work->placement = placed(*work, work->forced);
    QRT_TRY(find_overrides(work));
    QRT_TRY(judge_placement(work));
    const size_t before = work->forced.size();
    const std::set<std::string> refused = refused_nodes(work->findings().nodes);
    for (size_t i = 0; i < work->model.nodes.size(); ++i)
      if (work->placement.float_nodes.count(i) == 0 &&
          refused.count(work->model.nodes[i].name) != 0)
        force(work->model, work->model.nodes[i], &work->forced);
    if (work->forced.size() == before) break;
  }
  return {};
}

std::string first_refusal(const convert::Report& report) {
  for (const convert::Finding& f : report.findings())
    if (f.outcome == convert::Outcome::kRefused) return f.node + " (" + f.op + "): " + f.rule;
  return "";
}

}  // namespace

Placement placed(const Work& work, const std::set<std::string>& forced) {
  Placement placement = place(work.model, forced, work.excluded);
  if (work.scheme.power_of_two) share_codings_of_sums(work.model, &placement);
  return placement;
}

Status make_placement(Work* work) {
  const convert::Report& report = work->findings().nodes;
  const bool is_espdl = work->scheme.power_of_two;
  work->arithmetic = {is_espdl ? kEspdlReference : "", false};
  QRT_TRY(find_excluded(work));
  QRT_TRY(place_and_judge(work));
  if (report.has_refusals() && is_espdl) {
    work->findings().why_onnx = first_refusal(report);
    work->arithmetic.espdl.clear();
    QRT_TRY(place_and_judge(work));
  }
  if (report.has_refusals()) {
    work->arithmetic.allow_float = true;
    QRT_TRY(judge_placement(work));
  }
  if (!report.has_refusals()) return {};
  // Builds a message of its own, as the remedies in the report are for those who write
  // QuantizeLinear and options of qrt_convert.
  std::string refused;
  for (const convert::Finding& f : report.findings())
    if (f.outcome == convert::Outcome::kRefused)
      refused += "\n  " + f.node + " (" + f.op + "): " + f.rule;
  return error(
      Code::kUnsupported,
      "%s, and have no float form either: keep them outside the model, and quantise what is before "
      "and behind them%s",
      report.refusals().c_str(), refused.c_str());
}

}  // namespace qrt::quantize
