// SPDX-License-Identifier: Apache-2.0
// Hands tasks to pthreadpool or to the application's own pool.
#include "runtime/parallel.h"

#include "runtime/float_env.h"
#include "runtime/platform/pthreadpools.h"
#include "runtime/team.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QRT_THREAD_SANITIZER 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define QRT_THREAD_SANITIZER 1
#endif

#ifdef QRT_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace qrt {
namespace {

struct Job {
  void (*task)(void*, size_t);
  void* argument;
};

// ThreadSanitizer does not see how a system's pthreadpool, which is built without it, synchronises:
// what a thread wrote before hand_over() another may read after take_over().
inline void hand_over([[maybe_unused]] Job* job) {
#ifdef QRT_THREAD_SANITIZER
  __tsan_release(job);
#endif
}
inline void take_over([[maybe_unused]] Job* job) {
#ifdef QRT_THREAD_SANITIZER
  __tsan_acquire(job);
#endif
}

// Runs a task of a job, in the floating-point state that tasks expect: a pool's threads have one of their own.
void run_task(void* context, size_t index) {
  Job* job = static_cast<Job*>(context);
  take_over(job);
  {
    const ScopedFloatEnv env;
    job->task(job->argument, index);
  }
  hand_over(job);
}

}  // namespace

void Parallel::dispatch(void (*task)(void*, size_t), void* argument, size_t count) const {
  if (team != nullptr && team->leads()) return team->run(task, argument, count);
  Job job{task, argument};
  hand_over(&job);
  if (custom != nullptr) {
    custom(custom_context, run_task, &job, count);
  } else {
    platform::run_on(pool, run_task, &job, count);
  }
  take_over(&job);
}

}  // namespace qrt
