// The converter's findings as text and as JSON.
#include "converter/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

bool Report::has_refusals() const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [](const Finding& f) { return f.outcome == Outcome::kRefused; });
}

namespace {

// A node without a name is called "#17 (Conv)" already.
std::string label(const Finding& f) {
  return !f.node.empty() && f.node[0] == '#' ? f.node : f.node + " (" + f.op + ")";
}

}  // namespace

std::string Report::text(bool all) const {
  std::string s;
  size_t refused = 0;
  for (const Finding& f : findings_) {
    if (f.outcome == Outcome::kRefused) {
      ++refused;
      s += "refused  " + label(f) + ": " + f.rule + "\n";
      if (!f.tensor.empty()) s += "         tensor: " + f.tensor + "\n";
      if (!f.remedy.empty()) s += "         remedy: " + f.remedy + "\n";
    } else if (all) {
      s += "ok       " + label(f) + " -> " + f.result;
      if (!f.level.empty()) s += " [" + f.level + "]";
      s += "\n";
    }
  }
  if (all || refused > 0)
    s += std::to_string(refused) + " of " + std::to_string(findings_.size()) + " nodes refused\n";
  return s;
}

std::string Report::json() const {
  auto nodes = nlohmann::ordered_json::array();
  size_t refused = 0;
  for (const Finding& f : findings_) {
    const bool bad = f.outcome == Outcome::kRefused;
    refused += bad;
    nodes.push_back({{"node", f.node},
                     {"op", f.op},
                     {"outcome", bad ? "refused" : "converted"},
                     {"result", f.result},
                     {"level", f.level},
                     {"rule", f.rule},
                     {"tensor", f.tensor},
                     {"remedy", f.remedy}});
  }
  const nlohmann::ordered_json root = {
      {"nodes", nodes}, {"refused", refused}, {"converted", findings_.size() - refused}};
  // Names come from the model and need not be UTF-8.
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace qrt::convert
