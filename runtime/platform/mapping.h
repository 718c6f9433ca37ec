// SPDX-License-Identifier: Apache-2.0
// Memory-mapped files, and memory of large pages. Each system has an implementation:
// mapping_posix.cc, mapping_windows.cc, mapping_wasi.cc.
#ifndef QRT_RUNTIME_PLATFORM_MAPPING_H_
#define QRT_RUNTIME_PLATFORM_MAPPING_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace qrt::platform {

// Owns a file that is open for reading, and closes it when destroyed. Paths are UTF-8.
class File {
 public:
  explicit File(const char* path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Returns the file's descriptor, or a negative number where it could not be opened; errno says why.
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// Returns the size of a file in bytes. Fails with kIoError where the file is not regular, or its
// size is not known.
Result<uint64_t> file_size(int fd);

// Returns the number of bytes that offsets of mappings are multiples of.
size_t mapping_step();

// Maps a file, read-only. The mapping stays when the file is closed. Fails with kOutOfMemory or kIoError.
Result<const uint8_t*> map(int fd, uint64_t offset, size_t bytes);
void unmap(const uint8_t* data, size_t bytes);

// Returns zeroed memory that is aligned to a page, or null where there is none. The system provides
// the pages, large ones where it can, when they are first used.
void* map_memory(size_t bytes);
void unmap_memory(void* data, size_t bytes);

// Asks the system to back `data` by large pages. REQUIRES: `data` is aligned to kLargePage and was
// not touched yet. Page faults of hundreds of small pages take as long as the rest of the making of
// a session.
#if defined(__wasi__)
constexpr size_t kLargePage = size_t{64} << 10;  // WebAssembly's only one
#else
constexpr size_t kLargePage = size_t{2} << 20;
#endif
void prefer_large_pages(void* data, size_t bytes);

}  // namespace qrt::platform

#endif  // QRT_RUNTIME_PLATFORM_MAPPING_H_
