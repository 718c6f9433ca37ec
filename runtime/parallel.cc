// Hands tasks to pthreadpool or to the application's own pool.
#include "runtime/parallel.h"

#include <pthreadpool.h>

#include "runtime/float_env.h"

namespace qrt {
namespace {

struct Job {
  void (*task)(void*, size_t);
  void* argument;
};

// A pool's threads have a floating-point state of their own.
void run_task(void* job, size_t index) {
  const ScopedFloatEnv env;
  static_cast<const Job*>(job)->task(static_cast<const Job*>(job)->argument, index);
}

}  // namespace

void Parallel::dispatch(void (*task)(void*, size_t), void* argument, size_t count) const {
  Job job{task, argument};
  if (custom != nullptr) {
    custom(custom_context, run_task, &job, count);
  } else {
    pthreadpool_parallelize_1d(pool, run_task, &job, count, 0);
  }
}

}  // namespace qrt
