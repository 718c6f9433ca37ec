// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/refusals.h"

#include <algorithm>

#include "runtime/text.h"

namespace qrt::quantize {

void Refusals::add(const std::string& op, const std::string& node, const std::string& why,
                   const std::string& remedy) {
  const auto known = std::find_if(reasons_.begin(), reasons_.end(),
                                  [&](const Reason& r) { return r.op == op && r.why == why; });
  if (known == reasons_.end())
    reasons_.push_back({op, why, remedy, {node}});
  else
    known->nodes.push_back(node);
}

std::string Refusals::Reason::text() const {
  std::string names;
  for (const std::string& node : nodes) names += (names.empty() ? "'" : ", '") + node + "'";
  // Line ends within names would look like those between reasons.
  return escaped(op + (nodes.size() == 1 ? " (node " : " (nodes ") + names + "): " + why + ": " +
                 remedy);
}

Status Refusals::status() const {
  if (reasons_.size() == 1) return Status(Code::kUnsupported, reasons_[0].text());
  std::string text = std::to_string(reasons_.size()) + " kinds of nodes cannot be quantised";
  for (const Reason& reason : reasons_) text += "\n  " + reason.text();
  return Status(Code::kUnsupported, text);
}

std::string remedy_to_end_before(const std::vector<std::string>& values) {
  if (values.empty()) return "export the model without it, as nothing is in front of it";
  std::string options;
  for (const std::string& value : values) options += " --outputs " + value;
  return "end the model in front of it by" + options + ", and compute what is behind outside";
}

}  // namespace qrt::quantize
