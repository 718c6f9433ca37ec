// SPDX-License-Identifier: Apache-2.0
// The standard library's locks and threads; where it has none (WASI, without shared memory), what takes
// their place for the one thread there is.
#ifndef QRT_RUNTIME_PLATFORM_THREADS_H_
#define QRT_RUNTIME_PLATFORM_THREADS_H_

#include <cstddef>
#include <utility>
#include <vector>

#if !defined(__wasi__)
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#endif

namespace qrt::platform {

#if !defined(__wasi__)

using Mutex = std::mutex;
using Lock = std::unique_lock<std::mutex>;
using LockGuard = std::lock_guard<std::mutex>;
using ConditionVariable = std::condition_variable;
using Thread = std::thread;

// Adds a thread that runs body() to `threads`. False where the system would start none.
template <class F>
bool start_thread(F body, std::vector<Thread>* threads) {
  try {
    threads->emplace_back(std::move(body));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

inline void yield() { std::this_thread::yield(); }

inline size_t hardware_threads() { return std::thread::hardware_concurrency(); }

#else

struct Mutex {};

struct LockGuard {
  explicit LockGuard(Mutex&) {}
};
using Lock = LockGuard;

struct ConditionVariable {
  void notify_one() {}
  // Waits, in a build without threads: nobody else could end the wait, so the condition has to hold.
  template <class IsOver>
  void wait(Lock&, const IsOver& is_over) {
    if (!is_over()) __builtin_trap();
  }
};

struct Thread {
  void join() {}
};

template <class F>
bool start_thread(F, std::vector<Thread>*) {
  return false;
}

inline void yield() {}

inline size_t hardware_threads() { return 1; }

#endif

}  // namespace qrt::platform

#endif  // QRT_RUNTIME_PLATFORM_THREADS_H_
