#include "runtime/platform/thread_pool.h"

#include <pthreadpool.h>

namespace qrt::platform {

pthreadpool* make_thread_pool(size_t threads) { return pthreadpool_create(threads); }

void destroy_thread_pool(pthreadpool* pool) { pthreadpool_destroy(pool); }

size_t threads_of(pthreadpool* pool) { return pthreadpool_get_threads_count(pool); }

void run_on_pool(pthreadpool* pool, void (*task)(void*, size_t), void* context, size_t count) {
  pthreadpool_parallelize_1d(pool, task, context, count, 0);
}

}  // namespace qrt::platform
