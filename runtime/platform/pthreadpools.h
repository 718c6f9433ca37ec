// SPDX-License-Identifier: Apache-2.0
// Pools of the library pthreadpool: an application's own, and those that a provider's operators take.
// pthreadpools.cc; pthreadpools_absent.cc in a build without that library (QRT_WITH_PTHREADPOOL=OFF), where
// there are none.
#ifndef QRT_RUNTIME_PLATFORM_PTHREADPOOLS_H_
#define QRT_RUNTIME_PLATFORM_PTHREADPOOLS_H_

#include <cstddef>

struct pthreadpool;

namespace qrt::platform {

// Returns whether this build has the library. REQUIRES, for the functions that take a pool: it has.
bool has_pthreadpools();

// Makes a pthreadpool. Null without memory, or without the library.
pthreadpool* make_pthreadpool(size_t threads);
void end_pthreadpool(pthreadpool* pool);

size_t threads_of(pthreadpool* pool);

// Calls task(argument, i) for every i < count.
void run_on(pthreadpool* pool, void (*task)(void*, size_t), void* argument, size_t count);

}  // namespace qrt::platform

#endif  // QRT_RUNTIME_PLATFORM_PTHREADPOOLS_H_
