// SPDX-License-Identifier: Apache-2.0
// WebAssembly has one memory, whose pages are made when it grows: files are read into it.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/platform/mapping.h"

namespace qrt::platform {

File::File(const char* path) : fd_(open(path, O_RDONLY)) {}

File::~File() {
  if (fd_ >= 0) close(fd_);
}

Result<uint64_t> file_size(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return error(Code::kIoError, "%s", strerror(errno));
  if (!S_ISREG(info.st_mode)) return error(Code::kIoError, "not a regular file");
  return static_cast<uint64_t>(info.st_size);
}

size_t mapping_step() { return kLargePage; }

Result<const uint8_t*> map(int fd, uint64_t offset, size_t bytes) {
  auto* const data = static_cast<uint8_t*>(map_memory(bytes));
  if (data == nullptr)
    return error(Code::kOutOfMemory, "no memory for the %zu bytes of the file", bytes);
  for (size_t read = 0; read < bytes;) {
    const ssize_t n = pread(fd, data + read, bytes - read, static_cast<off_t>(offset + read));
    if (n > 0) {
      read += static_cast<size_t>(n);
      continue;
    }
    const int why = n < 0 ? errno : EIO;
    free(data);
    return error(Code::kIoError, "%s", strerror(why));
  }
  return data;
}

void unmap(const uint8_t* data, size_t) { free(const_cast<uint8_t*>(data)); }

void* map_memory(size_t bytes) {
  if (bytes > SIZE_MAX - kLargePage) return nullptr;
  void* const data = aligned_alloc(kLargePage, (bytes + kLargePage - 1) / kLargePage * kLargePage);
  if (data != nullptr) memset(data, 0, bytes);
  return data;
}

void unmap_memory(void* data, size_t) { free(data); }

void prefer_large_pages(void*, size_t) {}

}  // namespace qrt::platform
