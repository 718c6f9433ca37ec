// SPDX-License-Identifier: Apache-2.0
// The clock of all measurements, and what they tell their user while they run.
#ifndef QRT_BENCH_CLOCK_H_
#define QRT_BENCH_CLOCK_H_

#include <chrono>
#include <functional>

namespace qrt::bench {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// `part` is done, 0 to 1. Null: progress is not shown.
using Progress = std::function<void(const char* step, double part)>;

}  // namespace qrt::bench

#endif  // QRT_BENCH_CLOCK_H_
