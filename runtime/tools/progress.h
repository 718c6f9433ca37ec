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
  // `part` of the step is done, 0 to 1; the time left is told from a tenth on. Below 0: nobody knows.
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
