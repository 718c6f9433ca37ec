// SPDX-License-Identifier: Apache-2.0
// Files in memory, and memory of large pages, as each system gives them: mapping_posix.cc,
// mapping_windows.cc, mapping_wasi.cc.
#ifndef QRT_RUNTIME_PLATFORM_MAPPING_H_
#define QRT_RUNTIME_PLATFORM_MAPPING_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace qrt::platform {

// A file open for reading (its name in UTF-8), closed on the way out.
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

// Returns the size of a file. Fails with kIoError where it is no regular file, or the system does not tell.
Result<uint64_t> file_size(int fd);

// Offsets of mappings are multiples of this.
size_t mapping_step();

// Maps a file, read-only. The mapping stays when the file is closed. Fails with kOutOfMemory or kIoError.
Result<const uint8_t*> map(int fd, uint64_t offset, size_t bytes);
void unmap(const uint8_t* data, size_t bytes);

// Returns memory of zeros that begins with a page, or null where there is none. The system makes its
// pages, large ones where it can, when they are first used.
void* map_memory(size_t bytes);
void unmap_memory(void* data, size_t bytes);

// Asks for `data`, not touched yet and aligned to kLargePage, to be whole pages of that size as far as
// it holds them: hundreds of small ones take as long to be made, one by one, as a session without them.
#if defined(__wasi__)
constexpr size_t kLargePage = size_t{64} << 10;  // WebAssembly's only one
#else
constexpr size_t kLargePage = size_t{2} << 20;
#endif
void prefer_large_pages(void* data, size_t bytes);

}  // namespace qrt::platform

#endif  // QRT_RUNTIME_PLATFORM_MAPPING_H_
