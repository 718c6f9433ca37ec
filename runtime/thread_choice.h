// Whether a session runs on the threads of a caller's pool or on the calling one alone. Where other
// programs take the cores, the pool waits for a thread that has lost its own, in every run, and one
// thread is faster. Told by the times of runs: when those of several threads are far above their
// least, one run alone is tried; the faster way is kept for a number of runs that doubles as long
// as it stays so. Bytes do not depend on it.
#ifndef QRT_RUNTIME_THREAD_CHOICE_H_
#define QRT_RUNTIME_THREAD_CHOICE_H_

#include <algorithm>
#include <cstddef>

namespace qrt {

class ThreadChoice {
 public:
  // For the next run.
  bool is_alone() const { return alone_ > 0; }

  // The run took this long.
  void ran(double seconds) {
    if (alone_ > 0)
      ran_alone(seconds);
    else
      ran_on_all(seconds);
  }

 private:
  static constexpr size_t kFirstStay = 16, kMostStay = 256;    // runs alone
  static constexpr size_t kFirstPause = 8, kMostPause = 1024;  // runs before the next trial
  static constexpr size_t kReturn = 3;  // runs that tell whether several threads are faster again
  static constexpr double kDisturbed = 1.2, kFaster = 0.9;

  static double mean(double mean, double next) { return mean + (next - mean) / 8; }

  void ran_alone(double seconds) {
    one_ = one_ == 0 ? seconds : mean(one_, seconds);
    if (--alone_ > 0) return;
    if (is_trial_ && one_ > kFaster * all_) {
      pause_ = std::min(2 * pause_, kMostPause);
      one_ = 0;
    } else if (is_trial_) {
      alone_ = stay_;
    }
    is_trial_ = false;
    if (alone_ == 0) runs_ = 0, all_ = 0;
  }

  void ran_on_all(double seconds) {
    least_ = least_ == 0 ? seconds : std::min(least_ * 1.002, seconds);  // forgets, too
    all_ = runs_ == 0 ? seconds : mean(all_, seconds);
    ++runs_;
    if (one_ != 0 && runs_ <= kReturn) {
      sum_ = runs_ == 1 ? seconds : sum_ + seconds;
      if (runs_ < kReturn || one_ > kFaster * sum_ / kReturn) return;
      stay_ = std::min(2 * stay_, kMostStay);
      alone_ = stay_;
    } else if (runs_ >= pause_ && all_ > kDisturbed * least_) {
      is_trial_ = true;
      one_ = 0;
      alone_ = 1;
    } else if (runs_ > kMostPause) {
      stay_ = kFirstStay;
      pause_ = kFirstPause;
    }
  }

  size_t alone_ = 0;  // runs that are left
  bool is_trial_ = false;
  size_t runs_ = 0;                       // on all threads since the last alone
  double one_ = 0, all_ = 0, least_ = 0;  // seconds; one_ 0: not known
  double sum_ = 0;                        // of the first runs after the last alone
  size_t stay_ = kFirstStay, pause_ = kFirstPause;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_THREAD_CHOICE_H_
