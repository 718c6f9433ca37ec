// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/pthreadpools.h"

#include <pthreadpool.h>

namespace qrt::platform {

bool has_pthreadpools() { return true; }

pthreadpool* make_pthreadpool(size_t threads) { return pthreadpool_create(threads); }
void end_pthreadpool(pthreadpool* pool) { pthreadpool_destroy(pool); }

size_t threads_of(pthreadpool* pool) { return pthreadpool_get_threads_count(pool); }

void run_on(pthreadpool* pool, void (*task)(void*, size_t), void* argument, size_t count) {
  pthreadpool_parallelize_1d(pool, task, argument, count, 0);
}

}  // namespace qrt::platform
