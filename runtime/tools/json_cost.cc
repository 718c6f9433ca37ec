// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/json_cost.h"

namespace qrt {
namespace {

// nlohmann::json: an element of a list that doubles when it is full, a list or an object of its own, a
// key in its tree, and a string.
constexpr uint64_t kElementBytes = 32, kContainerBytes = 64, kKeyBytes = 128, kStringBytes = 64;

}  // namespace

Status reserve_json(const std::string& text, Budget* budget) {
  uint64_t bytes = text.size();
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    switch (c) {
      case ',': bytes += kElementBytes; break;
      case '[':
      case '{': bytes += kContainerBytes; break;
      case ':': bytes += kKeyBytes; break;
      case '"':
        bytes += kStringBytes;
        quoted = true;
        break;
      default: break;
    }
  }
  return budget->reserve(bytes);
}

}  // namespace qrt
