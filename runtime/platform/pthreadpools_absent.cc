// SPDX-License-Identifier: Apache-2.0
// A build without pthreadpool.
#include "runtime/platform/pthreadpools.h"

namespace qrt::platform {

bool has_pthreadpools() { return false; }

pthreadpool* make_pthreadpool(size_t) { return nullptr; }
void end_pthreadpool(pthreadpool*) {}

size_t threads_of(pthreadpool*) { return 1; }

void run_on(pthreadpool*, void (*task)(void*, size_t), void* argument, size_t count) {
  for (size_t i = 0; i < count; ++i) task(argument, i);
}

}  // namespace qrt::platform
