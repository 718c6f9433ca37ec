// SPDX-License-Identifier: Apache-2.0
// A limit on the memory of a plan's tables, which ask it before they are made.
#ifndef QRT_RUNTIME_MEMORY_BUDGET_H_
#define QRT_RUNTIME_MEMORY_BUDGET_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace qrt {

class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}

  // Takes bytes. Fails with kOutOfMemory, and takes nothing, where less is left.
  Status take(uint64_t bytes) {
    if (bytes > limit_ - taken_) {
      has_refused_ = true;
      return error(Code::kOutOfMemory,
                   "tables of %llu bytes beside %zu others are more than the %zu that max_memory "
                   "allows",
                   static_cast<unsigned long long>(bytes), taken_, limit_);
    }
    taken_ += static_cast<size_t>(bytes);
    return {};
  }
  // Returns bytes that were taken for tables that were not made.
  void give_back(uint64_t bytes) { taken_ -= static_cast<size_t>(bytes); }
  size_t taken() const { return taken_; }
  bool has_refused() const { return has_refused_; }

 private:
  const size_t limit_;
  size_t taken_ = 0;
  bool has_refused_ = false;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_MEMORY_BUDGET_H_
