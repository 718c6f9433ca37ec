// SPDX-License-Identifier: Apache-2.0
// A file in memory only: the front ends read files, and an interrupted run leaves none behind.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_MEMORY_FILE_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_MEMORY_FILE_H_

#include <string>

#include "runtime/status.h"

namespace qrt::quantize {

class MemoryFile {
 public:
  MemoryFile() = default;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();
  Status create(const std::string& bytes);
  std::string path() const;

 private:
  int fd_ = -1;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_MEMORY_FILE_H_
