// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace qrt::quantize {

MemoryFile::~MemoryFile() {
  if (fd_ >= 0) close(fd_);
}

Status MemoryFile::create(const std::string& bytes) {
  fd_ = memfd_create("model", MFD_CLOEXEC);
  if (fd_ < 0) return error(Code::kIoError, "a file in memory: %s", strerror(errno));
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error(Code::kOutOfMemory, "a file in memory: %s", strerror(errno));
    done += static_cast<size_t>(n);
  }
  return {};
}

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

}  // namespace qrt::quantize
