// SPDX-License-Identifier: Apache-2.0
// Limits what reading a file may cost. A few bytes can ask for any amount of memory and work, so whoever
// reads a file from outside asks here before each allocation and each loop whose size the file
// decides. The limits follow from the file's size: together with what nobody counts, a process stays
// within 256 MB + 16 times the file, and within one second + one second for each megabyte.
#ifndef QRT_RUNTIME_TOOLS_BUDGET_H_
#define QRT_RUNTIME_TOOLS_BUDGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt {

// The memory and work that reading files may still take. Not thread-safe. A copy counts on from
// where the original stood.
class Budget {
 public:
  explicit Budget(uint64_t file_bytes) : file_bytes_(file_bytes) {}
  // Returns a budget for files, each counted once. A file without a size adds nothing.
  static Budget of_files(const std::vector<std::string>& paths);

  // Raises the limits by those of another file that is read for the same purpose.
  void add_file(uint64_t bytes) { file_bytes_ += bytes; }

  uint64_t file_bytes() const { return file_bytes_; }

  // Takes memory, before it is allocated. kUnsupported, and nothing is taken, where less is left.
  Status reserve(uint64_t bytes);
  // Takes work, before it is done. A step is about a nanosecond. kUnsupported, and nothing is taken,
  // where less is left.
  Status charge(uint64_t steps);
  // Returns how many steps are left.
  uint64_t steps_left() const;

 private:
  uint64_t file_bytes_;
  uint64_t bytes_ = 0, steps_ = 0;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_TOOLS_BUDGET_H_
