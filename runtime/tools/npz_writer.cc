// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/npz_writer.h"

#include <cstdint>

#include "runtime/tools/files.h"
#include "runtime/tools/hash.h"
#include "runtime/tools/npy.h"

namespace qrt::tool {
namespace {

constexpr size_t kMostBytes = UINT32_MAX - (size_t{1} << 20), kMostArrays = UINT16_MAX - 1;

std::string number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}

// Returns the fields that a member's header in front of its bytes and that in the directory share: version 2.0, names in UTF-8,
// stored, 1980-01-01, checksum, sizes, length of the name.
std::string member_fields(uint32_t crc, size_t bytes, const std::string& name) {
  constexpr uint16_t kVersion = 20, kUtf8 = 1 << 11, kStored = 0, kFirstDay = 1 << 5 | 1;
  return number(kVersion, 2) + number(kUtf8, 2) + number(kStored, 2) + number(0, 2) +
         number(kFirstDay, 2) + number(crc, 4) + number(bytes, 4) + number(bytes, 4) +
         number(name.size(), 2) + number(0, 2);
}

}  // namespace

Status NpzWriter::add(const std::string& name, DType dtype, const Shape& shape, const void* data,
                      size_t bytes) {
  constexpr size_t kLongest = 60000;
  const std::string stem = name.empty() ? "array" : name.substr(0, kLongest);
  std::string member = stem + ".npy";
  for (int i = 2; !names_.insert(member).second; ++i)
    member = stem + "_" + std::to_string(i) + ".npy";
  const std::string content = npy_content(dtype, shape, data, bytes);
  if (content.size() > kMostBytes ||
      file_.size() + directory_.size() > kMostBytes - content.size() || names_.size() > kMostArrays)
    return error(
        Code::kUnsupported,
        "the arrays take more than an .npz file may hold: write .npy files by --output-dir");
  Crc32 crc;
  crc.add(content.data(), content.size());
  const std::string fields = member_fields(crc.value(), content.size(), member);
  directory_ += "PK\1\2" + number(20, 2) + fields + number(0, 2) + number(0, 2) + number(0, 2) +
                number(0, 4) + number(file_.size(), 4) + member;
  file_ += "PK\3\4" + fields + member + content;
  return {};
}

Status NpzWriter::write(const std::string& path) {
  const size_t at = file_.size(), count = names_.size();
  file_ += directory_ + "PK\5\6" + number(0, 4) + number(count, 2) + number(count, 2) +
           number(directory_.size(), 4) + number(at, 4) + number(0, 2);
  return write_file(path, file_.data(), file_.size());
}

}  // namespace qrt::tool
