// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/import/onnx/file/model.h"
#include "converter/quantize/float/refusals.h"
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
  for (const auto& [name, coding] : work.placement.kept) p.codings[name] = coding;
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

// Returns the values that a node reads and other nodes of the model write.
std::vector<std::string> values_before(const FloatModel& model, const std::string& node) {
  std::vector<std::string> values;
  for (const Node& n : model.nodes)
    for (const std::string& x : n.inputs)
      if (n.name == node && model.values.count(x) != 0) values.push_back(x);
  return values;
}

// Returns all refusals with remedies of their own, as those in the report are for those who write QuantizeLinear and options of
// qrt_convert.
Status refusals_of(const Work& work) {
  Refusals refusals;
  for (const convert::Finding& f : work.result.findings.nodes.findings())
    if (f.outcome == convert::Outcome::kRefused)
      refusals.add(f.op, f.node, f.rule, remedy_to_end_before(values_before(work.model, f.node)));
  return refusals.status();
}

// Checks that something of a model that holds quantised nodes is still float.
Status check_what_is_left(const Work& work) {
  const Placement& p = work.placement;
  const bool is_quantised =
      std::any_of(work.model.nodes.begin(), work.model.nodes.end(),
                  [](const Node& n) { return convert::from_onnx::is_quantized_op(n.op); });
  if (!is_quantised || p.coded.size() > p.kept.size() || !p.layers.empty()) return {};
  return error(Code::kUnsupported,
               "the model is quantised already, nothing of it is float: convert it by qrt_convert "
               "%s -o FILE.qrt",
               work.settings.model.c_str());
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
  if (report.has_refusals()) return refusals_of(*work);
  return check_what_is_left(*work);
}

}  // namespace qrt::quantize
