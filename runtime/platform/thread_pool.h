// pthreadpool as the runtime calls it: a pool that an application made with that library, or one made
// for the operators of a provider. thread_pool.cc; thread_pool_wasi.cc, where there is one thread.
#ifndef QRT_RUNTIME_PLATFORM_THREAD_POOL_H_
#define QRT_RUNTIME_PLATFORM_THREAD_POOL_H_

#include <cstddef>

struct pthreadpool;

namespace qrt::platform {

// Null where there is no memory or there are no threads.
pthreadpool* make_thread_pool(size_t threads);
void destroy_thread_pool(pthreadpool* pool);

// Returns how many threads run tasks, the caller's among them. Null is a pool of one.
size_t threads_of(pthreadpool* pool);

// Runs task(context, i) for every i < count on the pool's threads.
void run_on_pool(pthreadpool* pool, void (*task)(void*, size_t), void* context, size_t count);

}  // namespace qrt::platform

#endif  // QRT_RUNTIME_PLATFORM_THREAD_POOL_H_
