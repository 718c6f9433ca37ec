// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/source_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace qrt::convert {

Status read_source_file(const std::string& path, const char* format, std::vector<uint8_t>* bytes) {
  const auto close = [](FILE* f) { fclose(f); };
  const std::unique_ptr<FILE, decltype(close)> file(fopen(path.c_str(), "rb"), close);
  if (!file) return error(Code::kIoError, "cannot open '%s': %s", path.c_str(), strerror(errno));
  struct stat info;
  if (fstat(fileno(file.get()), &info) != 0 || !S_ISREG(info.st_mode))
    return error(Code::kIoError, "'%s' is not a regular file", path.c_str());
  const auto size = static_cast<uint64_t>(info.st_size);
  QRT_MODEL_CHECK(size <= kMaxSourceBytes, "'%s' has %llu bytes; %s file is limited to 2 GB",
                  path.c_str(), static_cast<unsigned long long>(size), format);
  bytes->resize(static_cast<size_t>(size));
  if (fread(bytes->data(), 1, bytes->size(), file.get()) != bytes->size())
    return error(Code::kIoError, "cannot read '%s'", path.c_str());
  return Status();
}

}  // namespace qrt::convert
