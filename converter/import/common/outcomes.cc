// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/outcomes.h"

#include <cmath>

namespace qrt::convert {

void Outcomes::add_node(std::string label, std::string op) {
  nodes_.emplace_back();
  nodes_.back().label = std::move(label);
  nodes_.back().op = std::move(op);
}

void Outcomes::became(int node, const std::string& result, const std::string& level) {
  at(node).result = result;
  at(node).level = level;
}

void Outcomes::refuse(int node, const std::string& rule, const std::string& tensor,
                      const std::string& remedy) {
  NodeOutcome& outcome = at(node);
  if (!outcome.rule.empty()) return;
  outcome.rule = rule;
  outcome.tensor = tensor;
  outcome.remedy = remedy;
}

void Outcomes::depends_on(int node, const std::string& origin) {
  skip(node, "depends on " + origin);
}

void Outcomes::skip(int node, const std::string& why) { at(node).skipped = why; }

void Outcomes::forget(int node) {
  NodeOutcome fresh;
  fresh.label = at(node).label;
  fresh.op = at(node).op;
  at(node) = std::move(fresh);
}

void Outcomes::add_remedy(int node, const std::string& remedy) { at(node).remedy += remedy; }

void Outcomes::refuse_outside(const char* kind, const std::string& name, const std::string& rule,
                              const std::string& remedy) {
  report_->refused_in_file(name, kind, rule, remedy);
}

void Outcomes::note_scales(int node, const std::string& tensor, const std::vector<float>& scales) {
  for (float s : scales) {
    if (std::isnormal(s) && s > 0) continue;
    report_->note_scale({at(node).label, at(node).op, tensor, s});
    return;
  }
}

void Outcomes::note_scales_once(int node, const std::string& tensor,
                                const std::vector<float>& scales) {
  if (noted_.insert(tensor).second) note_scales(node, tensor, scales);
}

const std::string& Outcomes::origin(const std::string& tensor) const {
  static const std::string none;
  const auto found = origins_.find(tensor);
  return found == origins_.end() ? none : found->second;
}

void Outcomes::set_origin(const std::string& tensor, const std::string& origin) {
  if (origin.empty())
    origins_.erase(tensor);
  else
    origins_[tensor] = origin;
}

void Outcomes::write(size_t nodes) {
  for (size_t i = 0; i < nodes; ++i) {
    const NodeOutcome& o = nodes_[i];
    if (!o.rule.empty())
      report_->refused(o.label, o.op, o.rule, o.tensor, o.remedy);
    else if (!o.skipped.empty())
      report_->not_assessed(o.label, o.op, o.skipped);
    else
      report_->converted(o.label, o.op, o.result.empty() ? "folded" : o.result, o.level);
  }
}

}  // namespace qrt::convert
