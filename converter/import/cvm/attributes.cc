// SPDX-License-Identifier: Apache-2.0
// Text to integers, booleans and tuples.
#include "converter/import/cvm/attributes.h"

#include <algorithm>
#include <cctype>

namespace qrt::convert::from_cvm {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string trimmed(const std::string& text) {
  size_t begin = 0, end = text.size();
  while (begin < end && is_blank(text[begin])) ++begin;
  while (end > begin && is_blank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

// Parses up to 18 decimal digits with an optional sign. Returns false for other texts.
bool parse_integer(const std::string& text, int64_t* value) {
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (text.size() == sign || text.size() > sign + 18) return false;
  int64_t v = 0;
  for (size_t i = sign; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    v = 10 * v + (text[i] - '0');
  }
  *value = text[0] == '-' ? -v : v;
  return true;
}

// "(1, 1)", "[1L, 1,]", "2", "()".
bool parse_tuple(const std::string& text, std::vector<int64_t>* values) {
  values->clear();
  std::string s = trimmed(text);
  if (s.empty()) return false;
  const bool bare = s[0] != '(' && s[0] != '[';
  if (!bare) {
    if (s.size() < 2 || s.back() != (s[0] == '(' ? ')' : ']')) return false;
    s = trimmed(s.substr(1, s.size() - 2));
  }
  for (size_t at = 0; at < s.size();) {
    const size_t comma = std::min(s.find(',', at), s.size());
    std::string number = trimmed(s.substr(at, comma - at));
    if (!number.empty() && number.back() == 'L') number.pop_back();
    int64_t v;
    if (!parse_integer(number, &v)) return false;
    values->push_back(v);
    at = comma + 1;
  }
  return !bare || values->size() == 1;
}

}  // namespace

Status Attributes::check_names(std::initializer_list<const char*> known) const {
  for (const auto& entry : values_) {
    const std::string& name = entry.first;
    const bool is_hidden = name.size() >= 4 && name.compare(0, 2, "__") == 0 &&
                           name.compare(name.size() - 2, 2, "__") == 0;
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const char* k) { return name == k; });
    QRT_MODEL_CHECK(is_hidden || is_known, "has no attribute '%s'", name.substr(0, 64).c_str());
  }
  return Status();
}

Status Attributes::required(const char* name) const {
  QRT_MODEL_CHECK(has(name), "the attribute '%s' is missing", name);
  return Status();
}

Status Attributes::integer(const char* name, int64_t lo, int64_t hi, int64_t* value) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return Status();
  QRT_MODEL_CHECK(parse_integer(trimmed(found->second), value),
                  "attribute '%s' is '%s', expected an integer", name,
                  found->second.substr(0, 64).c_str());
  QRT_MODEL_CHECK(*value >= lo && *value <= hi, "attribute '%s' is %lld, expected %lld to %lld",
                  name, static_cast<long long>(*value), static_cast<long long>(lo),
                  static_cast<long long>(hi));
  return Status();
}

Status Attributes::required_integer(const char* name, int64_t lo, int64_t hi,
                                    int64_t* value) const {
  QRT_TRY(required(name));
  return integer(name, lo, hi, value);
}

Status Attributes::optional_integer(const char* name, std::optional<int64_t>* value) const {
  const auto found = values_.find(name);
  if (found == values_.end() || trimmed(found->second) == "None") return Status();
  int64_t v = 0;
  QRT_TRY(integer(name, INT32_MIN, INT32_MAX, &v));
  *value = v;
  return Status();
}

Status Attributes::boolean(const char* name, bool* value) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return Status();
  std::string text = trimmed(found->second);
  for (char& c : text) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  *value = text == "true" || text == "1";
  QRT_MODEL_CHECK(*value || text == "false" || text == "0",
                  "attribute '%s' is '%s', expected True or False", name,
                  found->second.substr(0, 64).c_str());
  return Status();
}

Status Attributes::tuple(const char* name, int64_t lo, int64_t hi,
                         std::vector<int64_t>* values) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return Status();
  QRT_MODEL_CHECK(parse_tuple(found->second, values),
                  "attribute '%s' is '%s', expected integers in brackets", name,
                  found->second.substr(0, 64).c_str());
  for (int64_t v : *values)
    QRT_MODEL_CHECK(v >= lo && v <= hi, "attribute '%s' has %lld, expected %lld to %lld", name,
                    static_cast<long long>(v), static_cast<long long>(lo),
                    static_cast<long long>(hi));
  return Status();
}

Status Attributes::word(const char* name, std::initializer_list<const char*> accepted) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return Status();
  std::string expected;
  for (const char* w : accepted) {
    if (found->second == w) return Status();
    expected += std::string(expected.empty() ? "" : " or ") + w;
  }
  return error(Code::kInvalidModel, "attribute '%s' is '%s', expected %s", name,
               found->second.substr(0, 64).c_str(), expected.c_str());
}

}  // namespace qrt::convert::from_cvm
