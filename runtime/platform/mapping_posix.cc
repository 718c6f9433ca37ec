// SPDX-License-Identifier: Apache-2.0
// Mappings by mmap(): Linux, macOS and other POSIX systems.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/platform/mapping.h"

namespace qrt::platform {

File::File(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

File::~File() {
  if (fd_ >= 0) close(fd_);
}

Result<uint64_t> file_size(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return error(Code::kIoError, "%s", strerror(errno));
  if (!S_ISREG(info.st_mode)) return error(Code::kIoError, "not a regular file");
  return static_cast<uint64_t>(info.st_size);
}

size_t mapping_step() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

Result<const uint8_t*> map(int fd, uint64_t offset, size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED)
    return error(errno == ENOMEM ? Code::kOutOfMemory : Code::kIoError, "%s", strerror(errno));
  return static_cast<const uint8_t*>(data);
}

void unmap(const uint8_t* data, size_t bytes) { munmap(const_cast<uint8_t*>(data), bytes); }

namespace {

size_t whole_pages(size_t bytes) {
  const size_t page = mapping_step();
  return (bytes + page - 1) / page * page;
}

}  // namespace

// Maps a large page more than is asked for, and gives back what lies in front and behind.
void* map_memory(size_t bytes) {
  const size_t kept = whole_pages(bytes);
  void* const all =
      mmap(nullptr, kept + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(all) % kLargePage) % kLargePage;
  uint8_t* const data = static_cast<uint8_t*>(all) + before;
  if (before > 0) munmap(all, before);
  if (before < kLargePage) munmap(data + kept, kLargePage - before);
  prefer_large_pages(data, kept);
  return data;
}

void unmap_memory(void* data, size_t bytes) {
  if (data != nullptr) munmap(data, whole_pages(bytes));
}

void prefer_large_pages([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(data, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // refused where there are none
#endif
}

}  // namespace qrt::platform
