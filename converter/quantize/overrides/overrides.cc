// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/overrides/overrides.h"

#include <cmath>
#include <cstdlib>

namespace qrt::quantize {
namespace {

// Splits "NAME=VALUE" at the last '=': names may hold such signs, values do not. Returns false
// where there is none.
bool split(const std::string& text, std::string* name, std::string* value) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return false;
  *name = text.substr(0, at);
  *value = text.substr(at + 1);
  return true;
}

}  // namespace

// Goes back to the last `*` alone, so that no pattern takes more than the product of both lengths.
bool matches(const std::string& pattern, const std::string& name) {
  if (pattern == name) return true;
  size_t p = 0, n = 0, star = std::string::npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Status add_bits(const std::string& text, Overrides* overrides) {
  std::string pattern, bits;
  if (!split(text, &pattern, &bits) || (bits != "8" && bits != "16"))
    return error(Code::kInvalidArgument, "--bits %s: expected PATTERN=8 or PATTERN=16",
                 text.c_str());
  overrides->bits.emplace_back(pattern, bits == "8" ? 8 : 16);
  return {};
}

Status add_range(const std::string& text, Overrides* overrides) {
  std::string name, range;
  GivenRange given;
  bool is_range = split(text, &name, &range);
  if (is_range) {
    char* end;
    given.range.lo = strtof(range.c_str(), &end);
    is_range = end != range.c_str() && *end == ':';
    if (is_range) {
      const char* second = end + 1;
      given.range.hi = strtof(second, &end);
      is_range = end != second && *end == '\0';
    }
  }
  if (!is_range || !std::isfinite(given.range.lo) || !std::isfinite(given.range.hi) ||
      given.range.lo >= given.range.hi)
    return error(Code::kInvalidArgument,
                 "--range %s: expected TENSOR=LOW:HIGH, two numbers, the lower one first",
                 text.c_str());
  overrides->ranges[name] = given;
  return {};
}

Coding coding_of(const GivenRange& given, const Scheme& scheme, int bits) {
  const Coding own = coding_for(scheme, bits, given.range);
  const Coding& saved = given.coding;
  const bool fits = given.has_coding && saved.bits == bits && saved.is_signed == own.is_signed &&
                    saved.is_narrow == own.is_narrow &&
                    (!scheme.is_symmetric || scheme.is_cvm || saved.zero_point == 0) &&
                    allowed_scale(scheme, saved.scale) == saved.scale;
  return fits ? saved : own;
}

}  // namespace qrt::quantize
