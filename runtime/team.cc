// SPDX-License-Identifier: Apache-2.0
#include "runtime/team.h"

#include <algorithm>
#include <utility>

#include "runtime/parallel.h"

namespace qrt {
namespace {

using Clock = std::chrono::steady_clock;

// Job numbers that are none.
constexpr uint64_t kClosed = 0, kNone = UINT32_MAX;

// The time that a waiting thread keeps its core: as long as the small steps between two large ones take. Then
// it sleeps: a thread that yields instead, beside another program's, is the last to run when work comes.
constexpr Clock::duration kSpin = std::chrono::microseconds(100);
constexpr int kPauses = 64;  // pause instructions between two readings of the clock

// The time that a helper keeps its core before it lets others have it: less than the time slice after
// which the system would take it, within a task that the leader then waits for (1 to 4 ms and more).
constexpr Clock::duration kTurn = std::chrono::milliseconds(1);

// The number of times that a leader that is done yields to helpers which are not gone yet.
constexpr int kFarewells = 64;

inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ volatile("yield");
#endif
}

}  // namespace

void Team::open() {
  jobs_ = 0;
  members_.store(0, std::memory_order_relaxed);
  gone_.store(0, std::memory_order_relaxed);
  for (TaskRange& range : task_ranges_) range.state.store(kNone << 32, std::memory_order_relaxed);
}

void Team::close() {
  for (TaskRange& range : task_ranges_) range.state.store(kClosed << 32, std::memory_order_release);
  wake(1, threads_);
}

void Team::say_goodbye() {
  const size_t helpers = std::min(members_.load(std::memory_order_relaxed), threads_) - 1;
  for (int i = 0; i < kFarewells && gone_.load(std::memory_order_acquire) < helpers; ++i) {
    if (i < kFarewells / 2)
      pause_core();
    else
      platform::yield();
  }
}

void Team::help(size_t member) {
  Clock::time_point turn = Clock::now();
  uint64_t seen = kNone;
  for (;;) {
    uint64_t job;
    const bool has_slept = wait(member, [&] {
      return (job = task_ranges_[member].state.load(std::memory_order_acquire) >> 32) != seen;
    });
    if (has_slept) turn = Clock::now();
    if (job == kClosed) break;
    seen = job;
    work(job, member, &turn);
  }
  gone_.fetch_add(1, std::memory_order_release);
}

template <class F>
bool Team::wait(size_t member, const F& is_over) {
  Clock::time_point end{};
  for (int i = 1; !is_over(); ++i) {
    pause_core();
    if (i % kPauses != 0) continue;
    const Clock::time_point now = Clock::now();
    if (i == kPauses) end = now + kSpin;
    if (now < end) continue;
    sleep(member, is_over);
    return true;
  }
  return false;
}

template <class F>
void Team::sleep(size_t member, const F& is_over) {
  SleepSlot& sleep_slot = sleep_slots_[member];
  platform::Lock lock(mutex_);
  // The fences here and in wake() order both sides: either wake() sees is_used, or is_over() is
  // true here.
  sleep_slot.is_used.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  sleep_slot.wake.wait(lock, is_over);
  sleep_slot.is_used.store(false, std::memory_order_relaxed);
}

// Wakes the members of [begin, end) that sleep, after the condition that they wait for was set.
void Team::wake(size_t begin, size_t end) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (size_t i = begin; i < end; ++i) {
    if (!sleep_slots_[i].is_used.load(std::memory_order_relaxed)) continue;
    const platform::LockGuard lock(mutex_);
    sleep_slots_[i].wake.notify_one();
  }
}

void Team::run(Task task, void* argument, size_t count) {
  if (++last_job_ == kNone) last_job_ = kClosed + 1;
  given_ += count;
  ++jobs_;
  // The leader's own share comes last: it is written at once, the others have to be fetched.
  for (size_t i = led_; i-- > 0;) {
    TaskRange& range = task_ranges_[i];
    range.task = task;
    range.argument = argument;
    range.first = chunk_begin(count, i, led_);
    const size_t indices = chunk_begin(count, i + 1, led_) - range.first;
    range.state.store(last_job_ << 32 | indices, std::memory_order_release);
  }
  wake(1, led_);
  work(last_job_, 0, nullptr);
  wait(0, [this] { return finished_.load(std::memory_order_acquire) == given_; });
}

void Team::work(uint64_t job, size_t member, Clock::time_point* turn) {
  for (size_t i = 0; i < threads_; ++i) {
    TaskRange& range = task_ranges_[(member + i) % threads_];
    uint64_t finished = 0, state = range.state.load(std::memory_order_acquire);
    while (state >> 32 == job && static_cast<uint32_t>(state) != 0) {
      if (!range.state.compare_exchange_weak(state, state - 1, std::memory_order_acquire)) continue;
      // The share stays as it is until this task is finished.
      range.task(range.argument, range.first + static_cast<uint32_t>(state) - 1);
      ++finished;
      if (turn != nullptr && Clock::now() - *turn > kTurn) {
        finish(std::exchange(finished, 0));
        platform::yield();
        *turn = Clock::now();
      }
      state = range.state.load(std::memory_order_acquire);
    }
    if (finished != 0) finish(finished);
  }
}

void Team::finish(uint64_t tasks) {
  const uint64_t given = given_;  // a copy: given_ may change as soon as these tasks are finished
  if (finished_.fetch_add(tasks, std::memory_order_acq_rel) + tasks == given) wake(0, 1);
}

}  // namespace qrt
