// SPDX-License-Identifier: Apache-2.0
// A line on the terminal for work that takes a while.
#ifndef QRT_RUNTIME_TOOLS_PROGRESS_H_
#define QRT_RUNTIME_TOOLS_PROGRESS_H_

#include <chrono>
#include <string>

namespace qrt::tool {

// Shows nothing where stderr is no terminal, nor in the first second.
class ProgressLine {
 public:
  explicit ProgressLine(std::string tool) : tool_(std::move(tool)) {}
  ~ProgressLine() { clear(); }
  // Shows that `part` of the step is done, 0 to 1, and from a tenth on the time left. Below 0, the
  // part is not known.
  void show(const std::string& step, double part = -1);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string tool_, step_;
  Clock::time_point start_ = Clock::now(), step_start_ = start_, shown_at_ = start_;
  bool shown_ = false;
};

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_PROGRESS_H_
