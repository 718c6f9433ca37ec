// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/choice.h"

#include <algorithm>

#include "runtime/text.h"

namespace qrt::convert {
namespace {

// Returns the names for a message, which has room for a few.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8, kMostBytes = 32;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(i) + ": '" + escaped(names[i], kMostBytes) + "'";
  if (names.size() > kMost)
    text += ", and " + std::to_string(names.size() - kMost) + " more, which --list names";
  return text;
}

}  // namespace

Status choose_model(const std::vector<std::string>& names, const std::string& selector,
                    const ChoiceWords& words, size_t* index) {
  *index = 0;
  if (selector.empty() && names.size() == 1) return Status();
  if (selector.empty())
    return error(Code::kInvalidArgument, "has %zu %ss: choose one with %s NAME or INDEX (%s)",
                 names.size(), words.one, words.option, some_of(names).c_str());
  const auto found = std::find(names.begin(), names.end(), selector);
  if (found != names.end()) {
    *index = static_cast<size_t>(found - names.begin());
    return Status();
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (std::to_string(i) == selector) {
      *index = i;
      return Status();
    }
  return error(Code::kInvalidArgument, "has no %s '%s' (it has %s)", words.one,
               escaped(selector, 64).c_str(), some_of(names).c_str());
}

std::vector<std::string> listed(const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < names.size(); ++i)
    lines.push_back(std::to_string(i) + (names[i].empty() ? "" : " ") + names[i]);
  return lines;
}

}  // namespace qrt::convert
