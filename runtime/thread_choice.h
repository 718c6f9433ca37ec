// SPDX-License-Identifier: Apache-2.0
// Chooses whether a session runs on several threads or on the calling one alone. Where other programs
// take the cores, a run waits for a thread that has lost its own within a task, and one thread is faster.
// The times of runs decide: when those on all threads are far above their least, runs alone are tried;
// the faster way is kept for a time that doubles as long as it stays so. Bytes do not depend on it.
#ifndef QRT_RUNTIME_THREAD_CHOICE_H_
#define QRT_RUNTIME_THREAD_CHOICE_H_

#include <algorithm>
#include <cstddef>

namespace qrt {

class ThreadChoice {
 public:
  // Returns whether the next run is on the calling thread alone.
  bool is_alone() const { return is_alone_; }

  // The run took this long.
  void ran(double seconds) {
    if (is_fresh_) {  // not measured: caches hold another thread's data, helpers sleep
      is_fresh_ = false;
      return;
    }
    least_of_window_ = runs_ == 0 ? seconds : std::min(least_of_window_, seconds);
    sum_ += seconds;
    if (++runs_ < kRuns || sum_ < kSeconds) return;
    const double mean = sum_ / static_cast<double>(runs_);
    runs_ = 0;
    sum_ = 0;
    if (is_alone_)
      ran_alone(mean);
    else
      ran_on_all(mean);
  }

 private:
  // A window of runs is long enough to hold several time slices of a scheduler.
  static constexpr size_t kRuns = 4;
  static constexpr double kSeconds = 0.02;
  // Windows.
  static constexpr size_t kFirstStay = 2, kMostStay = 16;
  static constexpr size_t kFirstPause = 4, kMostPause = 512, kCalm = 4;
  static constexpr double kDisturbed = 1.2;

  void ran_alone(double mean) {
    if (is_trial_ && mean > all_) {
      pause_ = std::min(2 * pause_, kMostPause);
      left_ = pause_;
      change(false, false);
      return;
    }
    one_ = mean;
    if (is_trial_) {
      left_ = stay_;
      is_trial_ = false;
    }
    if (left_-- == 0) change(false, true);
  }

  void ran_on_all(double mean) {
    all_ = mean;
    least_ = least_ == 0 ? least_of_window_ : std::min(least_ * 1.02, least_of_window_);  // forgets
    if (is_trial_ && mean >= one_) {
      stay_ = std::min(2 * stay_, kMostStay);
      left_ = stay_;
      change(true, false);
    } else if (is_trial_) {
      stay_ = kFirstStay;
      left_ = pause_ = kFirstPause;
      is_trial_ = false;
    } else if (left_ > 0) {
      --left_;
    } else if (mean > kDisturbed * least_) {
      calm_ = 0;
      change(true, true);
    } else if (++calm_ > kCalm * pause_) {
      calm_ = 0;
      pause_ = std::max(pause_ / 2, kFirstPause);
    }
  }

  void change(bool is_alone, bool is_trial) {
    is_alone_ = is_alone;
    is_trial_ = is_trial;
    is_fresh_ = true;
  }

  bool is_alone_ = false, is_trial_ = false;
  bool is_fresh_ = true;  // the next run is the first of its kind
  size_t runs_ = 0;       // runs of this window
  double sum_ = 0, least_of_window_ = 0;
  double one_ = 0, all_ = 0;   // means of the last windows alone and on all threads, seconds
  double least_ = 0;           // least time of a run on all threads, seconds; slowly forgotten
  size_t left_ = kFirstPause;  // windows still to run alone, or until the next trial
  size_t calm_ = 0;            // windows since the last trial or change of the pause
  size_t stay_ = kFirstStay, pause_ = kFirstPause;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_THREAD_CHOICE_H_
