#include "runtime/platform/thread_pool.h"

namespace qrt::platform {

pthreadpool* make_thread_pool(size_t) { return nullptr; }

void destroy_thread_pool(pthreadpool*) {}

size_t threads_of(pthreadpool*) { return 1; }

void run_on_pool(pthreadpool*, void (*task)(void*, size_t), void* context, size_t count) {
  for (size_t i = 0; i < count; ++i) task(context, i);
}

}  // namespace qrt::platform
