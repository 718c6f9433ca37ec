// SPDX-License-Identifier: Apache-2.0
// Bytes as a file that has a path.
#ifndef QRT_TESTS_FUZZ_MEMORY_FILE_H_
#define QRT_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "tests/fuzz/fuzz.h"

namespace qrt::fuzz {

class MemoryFile {
 public:
  MemoryFile(const void* data, size_t size) : fd_(memfd_create("model", MFD_CLOEXEC)) {
    if (fd_ < 0 || write(fd_, data, size) != static_cast<ssize_t>(size))
      failed("cannot make a file in memory");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  // The path stays.
  void replace(const void* data, size_t size) {
    if (ftruncate(fd_, 0) != 0 || pwrite(fd_, data, size, 0) != static_cast<ssize_t>(size))
      failed("cannot write a file in memory");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_MEMORY_FILE_H_
