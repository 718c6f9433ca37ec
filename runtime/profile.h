// SPDX-License-Identifier: Apache-2.0
// Time per step over the runs of a session.
#ifndef QRT_RUNTIME_PROFILE_H_
#define QRT_RUNTIME_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qrt {

// Nanoseconds of a monotonic clock.
uint64_t now_ns();

// Used by one thread at a time, like its session. One clock reading per step.
class Profile {
 public:
  explicit Profile(size_t steps) : total_ns_(steps) {}

  void start_run() {
    ++runs_;
    last_ = now_ns();
  }
  // Counts the time since the end of the previous step for this one.
  void end_step(size_t step) {
    const uint64_t now = now_ns();
    total_ns_[step] += now - last_;
    last_ = now;
  }
  void reset();

  uint64_t runs() const { return runs_; }
  uint64_t total_ns(size_t step) const { return total_ns_[step]; }

 private:
  std::vector<uint64_t> total_ns_;
  uint64_t runs_ = 0, last_ = 0;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_PROFILE_H_
