// SPDX-License-Identifier: Apache-2.0
#include "converter/import/espdl/package.h"

#include <algorithm>
#include <cstring>

#include "converter/import/espdl/fields.h"

namespace qrt::convert::from_espdl {
namespace {

constexpr size_t kMark = 4, kWord = 4;

bool has_mark(const uint8_t* data, size_t bytes, const char* mark) {
  return bytes >= kMark && memcmp(data, mark, kMark) == 0;
}

uint32_t word(const uint8_t* data) {
  return data[0] | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16 | uint32_t{data[3]} << 24;
}

bool is_pack(const uint8_t* data, size_t bytes) {
  return has_mark(data, bytes, "PDL1") || has_mark(data, bytes, "PDL2") ||
         has_mark(data, bytes, "PDL3");
}

}  // namespace

bool is_espdl(const uint8_t* head, size_t bytes) {
  return has_mark(head, bytes, "EDL1") || has_mark(head, bytes, "EDL2") || is_pack(head, bytes);
}

Status list_entries(const std::vector<uint8_t>& file, std::vector<Entry>* entries) {
  const uint8_t* data = file.data();
  entries->clear();
  QRT_MODEL_CHECK(
      is_espdl(data, file.size()),
      "is not an ESP-DL model: it starts with none of the marks EDL1, EDL2, PDL1 to PDL3");
  if (!is_pack(data, file.size())) {
    entries->push_back({"", 0, file.size()});
    return Status();
  }
  // PDL3 has a version, a size and a digest before the count.
  const size_t count_at = has_mark(data, file.size(), "PDL3") ? 56 : 4, table = count_at + kWord;
  constexpr size_t kRow = 3 * kWord;
  QRT_MODEL_CHECK(file.size() >= table, "is a pack of %zu bytes, its table starts at %zu",
                  file.size(), table);
  const size_t count = word(data + count_at);
  QRT_MODEL_CHECK(count > 0 && count <= (file.size() - table) / kRow,
                  "is a pack of %zu models, for which the file is too short", count);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* row = data + table + i * kRow;
    const size_t offset = word(row), name = word(row + kWord), length = word(row + 2 * kWord);
    QRT_MODEL_CHECK(offset >= table && offset < file.size(),
                    "model %zu of the pack starts at %zu of %zu bytes", i, offset, file.size());
    QRT_MODEL_CHECK(length <= kMaxNameBytes && name <= file.size() && length <= file.size() - name,
                    "the name of model %zu of the pack lies outside the file", i);
    const char* text = reinterpret_cast<const char*>(data) + name;
    entries->push_back({std::string(text, strnlen(text, length)), offset, 0});
  }
  // A model ends where the next one starts; they need not stand in the table's order.
  std::vector<size_t> starts;
  for (const Entry& e : *entries) starts.push_back(e.offset);
  starts.push_back(file.size());
  std::sort(starts.begin(), starts.end());
  for (Entry& e : *entries)
    e.bytes = *std::upper_bound(starts.begin(), starts.end(), e.offset) - e.offset;
  return Status();
}

std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& e : entries) names.push_back(e.name);
  return names;
}

Status read_wrapper(const uint8_t* data, size_t bytes, Wrapper* wrapper) {
  constexpr size_t kShort = 12, kLong = 16;
  const bool is_first = has_mark(data, bytes, "EDL1");
  QRT_MODEL_CHECK(is_first || has_mark(data, bytes, "EDL2"),
                  "is not an ESP-DL model: it starts with neither EDL1 nor EDL2");
  QRT_MODEL_CHECK(bytes >= kLong, "is cut short: it has %zu bytes", bytes);
  const uint32_t mode = word(data + kMark);
  if (mode == 1)
    return error(
        Code::kUnsupported,
        "is encrypted (AES-128): export it without a key, or decrypt it with ESP-DL's tools first");
  QRT_MODEL_CHECK(mode == 0, "has the mode %u, expected 0 (plain) or 1 (encrypted)", mode);
  const size_t payload = word(data + 2 * kWord);
  // Some files of 2024 say EDL1 and have the header of EDL2.
  for (const size_t header : {is_first ? kShort : kLong, is_first ? kLong : kShort})
    if (payload <= bytes - header) wrapper->headers.push_back(header);
  QRT_MODEL_CHECK(!wrapper->headers.empty(),
                  "is cut short: its header says %zu bytes, of which there are %zu", payload,
                  bytes - kShort);
  return Status();
}

}  // namespace qrt::convert::from_espdl
