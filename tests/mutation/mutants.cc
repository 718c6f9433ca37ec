// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qrt::mutation {

int chosen = -1;
unsigned char* marks = nullptr;

namespace {

// Before everything else. The marks are a file that all processes of a test share, so that none has to end well.
__attribute__((constructor(101))) void read_environment() {
  if (const char* number = getenv("QRT_MUTANT")) chosen = atoi(number);
  const char* path = getenv("QRT_MUTANT_MARKS");
  if (path == nullptr) return;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) abort();
  void* bytes =
      mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) abort();
  marks = static_cast<unsigned char*>(bytes);
  close(fd);
}

}  // namespace
}  // namespace qrt::mutation
