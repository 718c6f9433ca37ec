// SPDX-License-Identifier: Apache-2.0
// The converter's findings as text and as JSON.
#include "converter/report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/text.h"

namespace qrt::convert {

void Report::converted(std::string node, std::string op, std::string result, std::string level) {
  findings_.push_back({Outcome::kConverted, std::move(node), std::move(op), std::move(result),
                       std::move(level), "", "", ""});
}

void Report::refused(std::string node, std::string op, std::string rule, std::string tensor,
                     std::string remedy) {
  findings_.push_back({Outcome::kRefused, std::move(node), std::move(op), "", "", std::move(rule),
                       std::move(tensor), std::move(remedy)});
}

void Report::refused_in_file(std::string name, std::string kind, std::string rule,
                             std::string remedy) {
  refused(name, std::move(kind), std::move(rule), name, std::move(remedy));
  findings_.back().is_node = false;
}

void Report::not_assessed(std::string node, std::string op, std::string rule) {
  findings_.push_back(
      {Outcome::kNotAssessed, std::move(node), std::move(op), "", "", std::move(rule), "", ""});
}

size_t Report::count(Outcome outcome) const {
  return static_cast<size_t>(
      std::count_if(findings_.begin(), findings_.end(),
                    [outcome](const Finding& f) { return f.outcome == outcome; }));
}

namespace {

// Returns the node's name for messages. A node without a name is called "#17 (Conv)" already.
template <class Entry>
std::string label(const Entry& e) {
  return escaped(!e.node.empty() && e.node[0] == '#' ? e.node : e.node + " (" + e.op + ")");
}

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kConverted: return "converted";
    case Outcome::kRefused: return "refused";
    case Outcome::kNotAssessed: return "not assessed";
  }
  return "";
}

constexpr char kFolded[] = "folded";

// Counts the results of the converted nodes, by operator and level: "count Conv2D [I1]: 12". Nodes
// that were merely folded into others appear here alone, as a number.
std::string counts_text(const std::vector<Finding>& findings) {
  std::map<std::string, size_t> counts;
  size_t folded = 0;
  for (const Finding& f : findings) {
    if (f.outcome != Outcome::kConverted) continue;
    if (f.result == kFolded)
      ++folded;
    else
      ++counts[f.result + (f.level.empty() ? "" : " [" + f.level + "]")];
  }
  std::string s;
  for (const auto& [what, n] : counts) s += "count    " + what + ": " + std::to_string(n) + "\n";
  if (folded > 0)
    s +=
        "count    folded into others: " + std::to_string(folded) + " (--explain=json lists them)\n";
  return s;
}

// Returns "1 to 512", "32 or more in steps of 32".
std::string sizes_text(const DimensionFinding& d) {
  std::string s = std::to_string(d.least);
  if (d.least == d.most) return s;
  s += d.most > INT32_MAX - d.step ? " or more" : " to " + std::to_string(d.most);
  return d.step > 1 ? s + " in steps of " + std::to_string(d.step) : s;
}

// Returns "open     'seq' 1 to 512" and a line with the reason for its limits.
std::string dimension_text(const DimensionFinding& d) {
  std::string s = d.least == d.most ? "fixed    '" : "open     '";
  s += escaped(d.name) + "' " + sizes_text(d);
  if (!d.tied_to.empty()) s += ", the size of '" + escaped(d.tied_to) + "' or 1";
  return s + (d.limited_by.empty() ? "\n" : "\n         why: " + escaped(d.limited_by) + "\n");
}

}  // namespace

std::string Report::text(bool all) const {
  std::string s;
  std::map<std::string, size_t> waiting;  // findings not assessed, counted by what they depend on
  for (const Finding& f : findings_) waiting[f.rule] += f.outcome == Outcome::kNotAssessed;
  for (const Finding& f : findings_) {
    if (f.outcome == Outcome::kRefused) {
      s += "refused  " + label(f) + ": " + escaped(f.rule) + "\n";
      if (!f.tensor.empty()) s += "         tensor: " + escaped(f.tensor) + "\n";
      if (!f.remedy.empty()) s += "         remedy: " + escaped(f.remedy) + "\n";
    } else if (f.outcome == Outcome::kNotAssessed) {
      const size_t n = std::exchange(waiting[f.rule], 0);  // those of one rule stand in one line
      if (n == 1) s += "unknown  " + label(f) + ": not assessed: " + escaped(f.rule) + "\n";
      if (n > 1)
        s += "unknown  " + label(f) + " and " + std::to_string(n - 1) +
             " more: not assessed: " + escaped(f.rule) + " (--explain=json lists them)\n";
    } else if (all && f.result != kFolded) {
      s += "ok       " + label(f) + " -> " + f.result;
      if (!f.level.empty()) s += " [" + f.level + "]";
      s += "\n";
    }
  }
  if (all) s += counts_text(findings_);
  if (all && batch_.is_open)
    s += "batch    any, " + std::to_string(batch_.size) + " where none is asked for\n";
  if (all && !batch_.is_open && batch_.size > 0)
    s += "batch    " + std::to_string(batch_.size) + " and no other: " + escaped(batch_.why) + "\n";
  for (const DimensionFinding& d : dimensions_) s += all ? dimension_text(d) : "";
  for (const SumFinding& d : sums_)
    if (all && d.name != d.sum)
      s += "sum      '" + escaped(d.name) + "' is " + escaped(d.sum) + "\n";
  const size_t unknown = count(Outcome::kNotAssessed);
  if (!all && !has_refusals()) return s;
  s += refusals();
  if (unknown > 0) s += ", " + std::to_string(unknown) + " not assessed";
  return s + "\n";
}

std::string Report::refusals() const {
  size_t nodes = 0, refused_nodes = 0;
  for (const Finding& f : findings_) {
    nodes += f.is_node;
    refused_nodes += f.is_node && f.outcome == Outcome::kRefused;
  }
  const size_t others = count(Outcome::kRefused) - refused_nodes;
  std::string s = std::to_string(refused_nodes) + " of " + std::to_string(nodes) + " nodes refused";
  if (others > 0)
    s += " and " + std::to_string(others) +
         (others == 1 ? " other part of the model" : " other parts of the model");
  return s;
}

std::string Report::warnings_text() const {
  std::string s;
  for (const Warning& w : warnings_) {
    s += "warning  " + label(w) + ": " + w.rule + ": " + escaped(w.what) + "\n";
    s += "         remedy: " + w.remedy + "\n";
  }
  return s + std::to_string(warnings_.size()) +
         (warnings_.size() == 1 ? " warning\n" : " warnings\n");
}

std::string Report::json(Sections sections) const {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  if (sections.nodes) {
    auto& nodes = root["nodes"] = nlohmann::ordered_json::array();
    for (const Finding& f : findings_)
      nodes.push_back({{"node", f.node},
                       {"op", f.op},
                       {"outcome", outcome_name(f.outcome)},
                       {"result", f.result},
                       {"level", f.level},
                       {"rule", f.rule},
                       {"tensor", f.tensor},
                       {"remedy", f.remedy}});
    root["refused"] = count(Outcome::kRefused);
    root["not_assessed"] = count(Outcome::kNotAssessed);
    root["converted"] = count(Outcome::kConverted);
    if (batch_.size > 0)
      root["batch"] = {{"open", batch_.is_open}, {"size", batch_.size}, {"why", batch_.why}};
    for (const DimensionFinding& d : dimensions_)
      root["dimensions"].push_back({{"name", d.name},
                                    {"value", d.value},
                                    {"least", d.least},
                                    {"most", d.most},
                                    {"step", d.step},
                                    {"tied_to", d.tied_to},
                                    {"why", d.limited_by}});
    for (const SumFinding& d : sums_) root["sums"].push_back({{"name", d.name}, {"sum", d.sum}});
  }
  if (sections.warnings) {
    auto& warnings = root["warnings"] = nlohmann::ordered_json::array();
    for (const Warning& w : warnings_) {
      auto numbers = nlohmann::ordered_json::object();
      for (const auto& [name, value] : w.numbers) numbers[name] = value;
      warnings.push_back({{"rule", w.rule},
                          {"node", w.node},
                          {"op", w.op},
                          {"what", w.what},
                          {"remedy", w.remedy},
                          {"numbers", numbers}});
    }
  }
  // Names come from the model: they need not be UTF-8, and a terminal may take them for commands.
  return root.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace qrt::convert
