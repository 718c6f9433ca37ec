// SPDX-License-Identifier: Apache-2.0
// Escapes characters that must not go to a terminal; see text.h.
#include "runtime/text.h"

#include <cstdint>
#include <cstring>

namespace qrt {
namespace {

// Reads the UTF-8 character that `text` begins with into *code. Returns its number of bytes, or 0
// where it is malformed.
size_t read_character(std::string_view text, uint32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  *code = byte(0);
  if (*code < 0x80) return 1;
  const size_t length = *code >= 0xf0 ? 4 : *code >= 0xe0 ? 3 : 2;
  if (*code < 0xc2 || *code > 0xf4 || text.size() < length) return 0;
  *code &= 0x7fu >> length;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (byte(i) & 0x3fu);
  }
  // The least code of each length: it excludes overlong forms. Halves of UTF-16 pairs, and codes
  // beyond Unicode, are excluded, too.
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_half = *code >= 0xd800 && *code <= 0xdfff;
  return *code < kLeast[length] || is_half || *code > 0x10ffff ? 0 : length;
}

bool is_plain(uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;       // C0, DEL, C1
  if (code == 0x200e || code == 0x200f || code == 0x61c) return false;  // direction marks
  if (code >= 0x2028 && code <= 0x202e) return false;                   // line ends, embeddings
  return !(code >= 0x2066 && code <= 0x2069) && code != 0xfeff;         // isolates, byte order mark
}

}  // namespace

std::string escaped(std::string_view text) { return escaped(text, text.size()); }

std::string escaped(std::string_view text, size_t most) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (size_t i = 0; i < text.size();) {
    uint32_t code;
    const size_t length = read_character(text.substr(i), &code);
    const size_t bytes = length == 0 ? 1 : length;
    if (i + bytes > most) break;
    if (length != 0 && is_plain(code)) {
      result += text.substr(i, bytes);
    } else {
      for (size_t k = i; k < i + bytes; ++k) {
        const auto byte = static_cast<uint8_t>(text[k]);
        result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      }
    }
    i += bytes;
  }
  return result;
}

std::string shortened(const std::string& text, size_t most) {
  constexpr char kGap[] = " ... ";
  if (text.size() <= most) return text;
  const auto is_within = [&](size_t i) { return (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80; };
  const size_t room = most - strlen(kGap);
  size_t begin = room / 2, end = text.size() - (room - begin);
  while (begin > 0 && is_within(begin)) --begin;
  while (end < text.size() && is_within(end)) ++end;
  return text.substr(0, begin) + kGap + text.substr(end);
}

}  // namespace qrt
