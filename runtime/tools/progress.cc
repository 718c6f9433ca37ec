// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/progress.h"

#include <algorithm>
#include <cstdio>

#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

constexpr int kWidth = 24;

}  // namespace

void ProgressLine::show(const std::string& step, double part) {
  using std::chrono::milliseconds;
  const Clock::time_point now = Clock::now();
  if (step != step_) {
    step_ = step;
    step_start_ = now;
  } else if (now - shown_at_ < milliseconds(100)) {
    return;
  }
  if (is_quiet() || !is_terminal() || now - start_ < milliseconds(1000)) return;
  shown_at_ = now;
  shown_ = true;
  if (part < 0) {
    fprintf(stderr, "\r\033[K%s: %s ...", tool_.c_str(), step.c_str());
    return;
  }
  const int filled = static_cast<int>(std::clamp(part, 0.0, 1.0) * kWidth);
  const std::string bar = std::string(static_cast<size_t>(filled), '#') +
                          std::string(static_cast<size_t>(kWidth - filled), '.');
  fprintf(stderr, "\r\033[K%s: %-12s [%s] %3.0f %%", tool_.c_str(), step.c_str(), bar.c_str(),
          part * 100);
  if (part >= 0.1) {
    const double seconds = std::chrono::duration<double>(now - step_start_).count();
    fprintf(stderr, ", %.0f s left", seconds * (1 - part) / part);
  }
  fflush(stderr);
}

void ProgressLine::clear() {
  if (shown_) fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace qrt::tool
