// SPDX-License-Identifier: Apache-2.0
// The threads of a run. The first one leads: it executes the steps, and the others help with the tasks that
// it hands out here, which costs a few hundred nanoseconds a step. Helpers are a pool's own threads for as
// long as they live (serve()), or threads that a pool of the caller's sends for one run (enter()): such a
// pool takes microseconds to wake its threads and to see them all done, too much for each of a model's steps.
//
// No thread waits for another to come: a leader alone does everything. A leader waits only for tasks that
// another thread has begun. So between two tasks a helper gives its core away before the system takes it
// away within one, for another program's thread, and a helper that has nothing to do for long sleeps.
#ifndef QRT_RUNTIME_TEAM_H_
#define QRT_RUNTIME_TEAM_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/platform/threads.h"

namespace qrt {

class Team {
 public:
  using Task = void (*)(void* argument, size_t index);

  explicit Team(size_t threads) : threads_(threads), task_ranges_(threads), sleep_slots_(threads) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Opens a run, before a pool's threads call enter(). REQUIRES: all calls of the last run have returned.
  void open();

  // Calls body() on one thread, in which it may call run(). `threads` calls of enter() make a run;
  // those after body()'s end, and any more, return at once. Helpers keep the floating-point state
  // they come with.
  template <class F>
  void enter(const F& body) {
    const size_t member = members_.fetch_add(1, std::memory_order_relaxed);
    if (member >= threads_) return;
    if (member > 0) return help(member);
    lead(threads_, body);
    close();
    // The pool then waits for its threads, perhaps for long, without giving its core away.
    say_goodbye();
  }

  // Helps whoever leads until close(), as the member of this number, 1 to `threads` - 1. No two at a
  // time have one number.
  void serve(size_t member) { help(member); }

  // Calls body(), in which it may call run(), whose tasks the first `members` may take. One at a time.
  template <class F>
  void lead(size_t members, const F& body) {
    led_ = members;
    leads_ = true;
    body();
    leads_ = false;
  }

  // Ends serve(). REQUIRES: nobody leads.
  void close();

  // Returns whether body() is running. For the thread that runs it, or outside of a run.
  bool leads() const { return leads_; }

  // Calls of run() since open(). For the thread that called open().
  size_t jobs() const { return jobs_; }

  // Calls task(argument, i) for every i < count. REQUIRES: leads(), count < 2^32, no task calls run().
  void run(Task task, void* argument, size_t count);

 private:
  // A job is cut into a share for each member, who takes it first, so as to find in its caches what
  // it wrote a step before, then what others have left of theirs. One line of memory holds all that
  // a member needs, and its change wakes it. The leader writes it while no task of the last job is
  // running; all but the state is read by who has taken an index.
  struct alignas(64) TaskRange {
    std::atomic<uint64_t> state{0};  // number of the job; lower half: indices left, the first ones
    Task task = nullptr;
    void* argument = nullptr;
    size_t first = 0;  // index
  };

  // A member's condition variable, in a cache line that rarely changes.
  struct alignas(64) SleepSlot {
    std::atomic<bool> is_used{false};
    platform::ConditionVariable wake;
  };

  void help(size_t member);
  // Waits until is_over(), in the end asleep in this member's sleep slot. Returns whether it slept.
  template <class F>
  bool wait(size_t member, const F& is_over);
  template <class F>
  void sleep(size_t member, const F& is_over);
  void wake(size_t begin, size_t end);
  // Does a helper's part of a job. `turn`: since when the helper has its core.
  void work(uint64_t job, size_t member, std::chrono::steady_clock::time_point* turn);
  void finish(uint64_t tasks);
  void say_goodbye();

  const size_t threads_;
  std::vector<TaskRange> task_ranges_;
  std::vector<SleepSlot> sleep_slots_;
  platform::Mutex mutex_;  // guards sleep_slots_
  bool leads_ = false;
  size_t led_ = 0;  // members of the jobs, the leader among them
  size_t jobs_ = 0;
  uint64_t last_job_ = 0;  // below 2^32
  uint64_t given_ = 0;     // tasks of all jobs

  alignas(64) std::atomic<uint64_t> finished_{0};  // tasks among given_ that are finished
  std::atomic<size_t> members_{0};                 // who came
  std::atomic<size_t> gone_{0};                    // helpers who left
};

}  // namespace qrt

#endif  // QRT_RUNTIME_TEAM_H_
